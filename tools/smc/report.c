// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

#define TEXT_LEN	512
#define ADVICE_INDENT	15
#define ADVICE_WIDTH	64

void report_begin(struct report *report, bool as_json)
{
	memset(report, 0, sizeof(*report));
	report->as_json = as_json;
	report->json.out = stdout;
	if (!as_json)
		return;
	json_object(&report->json, NULL);
	json_array(&report->json, "steps");
}

/* Print the text below the finding, wrapped into lines */
static void print_advice(const char *text)
{
	size_t column = 0, len;

	printf("%*s-> ", ADVICE_INDENT - 3, "");
	while (*text) {
		len = strcspn(text, " ");
		if (column && column + 1 + len > ADVICE_WIDTH) {
			printf("\n%*s", ADVICE_INDENT, "");
			column = 0;
		}
		column += printf("%s%.*s", column ? " " : "", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

void report_finding(struct report *report, enum finding finding, const char *step,
		    const char *advice, const char *fmt, ...)
{
	static const char * const words[] = { "ok", "note", "BAD" };
	static const char * const json_words[] = { "ok", "note", "bad" };
	struct json *j = &report->json;
	char text[TEXT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!report->as_json) {
		printf("%-4s  %-8s %s\n", words[finding], step, text);
		if (advice)
			print_advice(advice);
		fflush(stdout);
		return;
	}
	json_object(j, NULL);
	json_string(j, "step", step);
	json_string(j, "result", json_words[finding]);
	json_string(j, "text", text);
	if (advice)
		json_string(j, "advice", advice);
	json_object_end(j);
}

void report_end(struct report *report, const char *mode, const char *text)
{
	struct json *j = &report->json;

	if (!report->as_json) {
		printf("\n%s\n", text);
		return;
	}
	json_array_end(j);
	if (mode)
		json_string(j, "mode", mode);
	else
		json_null(j, "mode");
	json_string(j, "verdict", text);
	json_object_end(j);
}

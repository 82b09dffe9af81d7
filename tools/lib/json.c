// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "json.h"

static void write_quoted(struct json *j, const char *text)
{
	const unsigned char *c;

	fputc('"', j->out);
	for (c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(j->out, "\\%c", *c);
		else if (*c < ' ' || *c > '~')
			/* names of interfaces may have any encoding */
			fprintf(j->out, "\\u%04x", *c);
		else
			fputc(*c, j->out);
	}
	fputc('"', j->out);
}

static void before_value(struct json *j, const char *key)
{
	if (j->used[j->depth])
		fputc(',', j->out);
	j->used[j->depth] = true;
	if (key) {
		write_quoted(j, key);
		fputc(':', j->out);
	}
}

static void open_level(struct json *j, const char *key, char bracket)
{
	before_value(j, key);
	fputc(bracket, j->out);
	j->used[++j->depth] = false;
}

/* Closing the outermost level ends the document, with a newline */
static void close_level(struct json *j, char bracket)
{
	fputc(bracket, j->out);
	if (--j->depth)
		return;
	fputc('\n', j->out);
	j->used[0] = false;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_level(j, '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void json_array_end(struct json *j)
{
	close_level(j, ']');
}

void json_string(struct json *j, const char *key, const char *value)
{
	before_value(j, key);
	write_quoted(j, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	before_value(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_float(struct json *j, const char *key, double value)
{
	before_value(j, key);
	fprintf(j->out, "%.1f", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	before_value(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	before_value(j, key);
	fputs("null", j->out);
}

void json_hex(struct json *j, const char *key, uint64_t value, int digits)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, value);
	json_string(j, key, text);
}

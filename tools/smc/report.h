/* SPDX-License-Identifier: GPL-2.0-only */
/* Print findings one after the other, as text or JSON */
#ifndef SMC_REPORT_H
#define SMC_REPORT_H

#include <stdbool.h>

#include "json.h"

enum finding {
	GOOD,
	NOTE,		/* information, but no obstacle */
	BAD,
};

/**
 * struct report - a report under construction
 * @as_json: output for programs
 * @json: initialized by report_begin()
 */
struct report {
	bool		as_json;
	struct json	json;
};

void report_begin(struct report *report, bool as_json);

/**
 * report_finding() - print the result of one step
 * @report: the report
 * @finding: good or bad
 * @step: name of the step, one word
 * @advice: what to do, or NULL
 * @fmt: the result
 */
__attribute__((format(printf, 5, 6)))
void report_finding(struct report *report, enum finding finding, const char *step,
		    const char *advice, const char *fmt, ...);

/**
 * report_end() - print the final result
 * @report: the report
 * @mode: SMCD, SMCR, TCP; NULL if unknown
 * @text: description
 */
void report_end(struct report *report, const char *mode, const char *text);

#endif /* SMC_REPORT_H */

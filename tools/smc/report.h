/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Findings, one after the other, for people or as JSON.
 */
#ifndef SMC_REPORT_H
#define SMC_REPORT_H

#include <stdbool.h>

#include "json.h"

enum finding {
	GOOD,
	NOTE,		/* worth knowing, but no obstacle */
	BAD,
};

/**
 * struct report - a report being written
 * @as_json: for a program
 * @json: set up by report_begin()
 */
struct report {
	bool		as_json;
	struct json	json;
};

void report_begin(struct report *report, bool as_json);

/**
 * report_finding() - one step of the examination
 * @report: the report
 * @finding: good or bad
 * @step: what was examined, a short word
 * @advice: what to do, or NULL
 * @fmt: what was found
 */
__attribute__((format(printf, 5, 6)))
void report_finding(struct report *report, enum finding finding, const char *step,
		    const char *advice, const char *fmt, ...);

/**
 * report_end() - the verdict
 * @report: the report
 * @mode: SMCD, SMCR, TCP; NULL if it is not known
 * @text: the same in words
 */
void report_end(struct report *report, const char *mode, const char *text);

#endif /* SMC_REPORT_H */

// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>

#include "problem.h"

static void print_sentence(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("smc: ", stderr);
	vfprintf(stderr, fmt, ap);
	putc('\n', stderr);
}

bool problem(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_sentence(fmt, ap);
	va_end(ap);
	return false;
}

void remark(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_sentence(fmt, ap);
	va_end(ap);
}

// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"

static void print_line(int level, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	/* the journal reads the level from this prefix */
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", level, text);
	else
		fprintf(stderr, "smc-ismd: %s\n", text);
}

void log_line(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(level, format, args);
	va_end(args);
}

void log_fatal(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(LOG_CRIT, format, args);
	va_end(args);
	exit(EXIT_FAILURE);
}

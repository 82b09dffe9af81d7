/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines for the journal, on stderr
 */
#ifndef SMC_ISMD_LOG_H
#define SMC_ISMD_LOG_H

#include <syslog.h>

/**
 * log_line() - say something, a line of its own
 * @level: LOG_ERR, LOG_WARNING, LOG_NOTICE or LOG_INFO
 * @format: as of printf()
 */
void log_line(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What cannot be survived: the line, then the end. The service is started again. */
void log_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif /* SMC_ISMD_LOG_H */

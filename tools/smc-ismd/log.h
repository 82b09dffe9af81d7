/* SPDX-License-Identifier: GPL-2.0-only */
/* Log lines for the journal, on stderr */
#ifndef SMC_ISMD_LOG_H
#define SMC_ISMD_LOG_H

#include <syslog.h>

/**
 * log_line() - write a line to the log
 * @level: LOG_ERR, LOG_WARNING, LOG_NOTICE or LOG_INFO
 * @format: as of printf()
 */
void log_line(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Log a fatal error and exit. The manager restarts the service */
void log_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif /* SMC_ISMD_LOG_H */

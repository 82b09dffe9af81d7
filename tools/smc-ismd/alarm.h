/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that could wait for a client
 *
 * The handler of SIGALRM does nothing, so that the signal ends the call.
 */
#ifndef SMC_ISMD_ALARM_H
#define SMC_ISMD_ALARM_H

/* A call that waits ends after so many microseconds, and so does the next one. */
void alarm_start(unsigned int microseconds);
void alarm_stop(void);

#endif /* SMC_ISMD_ALARM_H */

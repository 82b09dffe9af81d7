/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A time limit for calls that a client could block
 *
 * The handler of SIGALRM does nothing: the signal only interrupts the call.
 */
#ifndef SMC_ISMD_ALARM_H
#define SMC_ISMD_ALARM_H

/* Interrupts a call that waits longer than this, and again after the same time */
void alarm_start(unsigned int microseconds);
void alarm_stop(void);

#endif /* SMC_ISMD_ALARM_H */

// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <sys/time.h>

#include "alarm.h"

void alarm_start(unsigned int microseconds)
{
	const struct itimerval limit = {
		.it_value.tv_usec = microseconds, .it_interval.tv_usec = microseconds,
	};

	setitimer(ITIMER_REAL, &limit, NULL);
}

void alarm_stop(void)
{
	const struct itimerval off = { };

	setitimer(ITIMER_REAL, &off, NULL);
}

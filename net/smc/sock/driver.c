// SPDX-License-Identifier: GPL-2.0-only
/* Who takes the next step: pure, see driver.h */

#include "driver.h"

static struct smc_driver_step change(enum smc_driver driver, bool news,
				     enum smc_driver_action action)
{
	return (struct smc_driver_step){
		.next = { .driver = driver, .news = news },
		.action = action,
	};
}

static struct smc_driver_step keep(struct smc_driver_state now)
{
	return change(now.driver, now.news, SMC_DRIVER_NOTHING);
}

/* Whoever drives sees it by @news; if nobody does, somebody is called */
static struct smc_driver_step tell(struct smc_driver_state now, bool accept_looks)
{
	switch (now.driver) {
	case SMC_DRIVER_NOBODY:
		if (accept_looks)
			return change(SMC_DRIVER_ACCEPT, true, SMC_DRIVER_TELL_ACCEPT);
		return change(SMC_DRIVER_KWORKER, true, SMC_DRIVER_QUEUE_WORK);
	case SMC_DRIVER_CALLER:
		return change(SMC_DRIVER_CALLER, true, SMC_DRIVER_WAKE_CALLER);
	default:
		return change(now.driver, true, SMC_DRIVER_NOTHING);
	}
}

/* The end of a turn: what came meanwhile needs another one */
static struct smc_driver_step leave(struct smc_driver_state now)
{
	if (now.news)
		return change(SMC_DRIVER_KWORKER, true, SMC_DRIVER_QUEUE_WORK);
	return change(SMC_DRIVER_NOBODY, false, SMC_DRIVER_NOTHING);
}

/**
 * smc_driver_next() - who looks now?
 * @now: who looked until now
 * @event: what happened
 *
 * Events that do not concern the driver change nothing: a kworker that comes late finds a system
 * call at work.
 *
 * Return: the new state, and what to do.
 */
struct smc_driver_step smc_driver_next(struct smc_driver_state now, enum smc_driver_event event)
{
	switch (event) {
	case SMC_DRIVER_NEWS:
		return tell(now, false);
	case SMC_DRIVER_NEWS_ACCEPT:
		return tell(now, true);
	case SMC_DRIVER_ENTER:
		return change(SMC_DRIVER_CALLER, now.news, SMC_DRIVER_NOTHING);
	case SMC_DRIVER_LEAVE:
		return now.driver == SMC_DRIVER_CALLER ? leave(now) : keep(now);
	case SMC_DRIVER_LOOK:
		return change(now.driver, false, SMC_DRIVER_NOTHING);
	case SMC_DRIVER_DONE:
		return now.driver == SMC_DRIVER_CALLER ? keep(now) : leave(now);
	case SMC_DRIVER_DECLINE:
		if (now.driver == SMC_DRIVER_ACCEPT)
			return change(SMC_DRIVER_KWORKER, now.news, SMC_DRIVER_QUEUE_WORK);
		return keep(now);
	default:
		return keep(now);
	}
}

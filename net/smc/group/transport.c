// SPDX-License-Identifier: GPL-2.0-only
/* The transports that exist */

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "group.h"
#include "transport.h"

static DEFINE_SPINLOCK(transports_lock);
static const struct smc_transport *transports[SMC_MODES];

/**
 * smc_transport_register() - offer a transport to new connections
 * @transport: constant until unregistered
 *
 * Return: 0, or -EEXIST if the mode is taken.
 */
int smc_transport_register(const struct smc_transport *transport)
{
	int err = 0;

	spin_lock(&transports_lock);
	if (transports[transport->mode])
		err = -EEXIST;
	else
		WRITE_ONCE(transports[transport->mode], transport);
	spin_unlock(&transports_lock);
	return err;
}

/**
 * smc_transport_unregister() - offer it no longer, and end its groups
 * @transport: the transport; it has no connections, and no handshake looks at it,
 *	because they hold its module
 *
 * May sleep. Afterwards nothing is called that is not under way, and that ends within
 * a grace period.
 */
void smc_transport_unregister(const struct smc_transport *transport)
{
	spin_lock(&transports_lock);
	WRITE_ONCE(transports[transport->mode], NULL);
	spin_unlock(&transports_lock);
	smc_group_flush(transport);
}

/**
 * smc_transport_get() - the transport of a mode
 * @mode: which
 *
 * Return: the transport, with a reference to its module for smc_transport_put(), or
 * NULL if there is none now.
 */
const struct smc_transport *smc_transport_get(enum smc_mode mode)
{
	const struct smc_transport *transport;

	spin_lock(&transports_lock);
	transport = transports[mode];
	if (transport && !try_module_get(transport->owner))
		transport = NULL;
	spin_unlock(&transports_lock);
	return transport;
}

/**
 * smc_transport_put() - give a transport back
 * @transport: from smc_transport_get()
 */
void smc_transport_put(const struct smc_transport *transport)
{
	module_put(transport->owner);
}

/**
 * smc_candidates_put() - drop the references of a list
 * @transport: whose candidates they are
 * @candidates: the list; empty afterwards
 */
void smc_candidates_put(const struct smc_transport *transport, struct smc_candidates *candidates)
{
	while (candidates->nr)
		transport->candidate_put(&candidates->list[--candidates->nr]);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The list of registered transports */

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "group.h"
#include "transport.h"

static DEFINE_SPINLOCK(transports_lock);
static const struct smc_transport *transports[SMC_MODES];

/* Offer a transport to new connections. Return: 0, or -EEXIST if its mode has a transport. */
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
 * smc_transport_unregister() - stop offering a transport and end its groups
 * @transport: the transport; it has no connections, and no handshake uses it, because each holds a
 *	reference to the module
 *
 * May sleep. Afterwards only operations that have begun before are running; they end within a grace
 * period.
 */
void smc_transport_unregister(const struct smc_transport *transport)
{
	spin_lock(&transports_lock);
	WRITE_ONCE(transports[transport->mode], NULL);
	spin_unlock(&transports_lock);
	smc_group_flush(transport);
}

/* Return: the transport of @mode with a reference to its module, or NULL. */
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

/* Drop the reference of smc_transport_get() */
void smc_transport_put(const struct smc_transport *transport)
{
	module_put(transport->owner);
}

/* Drop the references of the candidates of @transport and empty the list */
void smc_candidates_put(const struct smc_transport *transport, struct smc_candidates *candidates)
{
	while (candidates->nr)
		transport->candidate_put(&candidates->list[--candidates->nr]);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Collect what this host can offer for a connection, as plain values */

#include "../conn/conn.h"
#include "handshake.h"

static void get_candidates(struct smc_handshake *hs, enum smc_mode mode)
{
	const struct smc_transport *transport = smc_transport_get(mode);

	hs->transports[mode] = transport;
	if (transport)
		transport->candidates(sock_net(hs->conn->sk), hs->tcp, &hs->candidates[mode]);
}

/* @variants: the variants that sysctl allows (V2-ELG-14) */
static void list_devices(const struct smc_handshake *hs, u8 variants, struct smc_local *local)
{
	const struct smc_candidates *d = &hs->candidates[SMC_MODE_D];
	const struct smc_candidates *r = &hs->candidates[SMC_MODE_R];
	u8 i;

	BUILD_BUG_ON(ARRAY_SIZE(d->list) > SMC_LOCAL_ISM);
	BUILD_BUG_ON(ARRAY_SIZE(r->list) > SMC_LOCAL_PORTS);

	local->nr_ism = variants & SMC_VARIANT_D2 ? d->nr : 0;
	for (i = 0; i < local->nr_ism; i++) {
		/* With its padding: messages in memory are compared as bytes */
		memcpy(&local->ism[i], &d->list[i].address.ism, sizeof(local->ism[i]));
		local->reach[i] = 0;
	}
	local->nr_ports = r->nr;
	for (i = 0; i < r->nr; i++) {
		local->ports[i].variants = r->list[i].variants & variants;
		local->ports[i].reaches = 0;
		local->ports[i].gid = r->list[i].address.gid;
		memcpy(local->ports[i].mac, r->list[i].address.mac, sizeof(local->ports[i].mac));
	}
}

/**
 * smc_handshake_local() - collect what this host can offer
 * @hs: the handshake; takes references to transports and devices
 * @local: result; the fields for the server are zero
 *
 * Called once for each handshake. May sleep.
 */
void smc_handshake_local(struct smc_handshake *hs, struct smc_local *local)
{
	struct smc_net *sn = hs->conn->sn;
	struct smc_eid_set eids __uninitialized;
	enum smc_mode mode;

	smc_eid_get(&sn->eids, &eids);
	local->nr_ueids = eids.nr_ueids;
	memcpy(local->ueids, eids.ueids, eids.nr_ueids * sizeof(eids.ueids[0]));
	local->seid = eids.seid;
	local->same_subnet = false;
	local->ipv4 = smc_subnet_is_ipv4(hs->tcp);
	local->max_conns = READ_ONCE(sn->knobs.max_conns);
	local->max_links = READ_ONCE(sn->knobs.max_links);

	for (mode = 0; mode < SMC_MODES; mode++)
		get_candidates(hs, mode);
	list_devices(hs, READ_ONCE(sn->knobs.variants), local);
}

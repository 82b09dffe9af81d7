// SPDX-License-Identifier: GPL-2.0-only
/*
 * Select ports for further links of a group.
 *
 * Candidates are the ports in the network of the first link's port: by the PNET table or, if it has
 * no entry, by their subnet (gid.c). topology.c rates them.
 */

#include "device.h"
#include "group.h"
#include "paths.h"
#include "topology.h"

static struct smc_link_port port_of(const struct smc_candidate *candidate)
{
	struct smc_link_port port = { .gid = candidate->address.gid };

	memcpy(port.mac, candidate->address.mac, sizeof(port.mac));
	return port;
}

static void copy_end(const struct smcr_link_peer *end, struct smc_link_port *out)
{
	out->gid = end->gid;
	memcpy(out->mac, end->mac, sizeof(out->mac));
}

/* List the usable links of a group, except @but. Return: their number */
static unsigned int list_links(const struct smcr_group *rg, const struct smcr_link *but,
			       struct smc_link_pair *out)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMCR_LINKS; i++) {
		const struct smcr_link *link = &rg->links[i];

		if (link == but || !smcr_link_usable(link))
			continue;
		copy_end(&link->local, &out[nr].local);
		copy_end(&link->peer, &out[nr++].peer);
	}
	return nr;
}

static bool find_ports(struct smcr_group *rg, struct smc_candidates *out)
{
	struct smc_group *group = smcr_group_hold(rg);

	if (!group)
		return false;
	smcr_gid_alternates(rg->gid, rg->version == 2 ? SMC_VARIANT_R2 : SMC_VARIANT_R1, out);
	smc_group_put(group);
	return true;
}

static struct smcr_gid *pick_port(struct smc_candidates *ports, int index)
{
	struct smcr_gid *gid = index < 0 ? NULL : smcr_gid_get(ports->list[index].device);
	unsigned int i;

	for (i = 0; i < ports->nr; i++)
		smcr_gid_put(ports->list[i].device);
	return gid;
}

struct smcr_gid *smcr_path_to_offer(struct smcr_group *rg, bool probe)
{
	struct smc_link_pair links[SMCR_LINKS];
	unsigned int nr = list_links(rg, NULL, links), best = probe ? 0 : 1, i;
	struct smc_candidates ports;
	int found = -1;

	if (!find_ports(rg, &ports))
		return NULL;
	for (i = 0; i < ports.nr; i++) {
		struct smc_link_port port = port_of(&ports.list[i]);
		unsigned int worth = smc_link_offer(links, nr, &port);

		if (worth > best) {
			best = worth;
			found = i;
		}
	}
	return pick_port(&ports, found);
}

struct smcr_gid *smcr_path_to_accept(struct smcr_group *rg, const struct smc_llc_add_link *msg)
{
	struct smc_address peer = { .gid = msg->gid };
	struct smc_link_pair links[SMCR_LINKS], new;
	unsigned int nr = list_links(rg, NULL, links), best = SMC_FIT_PARALLEL, i;
	struct smc_candidates ports;
	int found = -1;

	memcpy(peer.mac, msg->mac, sizeof(peer.mac));
	new.peer.gid = msg->gid;
	memcpy(new.peer.mac, msg->mac, sizeof(new.peer.mac));
	if (!find_ports(rg, &ports))
		return NULL;
	for (i = 0; i < ports.nr; i++) {
		enum smc_link_fit fit;

		new.local = port_of(&ports.list[i]);
		fit = smc_link_fit(links, nr, &new);
		if (fit <= best || !smc_link_offer(links, nr, &new.local) ||
		    smc_link_is_same_port(&new.local, &new.peer) ||
		    !smcr_route_reaches(&ports.list[i], &peer))
			continue;
		best = fit;
		found = i;
	}
	return pick_port(&ports, found);
}

bool smcr_path_fits(const struct smcr_link *link)
{
	struct smc_link_pair links[SMCR_LINKS], new;
	unsigned int nr = list_links(link->group, link, links);

	copy_end(&link->local, &new.local);
	copy_end(&link->peer, &new.peer);
	return smc_link_fit(links, nr, &new) != SMC_FIT_PARALLEL;
}

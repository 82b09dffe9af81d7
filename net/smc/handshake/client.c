// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client's side of the handshake:
 *
 *	Proposal ->
 *			<- Accept		(or Decline: TCP)
 *	[resolve: at first contact of SMC-R, the next hop on the way to the server]
 *	[open: the server may have to learn of new memory]
 *	Confirm ->				(or Decline: TCP)
 *	[settle: at first contact of SMC-R, the link is tried]
 *	connected
 */

#include <net/ipv6.h>

#include "../conn/conn.h"
#include "handshake.h"

/* SMC-D version 2, which needs an EID of any kind */
static void offer_d(const struct smc_local *local, struct smc_clc_proposal *out)
{
	struct smc_clc_proposal_v2 *v2 = &out->v2;

	if (!local->nr_ism || (!local->nr_ueids && smc_eid_is_none(&local->seid)))
		return;
	out->offers |= SMC_VARIANT_D2;
	v2->has_seid = !smc_eid_is_none(&local->seid);
	v2->seid = local->seid;
	v2->nr_ism = local->nr_ism;
	memcpy(v2->ism, local->ism, sizeof(local->ism));
}

/* SMC-R version 2, which needs a user EID, on the first port that can do it (V2-ELG-13) */
static void offer_r2(const struct smc_local *local, struct smc_clc_proposal *out)
{
	u8 i;

	for (i = 0; i < local->nr_ports && local->nr_ueids; i++) {
		const struct smc_local_port *port = &local->ports[i];

		if (!(port->variants & SMC_VARIANT_R2) ||
		    smc_gid_is_ipv4(&port->gid) != local->ipv4)
			continue;
		out->offers |= SMC_VARIANT_R2;
		out->v2.roce_gid = port->gid;
		out->v2.max_conns = local->max_conns;
		out->v2.max_links = local->max_links;
		memcpy(out->mac, port->mac, sizeof(out->mac));
		return;
	}
}

/* SMC-R version 1, within a subnet. There is one MAC address for both versions */
static void offer_r1(const struct smc_handshake *hs, const struct smc_local *local,
		     struct smc_clc_proposal *out)
{
	u8 i;

	for (i = 0; i < local->nr_ports; i++) {
		const struct smc_local_port *port = &local->ports[i];

		if (!(port->variants & SMC_VARIANT_R1))
			continue;
		if (out->offers & SMC_VARIANT_R2 &&
		    memcmp(out->mac, port->mac, sizeof(out->mac)))
			continue;
		if (!smc_subnet_describe(hs->tcp, &out->subnet))
			return;
		out->offers |= SMC_VARIANT_R1;
		out->gid = port->gid;
		memcpy(out->mac, port->mac, sizeof(out->mac));
		return;
	}
}

/* Everything that can be used, at once; the server chooses */
static void describe_offer(const struct smc_handshake *hs, const struct smc_local *local,
			   struct smc_clc_proposal *out)
{
	struct smc_clc_proposal_v2 *v2 = &out->v2;

	out->peer_id = smc_net(sock_net(hs->conn->sk))->peer_id;
	v2->release = SMC_RELEASE_1;
	v2->features = SMC_FEATURES;
	v2->nr_ueids = local->nr_ueids;
	memcpy(v2->ueids, local->ueids, sizeof(v2->ueids));
	offer_d(local, out);
	offer_r2(local, out);
	offer_r1(hs, local, out);
}

/**
 * smc_client_propose() - tell the server what we could use
 * @hs: the handshake
 *
 * Nothing is committed yet (R-CLC-20). Without anything to offer, the Decline
 * takes the place of the Proposal (R-CLC-29).
 *
 * Return: how far the handshake is.
 */
enum smc_outcome smc_client_propose(struct smc_handshake *hs)
{
	struct smc_clc msg = { .type = SMC_CLC_PROPOSAL };
	struct smc_clc_proposal *proposal = &msg.proposal;
	struct smc_local local;
	u32 reason;
	int err;

	reason = smc_handshake_excluded(hs->tcp);
	if (reason)
		return smc_handshake_decline(hs, NULL, reason);
	smc_handshake_local(hs, &local);
	describe_offer(hs, &local, proposal);
	if (!proposal->offers)
		return smc_handshake_decline(hs, NULL, local.nr_ism ? SMC_REASON_NO_SEID :
					     SMC_REASON_NO_DEVICE);

	err = smc_handshake_send(hs, &msg);
	if (err)
		return smc_handshake_fail(hs, err);
	hs->version = proposal->offers & SMC_VARIANTS_V2 ? 2 : 1;
	hs->sent.proposal = *proposal;
	return smc_handshake_expect(hs, SMC_CLC_ACCEPT);
}

/* Our port that was proposed for a variant of SMC-R */
static u8 proposed_port(const struct smc_handshake *hs, u8 variant)
{
	const struct smc_candidates *ports = &hs->candidates[SMC_MODE_R];
	const struct smc_clc_proposal *proposal = &hs->sent.proposal;
	const struct smc_gid *gid = variant == SMC_VARIANT_R2 ? &proposal->v2.roce_gid :
								&proposal->gid;
	u8 i;

	for (i = 0; i < ports->nr - 1; i++)
		if (ports->list[i].variants & variant &&
		    !memcmp(&ports->list[i].address.gid, gid, sizeof(*gid)))
			break;
	return i;
}

static void get_key(const struct smc_handshake *hs, const struct smc_candidate *candidate,
		    struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->msg.accept;

	memset(key, 0, sizeof(*key));
	key->role = SMC_CLIENT;
	key->variant = accept->variant;
	key->eid = accept->eid;
	smc_subnet_remote(hs->tcp, &key->remote);
	if (accept->variant & SMC_VARIANTS_R) {
		key->peer_id = accept->rdma.peer_id;
		key->peer.gid = accept->rdma.gid;
		memcpy(key->peer.mac, accept->rdma.mac, sizeof(key->peer.mac));
		key->local.vlan = candidate->address.vlan;
	} else {
		key->peer_link_id = accept->dmb.link_id;
		key->peer.ism = accept->dmb.ism;
	}
}

/* Join the group that the server names, or form it at first contact */
static struct smc_group *get_group(const struct smc_handshake *hs,
				   const struct smc_transport *transport,
				   const struct smc_candidate *candidate,
				   const struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->msg.accept;
	struct net *net = sock_net(hs->conn->sk);

	if (accept->is_first_contact)
		return smc_group_create(net, key, transport, candidate,
					&accept->first_contact);
	return smc_group_find(net, key, accept);
}

/* Keep what the Confirm has to repeat; the message itself will be overwritten */
static void prepare_confirm(struct smc_handshake *hs)
{
	const struct smc_clc_accept *accept = &hs->msg.accept;
	struct smc_clc_accept *out = &hs->sent.accept;

	memset(out, 0, sizeof(*out));
	out->variant = accept->variant;
	out->is_first_contact = accept->is_first_contact;
	out->eid = accept->eid;
	if (!accept->is_first_contact || !(accept->variant & SMC_VARIANTS_V2))
		return;
	smc_handshake_first_contact(&out->first_contact, accept->first_contact.release);
	out->first_contact.features &= accept->first_contact.features;
	out->first_contact.max_conns = accept->first_contact.max_conns;
	out->first_contact.max_links = accept->first_contact.max_links;
}

/* Open the connection, and get hold of the server's end. 0, -EINPROGRESS or an error */
static int open_conn(struct smc_handshake *hs, const struct smc_transport *transport,
		     struct smc_group *group, const struct in6_addr *remote)
{
	const struct smc_clc_accept *accept = &hs->msg.accept;
	int opened, err;

	hs->conn->first_contact = accept->is_first_contact;
	hs->conn->other_address = !ipv6_addr_equal(&group->key.remote, remote);
	opened = smc_conn_open(hs->conn, transport, group);
	if (opened && opened != -EINPROGRESS) {
		smc_group_leave(group);
		return opened;
	}
	err = smc_conn_attach(hs->conn, accept);
	return err ? err : opened;
}

static const struct smc_candidate *chosen_device(const struct smc_handshake *hs)
{
	return &hs->candidates[smc_variant_mode(hs->msg.accept.variant)].list[hs->choice.device];
}

/* At first contact all that can be found out about the way comes before the group */
static int resolve_way(struct smc_handshake *hs, const struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->msg.accept;

	if (!accept->is_first_contact)
		return 0;
	return smc_conn_resolve(hs->conn, hs->transports[smc_variant_mode(accept->variant)],
				&key->remote, chosen_device(hs), &key->peer);
}

/**
 * smc_client_accepted() - the server made its choice
 * @hs: the handshake; hs->msg is an Accept
 *
 * Return: how far the handshake is.
 */
enum smc_outcome smc_client_accepted(struct smc_handshake *hs)
{
	const struct smc_clc_accept *accept = &hs->msg.accept;
	enum smc_mode mode = smc_variant_mode(accept->variant);
	struct smc_group_key key;
	u32 reason;
	int err;

	/* From here on all is of one version (V2-VER-02) */
	hs->version = accept->variant & SMC_VARIANTS_V2 ? 2 : 1;
	hs->choice.device = 0;
	reason = smc_select_check_accept(&hs->sent.proposal, accept, &hs->choice.device);
	if (reason)
		return smc_handshake_decline(hs, NULL, reason);
	if (mode == SMC_MODE_R)
		hs->choice.device = proposed_port(hs, accept->variant);
	get_key(hs, chosen_device(hs), &key);
	if (!hs->transports[mode]->reaches(chosen_device(hs), &key.peer))
		return smc_handshake_decline(hs, NULL, mode == SMC_MODE_R ? SMC_REASON_NO_ROUTE :
					     SMC_REASON_NOT_OFFERED);
	err = resolve_way(hs, &key);
	if (err == -EINPROGRESS)
		return smc_handshake_await(hs, SMC_PHASE_RESOLVING);
	if (err)
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(err));
	return smc_client_resolved(hs);
}

/**
 * smc_client_resolved() - the way to the server is known
 * @hs: the handshake; hs->msg is still the Accept
 *
 * Return: how far the handshake is.
 */
enum smc_outcome smc_client_resolved(struct smc_handshake *hs)
{
	enum smc_mode mode = smc_variant_mode(hs->msg.accept.variant);
	const struct smc_transport *transport = hs->transports[mode];
	struct smc_group_key key;
	struct smc_group *group;
	int err;

	get_key(hs, chosen_device(hs), &key);
	group = get_group(hs, transport, chosen_device(hs), &key);
	if (!group)
		return smc_handshake_decline(hs, NULL, SMC_REASON_OUT_OF_SYNC);
	if (IS_ERR(group))
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(PTR_ERR(group)));
	err = open_conn(hs, transport, group, &key.remote);
	/* The server has given up since its Accept; its reset may still be on the way */
	if (err == -ECONNRESET)
		return smc_handshake_fail(hs, -ECONNRESET);
	if (err && err != -EINPROGRESS)
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(err));
	prepare_confirm(hs);
	if (err)
		return smc_handshake_await(hs, SMC_PHASE_OPENING);
	return smc_client_opened(hs);
}

/**
 * smc_client_opened() - the connection is open, and the server may know of it
 * @hs: the handshake
 *
 * Others that the server tells to join must find the group, so it is published before
 * the Confirm goes out.
 *
 * Return: how far the handshake is.
 */
enum smc_outcome smc_client_opened(struct smc_handshake *hs)
{
	struct smc_clc msg = { .type = SMC_CLC_CONFIRM, .accept = hs->sent.accept };
	struct smc_conn *conn = hs->conn;
	int err;

	conn->transport->conn_describe(conn, &msg.accept);
	smc_group_publish(conn->group);
	err = smc_handshake_send(hs, &msg);
	if (err)
		return smc_handshake_fail(hs, err);
	return smc_handshake_settle(hs);
}

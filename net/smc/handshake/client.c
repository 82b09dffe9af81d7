// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client's side of the handshake:
 *
 *	Proposal ->
 *			<- Accept		(or Decline: TCP)
 *	[resolve: at first contact of SMC-R, the next hop to the server]
 *	[open: the server may first have to learn the rkeys of new memory]
 *	Confirm ->				(or Decline: TCP)
 *	[settle: at first contact of SMC-R, CONFIRM LINK]
 *	connected
 */

#include <net/ipv6.h>

#include "../compat/compat.h"
#include "../conn/conn.h"
#include "../trace.h"
#include "handshake.h"

/* A server in this kernel claims an offer as soon as it has a processor */
#define OFFER_TIME	msecs_to_jiffies(20)

/* SMC-D version 2 needs a user EID or the system EID */
static void offer_d2(const struct smc_local *local, struct smc_clc_proposal *out)
{
	struct smc_clc_proposal_v2 *v2 = &out->v2;

	if (!local->nr_ism || (!local->nr_ueids && smc_eid_is_none(&local->seid)))
		return;
	out->offers |= SMC_VARIANT_D2;
	v2->has_seid = !smc_eid_is_none(&local->seid);
	v2->seid = local->seid;
	v2->nr_ism = local->nr_ism;
	memcpy(v2->ism, local->ism, local->nr_ism * sizeof(v2->ism[0]));
}

/* SMC-R version 2 needs a user EID; the first port that supports it is offered (V2-ELG-13) */
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

/* SMC-R version 1 needs a common subnet. The Proposal has one MAC address for both versions */
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

/* Offer every variant that this host supports; the server chooses */
static void describe_offer(const struct smc_handshake *hs, const struct smc_local *local,
			   struct smc_clc_proposal *out)
{
	struct smc_clc_proposal_v2 *v2 = &out->v2;

	out->peer_id = hs->conn->sn->peer_id;
	v2->release = SMC_RELEASE_1;
	v2->features = SMC_FEATURES;
	v2->nr_ueids = local->nr_ueids;
	memcpy(v2->ueids, local->ueids, local->nr_ueids * sizeof(v2->ueids[0]));
	offer_d2(local, out);
	offer_r2(local, out);
	offer_r1(hs, local, out);
	out->version = out->offers & SMC_VARIANTS_V2 ? 2 : 1;
}

/* Before another message is sent, which may replace it. It is needed to check the Accept */
static const struct smc_clc_proposal *get_proposal(const struct smc_handshake *hs)
{
	return &smc_pair_proposal(hs->pair)->proposal;
}

/*
 * May the peer be a client, too? TCP stamps a received SYN-ACK as it does data, but not a SYN. A
 * server sends nothing before it has our message. The socket lock is held.
 *
 * The stamp is 0 also in the one jiffy in which the clock is. A client without an offer then waits
 * for a message that a server does not send, until its time is over.
 */
bool smc_client_syns_crossed(const struct sock *tcp)
{
	return !inet_csk(tcp)->icsk_ack.lrcvtime || !skb_queue_empty(&tcp->sk_receive_queue);
}

/*
 * Send a Decline instead of the Proposal. A client at the other end sends a Proposal or a Decline,
 * which the program must not see.
 */
static enum smc_outcome decline_at_once(struct smc_handshake *hs, u32 reason)
{
	bool crossed = smc_client_syns_crossed(hs->tcp);
	enum smc_outcome outcome = smc_handshake_decline(hs, NULL, reason);

	return outcome == SMC_FALLBACK && crossed ? smc_handshake_expect(hs, SMC_CLC_ACCEPT) :
						    outcome;
}

/*
 * Offer the Proposal to a server in this kernel. The ACK is the third segment of the TCP
 * connection, in place of a segment with the Proposal, and lets TCP create the server's end.
 */
static bool offer_in_memory(struct smc_handshake *hs)
{
	const struct smc_pair_key key = smc_handshake_pair_key(hs->conn);

	if (!(get_proposal(hs)->offers & SMC_VARIANT_D2) ||
	    !READ_ONCE(hs->conn->sn->knobs.handshake_in_memory))
		return false;
	smc_pair_offer(hs->pair, &key);
	hs->in_memory = true;
	trace_smc_clc(hs->conn->sk, true, SMC_CLC_PROPOSAL, true);
	smc_compat_send_ack(hs->tcp);
	return true;
}

/* Return: the new state of the handshake. */
static enum smc_outcome send_proposal(struct smc_handshake *hs)
{
	int err = smc_handshake_send(hs, smc_pair_proposal(hs->pair));

	return err ? smc_handshake_fail(hs, err) : SMC_PENDING;
}

/**
 * smc_client_propose() - send the Proposal, or offer it in memory
 * @hs: the handshake
 *
 * No group or buffer is allocated yet (R-CLC-20). A client that has nothing to offer sends a
 * Decline instead of the Proposal (R-CLC-29).
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_client_propose(struct smc_handshake *hs)
{
	struct smc_clc *msg = smc_pair_proposal(hs->pair);
	struct smc_local local __uninitialized;
	u32 reason;

	reason = smc_handshake_excluded(hs->tcp);
	if (reason)
		return decline_at_once(hs, reason);
	smc_handshake_local(hs, &local);
	msg->type = SMC_CLC_PROPOSAL;
	describe_offer(hs, &local, &msg->proposal);
	if (!msg->proposal.offers)
		return decline_at_once(hs, local.nr_ism ? SMC_REASON_NO_SEID :
				       SMC_REASON_NO_DEVICE);

	hs->version = msg->proposal.version;
	smc_handshake_expect(hs, SMC_CLC_ACCEPT);
	hs->is_offered = hs->may_offer && offer_in_memory(hs);
	if (!hs->is_offered)
		return send_proposal(hs);
	hs->deadline = jiffies + OFFER_TIME;
	return SMC_PENDING;
}

/*
 * Shall the Proposal go through TCP, unless a server has claimed the offer? A server that answers
 * in TCP has not. The socket lock is held.
 */
bool smc_client_offer_is_over(const struct smc_handshake *hs)
{
	return time_after_eq(jiffies, hs->deadline) || tcp_inq(hs->tcp) ||
	       hs->tcp->sk_state != TCP_ESTABLISHED || READ_ONCE(hs->tcp->sk_err);
}

/* The server has claimed the offer */
void smc_client_note_claim(struct smc_handshake *hs)
{
	hs->is_offered = false;
	this_cpu_inc(hs->conn->sn->stats->net[SMC_NET_STAT_IN_MEMORY]);
}

/**
 * smc_client_withdraw() - send the Proposal through TCP, unless a server has claimed the offer
 * @hs: the handshake, with @hs->is_offered
 *
 * The socket lock is held.
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_client_withdraw(struct smc_handshake *hs)
{
	smc_handshake_expect(hs, SMC_CLC_ACCEPT);
	if (!smc_pair_withdraw(hs->pair)) {
		smc_client_note_claim(hs);
		return SMC_PENDING;
	}
	hs->is_offered = false;
	this_cpu_inc(hs->conn->sn->stats->net[SMC_NET_STAT_WITHDRAWN]);
	hs->in_memory = false;
	return send_proposal(hs);
}

/* Index of the port that the Proposal named for this variant of SMC-R */
static u8 find_proposed_port(const struct smc_handshake *hs, u8 variant)
{
	const struct smc_candidates *ports = &hs->candidates[SMC_MODE_R];
	const struct smc_clc_proposal *proposal = get_proposal(hs);
	const struct smc_gid *gid = variant == SMC_VARIANT_R2 ? &proposal->v2.roce_gid :
								&proposal->gid;
	u8 i;

	for (i = 0; i < ports->nr - 1; i++)
		if (ports->list[i].variants & variant &&
		    !memcmp(&ports->list[i].address.gid, gid, sizeof(*gid)))
			break;
	return i;
}

static void build_group_key(const struct smc_handshake *hs, const struct smc_candidate *candidate,
			    struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->client.accept;

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

/* Find the group that the server names, or create one at first contact */
static struct smc_group *find_or_create_group(const struct smc_handshake *hs,
					      const struct smc_transport *transport,
					      const struct smc_candidate *candidate,
					      const struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->client.accept;
	struct net *net = sock_net(hs->conn->sk);

	if (accept->is_first_contact)
		return smc_group_create(net, key, transport, candidate,
					&accept->first_contact);
	return smc_group_find(net, key, accept);
}

/* Repeat the values of the Accept */
static void prepare_confirm(const struct smc_handshake *hs, struct smc_clc_accept *out)
{
	const struct smc_clc_accept *accept = &hs->client.accept;

	memset(out, 0, sizeof(*out));
	out->variant = accept->variant;
	out->is_first_contact = accept->is_first_contact && accept->variant != SMC_VARIANT_R1;
	out->eid = accept->eid;
	if (!accept->is_first_contact || !(accept->variant & SMC_VARIANTS_V2))
		return;
	smc_handshake_first_contact(accept->first_contact.release, &out->first_contact);
	smc_net_copy_host(sock_net(hs->tcp), out->first_contact.hostname);
	out->first_contact.features &= accept->first_contact.features;
	out->first_contact.max_conns = accept->first_contact.max_conns;
	out->first_contact.max_links = accept->first_contact.max_links;
}

/*
 * Open the connection and attach the server's buffer. The connection takes the caller's reference
 * to @group, or this function drops it. Return: 0, -EINPROGRESS or another negative errno
 */
static int open_and_attach(struct smc_handshake *hs, const struct smc_transport *transport,
			   struct smc_group *group, const struct in6_addr *remote)
{
	const struct smc_clc_accept *accept = &hs->client.accept;
	int opened, err;

	hs->conn->first_contact = accept->is_first_contact;
	hs->conn->other_address = !ipv6_addr_equal(&group->key.remote, remote);
	opened = smc_conn_open(hs->conn, transport, group);
	if (opened && opened != -EINPROGRESS) {
		smc_group_leave(group, 0);
		return opened;
	}
	err = smc_conn_attach(hs->conn, accept);
	return err ? err : opened;
}

static const struct smc_candidate *get_chosen_device(const struct smc_handshake *hs)
{
	return &hs->candidates[smc_variant_mode(hs->client.accept.variant)].list[hs->device];
}

/*
 * After first contact, an Accept of SMC-R may name any link of the group, and the proposed port
 * need not reach the server's port of that link. group_named finds the link.
 */
static bool reaches_server(const struct smc_handshake *hs, const struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->client.accept;
	enum smc_mode mode = smc_variant_mode(accept->variant);

	if (mode == SMC_MODE_R && !accept->is_first_contact)
		return true;
	return hs->transports[mode]->reaches(get_chosen_device(hs), &key->peer);
}

/* Before the first contact creates a group, the transport resolves the next hop to the server */
static int resolve_server(struct smc_handshake *hs, const struct smc_group_key *key)
{
	const struct smc_clc_accept *accept = &hs->client.accept;

	if (!accept->is_first_contact)
		return 0;
	return smc_conn_resolve(hs->conn, hs->transports[smc_variant_mode(accept->variant)],
				&key->remote, get_chosen_device(hs), &key->peer);
}

/* Join or create the group, open the connection and send the Confirm */
static enum smc_outcome join_group(struct smc_handshake *hs, const struct smc_group_key *key)
{
	enum smc_mode mode = smc_variant_mode(hs->client.accept.variant);
	const struct smc_transport *transport = hs->transports[mode];
	struct smc_group *group;
	int err;

	group = find_or_create_group(hs, transport, get_chosen_device(hs), key);
	if (!group)
		return smc_handshake_decline(hs, NULL, SMC_REASON_OUT_OF_SYNC);
	if (IS_ERR(group))
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(PTR_ERR(group)));
	err = open_and_attach(hs, transport, group, &key->remote);
	/* The server reset the connection after its Accept; TCP's RST may still be in flight */
	if (err == -ECONNRESET)
		return smc_handshake_fail(hs, -ECONNRESET);
	if (err && err != -EINPROGRESS)
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(err));
	if (err)
		return smc_handshake_await(hs, SMC_PHASE_OPENING);
	return smc_client_opened(hs);
}

/**
 * smc_client_accepted() - check the server's Accept
 * @hs: the handshake
 * @accept: the Accept
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_client_accepted(struct smc_handshake *hs, const struct smc_clc_accept *accept)
{
	enum smc_mode mode = smc_variant_mode(accept->variant);
	struct smc_group_key key;
	u32 reason;
	int err;

	hs->client.accept = *accept;
	/* The server chose the version of all further messages (V2-VER-02) */
	hs->version = accept->variant & SMC_VARIANTS_V2 ? 2 : 1;
	hs->device = 0;
	reason = smc_select_check_accept(get_proposal(hs), accept, &hs->device);
	if (reason)
		return smc_handshake_decline(hs, NULL, reason);
	if (mode == SMC_MODE_R)
		hs->device = find_proposed_port(hs, accept->variant);
	build_group_key(hs, get_chosen_device(hs), &key);
	if (!reaches_server(hs, &key))
		return smc_handshake_decline(hs, NULL, mode == SMC_MODE_R ? SMC_REASON_NO_ROUTE :
					     SMC_REASON_NOT_OFFERED);
	err = resolve_server(hs, &key);
	if (err == -EINPROGRESS)
		return smc_handshake_await(hs, SMC_PHASE_RESOLVING);
	if (err)
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(err));
	return join_group(hs, &key);
}

/**
 * smc_client_resolved() - join or create the group and open the connection
 * @hs: the handshake; the Accept was checked
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_client_resolved(struct smc_handshake *hs)
{
	struct smc_group_key key;

	build_group_key(hs, get_chosen_device(hs), &key);
	return join_group(hs, &key);
}

/**
 * smc_client_opened() - send the Confirm
 * @hs: the handshake
 *
 * The group is published first: the server may tell other connections to join it as soon as it has
 * received the Confirm.
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_client_opened(struct smc_handshake *hs)
{
	struct smc_clc msg __uninitialized;
	struct smc_conn *conn = hs->conn;
	int err;

	msg.type = SMC_CLC_CONFIRM;
	prepare_confirm(hs, &msg.accept);
	conn->transport->conn_describe(conn, &msg.accept);
	smc_group_publish(conn->group);
	err = smc_handshake_send(hs, &msg);
	if (err)
		return smc_handshake_fail(hs, err);
	return smc_handshake_settle(hs);
}

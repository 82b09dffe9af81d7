// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server's side of the handshake:
 *
 *			<- Proposal		(or Decline: TCP)
 *	[resolve: at first contact of SMC-R, the next hop to the client]
 *	[join: another connection of the client may be creating the group]
 *	[open: the client may first have to learn the rkeys of new memory]
 *	Accept ->				(or Decline: TCP)
 *			<- Confirm		(or Decline: TCP)
 *	[settle: at first contact of SMC-R, CONFIRM LINK]
 *	connected
 */

#include "../conn/conn.h"
#include "handshake.h"

/* Is the client in this kernel, and has it offered its Proposal in memory? */
void smc_server_claim(struct smc_handshake *hs, u64 listener)
{
	const struct smc_pair_key key = smc_handshake_pair_key(hs->conn);

	if (READ_ONCE(hs->conn->sn->knobs.handshake_in_memory))
		hs->pair = smc_pair_claim(hs->conn, &key, listener);
	if (!hs->pair)
		return;
	hs->in_memory = true;
	this_cpu_inc(hs->conn->sn->stats->net[SMC_NET_STAT_IN_MEMORY]);
}

static void test_reach_d(const struct smc_handshake *hs, const struct smc_clc_proposal *proposal,
			 struct smc_local *local)
{
	const struct smc_transport *transport = hs->transports[SMC_MODE_D];
	const struct smc_candidates *devices = &hs->candidates[SMC_MODE_D];
	struct smc_address base = { .ism = proposal->ism };
	u8 i, j;

	for (j = 0; j < local->nr_ism; j++) {
		if (proposal->ism.gid && transport->reaches(&devices->list[j], &base))
			local->reach[j] |= SMC_REACH_BASE;
		for (i = 0; i < proposal->v2.nr_ism; i++) {
			struct smc_address peer = { .ism = proposal->v2.ism[i] };

			if (transport->reaches(&devices->list[j], &peer))
				local->reach[j] |= 1 << i;
		}
	}
}

/* The Proposal names a GID for each variant of SMC-R; a port may reach only one of them */
static u8 get_reached_variants(const struct smc_handshake *hs,
			       const struct smc_clc_proposal *proposal,
			       const struct smc_candidate *port, u8 variants)
{
	const struct smc_transport *transport = hs->transports[SMC_MODE_R];
	struct smc_address v1 = { .gid = proposal->gid };
	struct smc_address v2 = { .gid = proposal->v2.roce_gid };
	u8 reached = 0;

	memcpy(v1.mac, proposal->mac, sizeof(v1.mac));
	memcpy(v2.mac, proposal->mac, sizeof(v2.mac));
	if (variants & SMC_VARIANT_R1 && transport->reaches(port, &v1))
		reached |= SMC_VARIANT_R1;
	if (variants & SMC_VARIANT_R2 && transport->reaches(port, &v2))
		reached |= SMC_VARIANT_R2;
	return reached;
}

static void test_reach_r(const struct smc_handshake *hs, const struct smc_clc_proposal *proposal,
			 struct smc_local *local)
{
	const struct smc_candidates *ports = &hs->candidates[SMC_MODE_R];
	u8 i;

	for (i = 0; i < local->nr_ports; i++) {
		struct smc_local_port *port = &local->ports[i];
		u8 variants = port->variants & proposal->offers;

		port->reaches = get_reached_variants(hs, proposal, &ports->list[i], variants);
	}
}

/* Fill in the key of the group, and the parameters of a new group if none exists */
static void describe_group(struct smc_handshake *hs, const struct smc_clc_proposal *proposal)
{
	const struct smc_choice *choice = &hs->server.choice;
	enum smc_mode mode = smc_variant_mode(choice->variant);
	struct smc_group_entry *entry = &hs->server.entry;
	struct smc_clc_first_contact *fc = &hs->server.accept.first_contact;
	struct smc_group_key *key = &entry->key;

	entry->conn = hs->conn;
	entry->first_contact = fc;
	entry->transport = hs->transports[mode];
	entry->candidate = &hs->candidates[mode].list[choice->device];
	key->role = SMC_SERVER;
	key->variant = choice->variant;
	key->peer_id = proposal->peer_id;
	key->local = entry->candidate->address;
	key->eid = choice->eid;
	smc_subnet_remote(hs->tcp, &key->remote);
	if (mode == SMC_MODE_R) {
		key->peer.gid = choice->peer_gid;
		memcpy(key->peer.mac, choice->peer_mac, sizeof(key->peer.mac));
	} else {
		key->peer.ism = choice->peer;
	}
	if (choice->variant & SMC_VARIANTS_V2)
		smc_handshake_first_contact(choice->release, fc);
	if (choice->variant == SMC_VARIANT_R2) {
		fc->max_conns = choice->max_conns;
		fc->max_links = choice->max_links;
	}
}

static void assume_reach(struct smc_local *local)
{
	u8 i;

	for (i = 0; i < local->nr_ports; i++)
		local->ports[i].reaches = SMC_VARIANTS_R;
}

/*
 * Choose a variant and devices. The first pass assumes that all ports reach the client: routes are
 * looked up only if everything else is suitable.
 */
static u32 choose_variant(struct smc_handshake *hs, const struct smc_clc_proposal *proposal)
{
	struct smc_local local __uninitialized;
	u32 reason;

	smc_handshake_local(hs, &local);
	test_reach_d(hs, proposal, &local);
	assume_reach(&local);
	if (proposal->offers & SMC_VARIANTS_V1)
		local.same_subnet = smc_subnet_shared(hs->tcp, &proposal->subnet);
	reason = smc_select(&local, proposal, &hs->server.choice);
	if (reason || !(hs->server.choice.variant & SMC_VARIANTS_R))
		return reason;
	test_reach_r(hs, proposal, &local);
	return smc_select(&local, proposal, &hs->server.choice);
}

/* Before the first contact creates a group, the transport resolves the next hop to the client */
static int resolve_client(struct smc_handshake *hs)
{
	const struct smc_group_entry *entry = &hs->server.entry;

	if (!entry->transport->resolve || smc_group_exists(sock_net(hs->conn->sk), &entry->key))
		return 0;
	return smc_conn_resolve(hs->conn, entry->transport, &entry->key.remote, entry->candidate,
				&entry->key.peer);
}

/**
 * smc_server_proposed() - process the client's Proposal
 * @hs: the handshake
 * @proposal: the Proposal; not needed after this step
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_server_proposed(struct smc_handshake *hs,
				     const struct smc_clc_proposal *proposal)
{
	struct smc_clc_accept *accept = &hs->server.accept;
	const struct smc_choice *choice = &hs->server.choice;
	u32 reason;
	int err;

	hs->version = proposal->version;
	reason = smc_handshake_excluded(hs->tcp);
	if (reason)
		return smc_handshake_decline(hs, NULL, reason);
	reason = choose_variant(hs, proposal);
	if (reason)
		return smc_handshake_decline(hs, choice, reason);
	/* The choice fixes the version of all further messages (V2-VER-02) */
	hs->version = choice->variant & SMC_VARIANTS_V2 ? 2 : 1;

	accept->variant = choice->variant;
	accept->eid = choice->eid;
	accept->d_reason_saved = choice->d_reason_saved;
	describe_group(hs, proposal);
	err = resolve_client(hs);
	if (err == -EINPROGRESS)
		return smc_handshake_await(hs, SMC_PHASE_RESOLVING);
	if (err)
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(err));
	return smc_server_join(hs);
}

/* Another connection of the client creates the group: wait until it has finished */
static enum smc_outcome wait_for_group(struct smc_handshake *hs)
{
	smc_handshake_await(hs, SMC_PHASE_JOINING);
	hs->deadline = hs->server.entry.until;
	return SMC_PENDING;
}

/*
 * Is the group left to accept() or a kworker? All connections of a link group of SMC-R share its
 * mutexes, and the scheduler may stop the client's connect() in a step, with one of them.
 */
bool smc_server_leaves_group(const struct smc_handshake *hs)
{
	return hs->stepped_by_client && hs->server.entry.key.variant & SMC_VARIANTS_R;
}

/* The Accept has the parameters of a new group already. Version 1 has no such extension */
static void set_first_contact(struct smc_handshake *hs, bool is_first)
{
	struct smc_clc_accept *accept = &hs->server.accept;

	accept->is_first_contact = is_first;
	if (!is_first)
		memset(&accept->first_contact, 0, sizeof(accept->first_contact));
	else if (accept->variant & SMC_VARIANTS_V2)
		smc_net_copy_host(sock_net(hs->tcp), accept->first_contact.hostname);
}

/**
 * smc_server_join() - join or create the group and open the connection
 * @hs: the handshake; hs->server.entry describes the group
 *
 * Only the server decides about first contact (V2-FCE-01).
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_server_join(struct smc_handshake *hs)
{
	struct smc_group *group;
	bool first;
	int err;

	if (smc_server_leaves_group(hs))
		return smc_handshake_await(hs, SMC_PHASE_JOINING);
	group = smc_group_enter(sock_net(hs->conn->sk), &hs->server.entry, &first);
	if (group == ERR_PTR(-EINPROGRESS))
		return wait_for_group(hs);
	if (IS_ERR(group))
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(PTR_ERR(group)));
	set_first_contact(hs, first);
	hs->conn->first_contact = first;
	hs->conn->other_address = false;
	err = smc_conn_open(hs->conn, group->transport, group);
	if (err == -EINPROGRESS)
		return smc_handshake_await(hs, SMC_PHASE_OPENING);
	if (err) {
		smc_group_leave(group, 0);
		return smc_handshake_decline(hs, NULL, smc_reason_from_errno(err));
	}
	return smc_server_opened(hs);
}

/**
 * smc_server_opened() - send the Accept
 * @hs: the handshake
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_server_opened(struct smc_handshake *hs)
{
	struct smc_clc msg __uninitialized;
	int err;

	hs->conn->transport->conn_describe(hs->conn, &hs->server.accept);
	msg.type = SMC_CLC_ACCEPT;
	msg.accept = hs->server.accept;
	/* First contact over SMC-R goes on with LLC messages after the Confirm */
	WRITE_ONCE(hs->conn->awaits_last,
		   !hs->conn->first_contact || hs->conn->transport->synchronous);
	err = smc_handshake_send(hs, &msg);
	if (err)
		return smc_handshake_fail(hs, err);
	return smc_handshake_expect(hs, SMC_CLC_CONFIRM);
}

/**
 * smc_server_refuse() - reject the Confirm
 * @hs: the handshake
 * @reason: enum smc_reason
 *
 * Sends a late Decline. On a later contact of SMC-R the client considers itself connected once it
 * has sent its Confirm; a Decline is then not possible, and the TCP connection is reset (R-SC-13,
 * R-DEC-04).
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_server_refuse(struct smc_handshake *hs, u32 reason)
{
	if (!hs->conn->first_contact && hs->server.accept.variant & SMC_VARIANTS_R)
		return smc_handshake_fail(hs, -ECONNRESET);
	return smc_handshake_decline_late(hs, reason);
}

/**
 * smc_server_confirmed() - process the client's Confirm
 * @hs: the handshake
 * @confirm: the Confirm
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_server_confirmed(struct smc_handshake *hs,
				      const struct smc_clc_accept *confirm)
{
	u32 reason;
	int err;

	reason = smc_select_check_confirm(&hs->server.choice, &hs->server.accept, confirm);
	if (reason)
		return smc_server_refuse(hs, reason);
	if (confirm->is_first_contact)	/* this connection is alone in the group */
		hs->conn->group->first_contact = confirm->first_contact;
	err = smc_conn_attach(hs->conn, confirm);
	if (err)
		return smc_server_refuse(hs, smc_reason_from_errno(err));
	return smc_handshake_settle(hs);
}

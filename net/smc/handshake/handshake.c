// SPDX-License-Identifier: GPL-2.0-only
/* The frame of a handshake: start, step, decline, end */

#include <linux/net_tstamp.h>
#include <linux/skmsg.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/utsname.h>

#include "../conn/conn.h"
#include "../group/path.h"
#include "../object.h"
#include "../trace.h"
#include "handshake.h"
#include "ipsec.h"

/**
 * smc_handshake_create() - a new handshake
 * @conn: the connection to be, with role and rx.wanted set
 * @tcp: its TCP connection
 *
 * May sleep.
 *
 * Return: the handshake, for smc_handshake_free(), or NULL.
 */
struct smc_handshake *smc_handshake_create(struct smc_conn *conn, struct sock *tcp)
{
	/* As TCP, a server accepts a connection also beyond the limit of its memory cgroup */
	gfp_t no_fail = conn->role == SMC_SERVER ? __GFP_NOFAIL : 0;
	struct smc_handshake *hs = kzalloc(sizeof(*hs), GFP_KERNEL_ACCOUNT | no_fail);

	if (!hs)
		return NULL;
	hs->conn = conn;
	hs->tcp = tcp;
	hs->in = hs->small;
	hs->version = 2;
	hs->started = ktime_get();
	INIT_LIST_HEAD(&hs->entry.list);
	this_cpu_inc(smc_net(sock_net(conn->sk))->stats->handshakes);
	smc_object_created(SMC_OBJECT_HANDSHAKE);
	return hs;
}

/**
 * smc_handshake_free() - the handshake is over, or given up
 * @hs: the handshake; the connection stays as it is
 *
 * May sleep.
 */
void smc_handshake_free(struct smc_handshake *hs)
{
	enum smc_mode mode;

	if (hs->entry.waits)
		smc_group_stop_waiting(sock_net(hs->conn->sk), &hs->entry);
	for (mode = 0; mode < SMC_MODES; mode++) {
		const struct smc_transport *transport = hs->transports[mode];

		if (!transport)
			continue;
		if (hs->phase == SMC_PHASE_RESOLVING && transport->resolve_end)
			transport->resolve_end(hs->conn);
		smc_candidates_put(transport, &hs->candidates[mode]);
		smc_transport_put(transport);
	}
	if (hs->in != hs->small)
		kfree(hs->in);
	this_cpu_dec(smc_net(sock_net(hs->conn->sk))->stats->handshakes);
	kfree(hs);
	smc_object_destroyed(SMC_OBJECT_HANDSHAKE);
}

/**
 * smc_handshake_first_contact() - what we say of ourselves at first contact
 * @out: result
 * @release: agreed release
 */
void smc_handshake_first_contact(struct smc_clc_first_contact *out, u8 release)
{
	memset(out, 0, sizeof(*out));
	out->release = release;
	out->os = SMC_OS_LINUX;
	strscpy(out->hostname, init_utsname()->nodename, sizeof(out->hostname));
	if (release >= SMC_RELEASE_1)
		out->features = SMC_FEATURES;
}

/**
 * smc_handshake_send() - send a message
 * @hs: the handshake
 * @msg: what it says
 *
 * Return: 0 or a negative errno.
 */
int smc_handshake_send(struct smc_handshake *hs, const struct smc_clc *msg)
{
	u8 buf[SMC_CLC_BUILD_MAX];
	int len = smc_clc_build(msg, buf, sizeof(buf));

	if (WARN_ON_ONCE(len < 0))
		return len;
	trace_smc_clc(hs->conn->sk, true, msg->type);
	return smc_handshake_write(hs->tcp, buf, len);
}

/* By TCP-MD5 or TCP-AO. What goes through shared memory would not be signed */
static bool is_signed(const struct sock *tcp)
{
	bool is_signed = false;

#ifdef CONFIG_TCP_MD5SIG
	is_signed |= !!rcu_access_pointer(tcp_sk(tcp)->md5sig_info);
#endif
#ifdef CONFIG_TCP_AO
	is_signed |= !!rcu_access_pointer(tcp_sk(tcp)->ao_info);
#endif
	return is_signed;
}

/* Then BPF programs may see the data of the connection, and redirect it */
static bool is_in_sockmap(const struct sock *tcp)
{
	bool found;

	rcu_read_lock();
	found = sk_psock(tcp);
	rcu_read_unlock();
	return found;
}

/* By a kernel service. What SMC has there is marked in another way, see smc_sock_attach() */
static bool is_used_by_another(const struct sock *tcp)
{
	uintptr_t data = (uintptr_t)rcu_access_pointer(__sk_user_data(tcp));

	return data && (data & ~SK_USER_DATA_PTRMASK) != SK_USER_DATA_NOCOPY;
}

/* Stamps that only adapters and TCP's acknowledgements can give */
static bool wants_stamps_of_tcp(const struct sock *tcp)
{
	return READ_ONCE(tcp->sk_tsflags) &
	       (SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_TX_ACK);
}

/**
 * smc_handshake_excluded() - must it stay a TCP connection, whatever the peer can do?
 * @tcp: TCP socket, connected or about to be
 *
 * Any context.
 *
 * Return: why, or SMC_REASON_NONE.
 */
u32 smc_handshake_excluded(struct sock *tcp)
{
	if (smc_ipsec_used(tcp))
		return SMC_REASON_IPSEC;
	if (is_signed(tcp) || is_in_sockmap(tcp) || is_used_by_another(tcp) ||
	    inet_csk(tcp)->icsk_ulp_ops || wants_stamps_of_tcp(tcp))
		return SMC_REASON_OPTION;
	return SMC_REASON_NONE;
}

static void wait_for_peer(struct smc_handshake *hs, enum smc_phase phase, int patience)
{
	struct smc_net *sn = smc_net(sock_net(hs->conn->sk));

	hs->phase = phase;
	hs->since = jiffies;
	hs->deadline = hs->since + patience * READ_ONCE(sn->knobs.handshake_timeout) * HZ;
}

/**
 * smc_handshake_expect() - wait for the peer's next message
 * @hs: the handshake
 * @type: what it must be, if it is not a Decline
 *
 * Return: SMC_PENDING.
 */
enum smc_outcome smc_handshake_expect(struct smc_handshake *hs, enum smc_clc_type type)
{
	hs->expected = type;
	wait_for_peer(hs, SMC_PHASE_MESSAGE, 1);
	return SMC_PENDING;
}

/**
 * smc_handshake_await() - wait for the transport
 * @hs: the handshake
 * @phase: what it is doing
 *
 * It has time limits of its own; ours is the last resort.
 *
 * Return: SMC_PENDING.
 */
enum smc_outcome smc_handshake_await(struct smc_handshake *hs, enum smc_phase phase)
{
	wait_for_peer(hs, phase, 2);
	return SMC_PENDING;
}

/**
 * smc_handshake_fail() - end the TCP connection
 * @hs: the handshake
 * @error: negative errno for the application
 *
 * Whoever ends it cancels the connection behind that.
 *
 * Return: SMC_FAILED.
 */
enum smc_outcome smc_handshake_fail(struct smc_handshake *hs, int error)
{
	/* So TCP calls a reset behind a FIN; for a program that connects, it is a reset */
	hs->error = error == -EPIPE ? -ECONNRESET : error;
	return SMC_FAILED;
}

static enum smc_outcome fall_back(struct smc_handshake *hs, u32 reason)
{
	smc_conn_cancel(hs->conn);
	hs->reason = reason;
	return SMC_FALLBACK;
}

/**
 * smc_handshake_decline() - send a Decline and go on with TCP
 * @hs: the handshake
 * @why: reasons for each variant, or NULL when this is not the reply to a Proposal
 * @reason: enum smc_reason
 *
 * The form follows the version of the Proposal (V2-DCL-12), later that of the choice
 * (V2-VER-02): a peer of version 1 takes no other form.
 *
 * Return: SMC_FALLBACK, or SMC_FAILED if the Decline could not be sent.
 */
enum smc_outcome smc_handshake_decline(struct smc_handshake *hs, const struct smc_choice *why,
				       u32 reason)
{
	struct smc_clc msg = { .type = SMC_CLC_DECLINE };
	struct smc_clc_decline *decline = &msg.decline;
	int err;

	decline->version = hs->version >= 2 ? 2 : 1;
	decline->extended = decline->version == 2;
	decline->out_of_sync = reason == SMC_REASON_OUT_OF_SYNC;
	decline->peer_id = smc_net(sock_net(hs->conn->sk))->peer_id;
	decline->diagnosis = reason;
	decline->os = SMC_OS_LINUX;
	if (why) {
		decline->reason_d2 = why->reason_d2;
		decline->reason_d1 = why->reason_d1;
		decline->reason_r2 = why->reason_r2;
		decline->reason_r1 = why->reason_r1;
	}
	err = smc_handshake_send(hs, &msg);
	if (err)
		return smc_handshake_fail(hs, err);
	return fall_back(hs, reason);
}

/*
 * The server says that it could not reach us. It may not remember that, so this side does, lest the
 * next connection find it out again.
 */
static void remember_path(const struct smc_handshake *hs, u32 diagnosis)
{
	if (hs->phase != SMC_PHASE_SETTLING || !hs->conn->first_contact ||
	    (diagnosis != SMC_REASON_NO_PATH && diagnosis != SMC_REASON_TIMEOUT_CONFIRM_LINK))
		return;
	smc_path_failed(hs->conn->group, SMC_PATH_NEVER_WORKED);
}

/* The peer has another view of the link group */
static void question_group(const struct smc_conn *conn)
{
	if (conn->role == SMC_SERVER)
		smc_group_doubt(conn->group);
	else
		smc_group_blame(conn->group, conn->other_address);
}

static enum smc_outcome declined(struct smc_handshake *hs)
{
	const struct smc_clc_decline *decline = &hs->msg.decline;

	hs->peer_diagnosis = decline->diagnosis;
	if (!hs->is_doomed)	/* else we have found out ourselves */
		remember_path(hs, decline->diagnosis);
	hs->conn->declined = true;
	if (decline->out_of_sync && hs->conn->group)
		question_group(hs->conn);
	return fall_back(hs, SMC_REASON_PEER_DECLINED);
}

/**
 * smc_handshake_decline_late() - send a Decline after the Confirm
 * @hs: the handshake
 * @reason: enum smc_reason
 *
 * Meanwhile the peer may have declined as well, if both have lost the same device. That counts
 * then (R-DEC-12): a second Decline would end up with the peer's application.
 *
 * Return: SMC_FALLBACK, or SMC_FAILED if the peer said something else, or is gone.
 */
enum smc_outcome smc_handshake_decline_late(struct smc_handshake *hs, u32 reason)
{
	int err = smc_handshake_receive(hs);

	if (!err && hs->msg.type == SMC_CLC_DECLINE)
		return declined(hs);
	if ((err == -EAGAIN || err == -ENODATA) && !hs->have)
		return smc_handshake_decline(hs, NULL, reason);
	return smc_handshake_fail(hs, -ECONNRESET);
}

/*
 * After the last message it did not work out. At first contact there may still be a
 * Decline (R-DEC-06). But whoever ran out of time, or is as good as that, does not know whether
 * the peer has just done the same, and two Declines that cross would end up with the
 * applications: then the TCP connection ends (R-LTO-01 to R-LTO-06).
 */
static enum smc_outcome unsettled(struct smc_handshake *hs, u32 reason)
{
	/* The server has sent first, and it has got no answer either: it is about to decline */
	if (reason == SMC_REASON_NO_PATH && hs->conn->role == SMC_CLIENT &&
	    hs->conn->first_contact) {
		hs->is_doomed = true;
		return smc_handshake_await(hs, SMC_PHASE_SETTLING);
	}
	if (reason == SMC_REASON_TIMEOUT_CONFIRM_LINK || reason == SMC_REASON_TIMEOUT_ADD_LINK)
		return smc_handshake_fail(hs, -ETIMEDOUT);
	if (!hs->conn->first_contact)
		return smc_handshake_fail(hs, -ECONNRESET);
	return smc_handshake_decline_late(hs, reason);
}

static enum smc_outcome settled(struct smc_handshake *hs)
{
	if (hs->conn->role == SMC_SERVER)
		smc_group_publish(hs->conn->group);
	/* The peer has what it needs, so it is too late for a Decline (R-DEC-09) */
	if (smc_conn_start(hs->conn))
		return smc_handshake_fail(hs, -ECONNRESET);
	return SMC_CONNECTED;
}

/**
 * smc_handshake_settle() - the last message is exchanged
 * @hs: the handshake; both ends are known to both sides
 *
 * Return: how far it is.
 */
enum smc_outcome smc_handshake_settle(struct smc_handshake *hs)
{
	int err = smc_conn_settle(hs->conn);

	if (err == -EINPROGRESS)
		return smc_handshake_await(hs, SMC_PHASE_SETTLING);
	if (err)
		return unsettled(hs, smc_reason_from_errno(err));
	return settled(hs);
}

static enum smc_outcome dispatch(struct smc_handshake *hs)
{
	trace_smc_clc(hs->conn->sk, false, hs->msg.type);
	if (hs->msg.type == SMC_CLC_DECLINE)
		return declined(hs);
	/* Both opened at once, or the socket is its own peer: two clients, no server */
	if (hs->expected == SMC_CLC_ACCEPT && hs->msg.type == SMC_CLC_PROPOSAL)
		return fall_back(hs, SMC_REASON_MODE);
	if (hs->msg.type != hs->expected)
		return smc_handshake_fail(hs, -ECONNRESET);
	switch (hs->expected) {
	case SMC_CLC_ACCEPT:
		return smc_client_accepted(hs);
	case SMC_CLC_PROPOSAL:
		return smc_server_proposed(hs);
	default:
		return smc_server_confirmed(hs);
	}
}

/*
 * What is not even the right kind of message ends the connection (R-CLC-25). A Decline does so as
 * well: whoever sent it went on with TCP, and would take ours for data.
 */
static enum smc_outcome malformed(struct smc_handshake *hs)
{
	if (hs->header.type != hs->expected)
		return smc_handshake_fail(hs, -ECONNRESET);
	hs->version = hs->header.version;
	if (hs->expected == SMC_CLC_CONFIRM)
		return smc_server_refuse(hs, SMC_REASON_MALFORMED);
	return smc_handshake_decline(hs, NULL, SMC_REASON_MALFORMED);
}

/* @err: of smc_handshake_receive(), negative */
static enum smc_outcome broken(struct smc_handshake *hs, int err)
{
	switch (err) {
	case -EPROTO:
		return malformed(hs);
	case -EBADMSG:
	case -ENODATA:
		return smc_handshake_fail(hs, -ECONNRESET);
	default:
		return smc_handshake_fail(hs, err);
	}
}

/* SMC_PENDING if there is nothing more to do until something happens */
static enum smc_outcome idle(struct smc_handshake *hs, bool *more)
{
	*more = false;
	if (time_after_eq(jiffies, hs->deadline))
		return smc_handshake_fail(hs, -ETIMEDOUT);
	if (hs->conn->group && READ_ONCE(hs->conn->group->is_evicted))
		return smc_handshake_fail(hs, -ECONNRESET);
	return SMC_PENDING;
}

static enum smc_outcome message_step(struct smc_handshake *hs, bool *more)
{
	int err = smc_handshake_receive(hs);

	if (!err)
		return dispatch(hs);
	if (err == -EAGAIN)
		return idle(hs, more);
	return broken(hs, err);
}

static enum smc_outcome resolved(struct smc_handshake *hs)
{
	hs->phase = SMC_PHASE_OPENING;	/* there is no resolving any more that could be ended */
	return hs->conn->role == SMC_CLIENT ? smc_client_resolved(hs) : smc_server_join(hs);
}

static enum smc_outcome answered(struct smc_handshake *hs, u32 reason)
{
	if (hs->phase == SMC_PHASE_SETTLING)
		return reason ? unsettled(hs, reason) : settled(hs);
	if (reason)
		return smc_handshake_decline(hs, NULL, reason);
	if (hs->phase == SMC_PHASE_RESOLVING)
		return resolved(hs);
	if (hs->conn->role == SMC_CLIENT)
		return smc_client_opened(hs);
	return smc_server_opened(hs);
}

/* Before the connection is open, the message that came last is still needed as it is */
static bool can_go_on(const struct smc_handshake *hs, int err)
{
	return hs->phase == SMC_PHASE_RESOLVING ? err == -EAGAIN : err && !hs->is_doomed;
}

/*
 * Meanwhile no message can come but a Decline, while a first contact settles; it counts more than
 * the answer, because the peer is TCP since then. The end of the stream may come there as well: a
 * client that is done has closed its TCP connection already, and its data is on the other way.
 */
static enum smc_outcome answer_step(struct smc_handshake *hs, bool *more)
{
	u32 reason;
	int err;

	err = smc_handshake_receive(hs);
	if (!err && hs->msg.type == SMC_CLC_DECLINE)
		return declined(hs);
	if (can_go_on(hs, err) && smc_conn_answered(hs->conn, &reason))
		return answered(hs, reason);
	if (err == -EAGAIN || (err == -ENODATA && hs->phase == SMC_PHASE_SETTLING &&
			       !hs->is_doomed))
		return idle(hs, more);
	return smc_handshake_fail(hs, err && err != -ENODATA && err != -EBADMSG &&
				  err != -EPROTO ? err : -ECONNRESET);
}

/* The client has nothing to say, but it may decline, or be gone */
static enum smc_outcome joining_step(struct smc_handshake *hs, bool *more)
{
	int err = smc_handshake_receive(hs);

	if (!err && hs->msg.type == SMC_CLC_DECLINE)
		return declined(hs);
	if (err != -EAGAIN)
		return smc_handshake_fail(hs, -ECONNRESET);
	if (!list_empty_careful(&hs->entry.list) && time_before(jiffies, hs->deadline)) {
		*more = false;
		return SMC_PENDING;
	}
	return smc_server_join(hs);
}

static enum smc_outcome take_step(struct smc_handshake *hs, bool *more)
{
	switch (hs->phase) {
	case SMC_PHASE_MESSAGE:
		return message_step(hs, more);
	case SMC_PHASE_JOINING:
		return joining_step(hs, more);
	default:
		return answer_step(hs, more);
	}
}

/**
 * smc_handshake_start() - TCP is connected, and both sides announced SMC
 * @hs: the handshake
 *
 * The socket lock is held. May sleep, but not for the peer.
 *
 * Return: how far it is.
 */
enum smc_outcome smc_handshake_start(struct smc_handshake *hs)
{
	if (hs->conn->role == SMC_CLIENT)
		return smc_client_propose(hs);
	return smc_handshake_expect(hs, SMC_CLC_PROPOSAL);
}

/**
 * smc_handshake_step() - something happened, or time has passed
 * @hs: the handshake
 *
 * What is no CLC message ends the connection (R-CLC-13); one that contradicts
 * the specification is declined, as long as nothing was confirmed (S-19). A peer
 * that runs out of time loses the connection (R-CLC-17). The socket lock is held.
 * May sleep, but not for the peer.
 *
 * Return: how far it is; once not SMC_PENDING, it is over.
 */
enum smc_outcome smc_handshake_step(struct smc_handshake *hs)
{
	enum smc_outcome outcome = SMC_PENDING;
	bool more = true;

	while (outcome == SMC_PENDING && more)
		outcome = take_step(hs, &more);
	return outcome;
}

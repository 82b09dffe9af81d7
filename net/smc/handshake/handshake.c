// SPDX-License-Identifier: GPL-2.0-only
/* The handshake's steps that client and server share: start, wait, decline, settle, fail */

#include <linux/net_tstamp.h>
#include <linux/skmsg.h>
#include <linux/slab.h>
#include <linux/tcp.h>

#include "../conn/conn.h"
#include "../group/path.h"
#include "../object.h"
#include "../trace.h"
#include "handshake.h"
#include "ipsec.h"

/**
 * smc_handshake_gfp() - how to allocate memory of a handshake
 * @conn: the future SMC connection, with role set
 *
 * Like TCP, a server accepts connections beyond the limit of its memory cgroup.
 *
 * Return: flags of kmalloc().
 */
gfp_t smc_handshake_gfp(const struct smc_conn *conn)
{
	return GFP_KERNEL_ACCOUNT | (conn->role == SMC_SERVER ? __GFP_NOFAIL : 0);
}

/**
 * smc_handshake_create() - allocate a handshake
 * @conn: the future SMC connection, with role and rx.wanted set
 * @tcp: its TCP connection
 *
 * May sleep.
 *
 * Return: the handshake, which the caller frees with smc_handshake_free(), or NULL.
 */
struct smc_handshake *smc_handshake_create(struct smc_conn *conn, struct sock *tcp)
{
	struct smc_handshake *hs = kzalloc(sizeof(*hs), smc_handshake_gfp(conn));

	BUILD_BUG_ON(sizeof(*hs) > SZ_1K);	/* the allocator would take, and zero, 2 KiB */

	if (!hs)
		return NULL;
	if (conn->role == SMC_CLIENT) {
		hs->pair = smc_pair_create(conn);
		if (!hs->pair)
			goto err_free;
	} else {
		INIT_LIST_HEAD(&hs->server.entry.list);
	}
	hs->conn = conn;
	hs->tcp = tcp;
	hs->version = 2;
	hs->started = ktime_get();
	this_cpu_inc(conn->sn->stats->handshakes);
	smc_object_created(SMC_OBJECT_HANDSHAKE);
	return hs;

err_free:
	kfree(hs);
	return NULL;
}

/**
 * smc_handshake_free() - free a finished or cancelled handshake
 * @hs: the handshake; its connection is not changed
 *
 * Leaves the group's waiting list, ends a resolution and drops the references to devices and
 * transports. May sleep.
 */
void smc_handshake_free(struct smc_handshake *hs)
{
	enum smc_mode mode;

	if (hs->conn->role == SMC_SERVER && hs->server.entry.waits)
		smc_group_stop_waiting(sock_net(hs->conn->sk), &hs->server.entry);
	for (mode = 0; mode < SMC_MODES; mode++) {
		const struct smc_transport *transport = hs->transports[mode];

		if (!transport)
			continue;
		if (hs->phase == SMC_PHASE_RESOLVING && transport->resolve_end)
			transport->resolve_end(hs->conn);
		smc_candidates_put(transport, &hs->candidates[mode]);
		smc_transport_put(transport);
	}
	/* Each end counts a claim */
	if (hs->is_offered && !smc_pair_withdraw(hs->pair))
		smc_client_note_claim(hs);
	if (hs->pair)
		smc_pair_leave(hs->pair, hs->conn->role);
	kfree(hs->in);
	this_cpu_dec(hs->conn->sn->stats->handshakes);
	kfree(hs);
	smc_object_destroyed(SMC_OBJECT_HANDSHAKE);
}

/*
 * Fill in what the first contact extension of each Accept and Confirm says, except for the name of
 * this host. @release is the agreed release; @out is all zero before.
 */
void smc_handshake_first_contact(u8 release, struct smc_clc_first_contact *out)
{
	out->release = release;
	out->os = SMC_OS_LINUX;
	if (release >= SMC_RELEASE_1)
		out->features = SMC_FEATURES;
}

/**
 * smc_handshake_send() - build and send a message
 * @hs: the handshake
 * @msg: the message
 *
 * The socket lock is held.
 *
 * Return: 0 or a negative errno.
 */
int smc_handshake_send(struct smc_handshake *hs, const struct smc_clc *msg)
{
	u8 buf[SMC_CLC_BUILD_MAX] __uninitialized;	/* smc_clc_build() writes what is sent */
	int len;

	trace_smc_clc(hs->conn->sk, true, msg->type, hs->in_memory);
	if (hs->in_memory)
		return smc_pair_send(hs->pair, hs->conn->role, msg);
	len = smc_clc_build(msg, buf, sizeof(buf));
	if (WARN_ON_ONCE(len < 0))
		return len;
	return smc_handshake_write(hs->tcp, buf, len);
}

/* Signed by TCP-MD5 or TCP-AO; data in shared memory would not be signed */
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

/* BPF programs of a sockmap may read and redirect the data of the connection */
static bool is_in_sockmap(const struct sock *tcp)
{
	bool found;

	rcu_read_lock();
	found = sk_psock(tcp);
	rcu_read_unlock();
	return found;
}

/* A kernel service has set sk_user_data; smc_sock_attach() sets no flag but SK_USER_DATA_NOCOPY */
static bool has_user_data(const struct sock *tcp)
{
	uintptr_t data = (uintptr_t)rcu_access_pointer(__sk_user_data(tcp));

	return data && (data & ~SK_USER_DATA_PTRMASK) != SK_USER_DATA_NOCOPY;
}

/* Hardware and ACK time stamps exist only for bytes that TCP sends */
static bool wants_tcp_time_stamps(const struct sock *tcp)
{
	return READ_ONCE(tcp->sk_tsflags) &
	       (SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_TX_ACK);
}

/* SO_MAX_PACING_RATE or TCP_TX_DELAY: TCP delays its segments; shared memory does not delay data */
static bool times_segments(const struct sock *tcp)
{
	return READ_ONCE(tcp->sk_max_pacing_rate) != ~0UL || READ_ONCE(tcp_sk(tcp)->tcp_tx_delay);
}

/**
 * smc_handshake_excluded() - must the connection stay with TCP, whatever the peer supports?
 * @tcp: TCP socket, connected or about to connect
 *
 * Any context.
 *
 * Return: the reason, or SMC_REASON_NONE.
 */
u32 smc_handshake_excluded(struct sock *tcp)
{
	if (smc_ipsec_used(tcp))
		return SMC_REASON_IPSEC;
	if (is_signed(tcp) || is_in_sockmap(tcp) || has_user_data(tcp) ||
	    inet_csk(tcp)->icsk_ulp_ops || wants_tcp_time_stamps(tcp) || times_segments(tcp))
		return SMC_REASON_OPTION;
	return SMC_REASON_NONE;
}

static void set_phase(struct smc_handshake *hs, enum smc_phase phase, int factor)
{
	struct smc_net *sn = hs->conn->sn;

	hs->phase = phase;
	hs->since = jiffies;
	hs->deadline = hs->since + factor * READ_ONCE(sn->knobs.handshake_timeout) * HZ;
}

/**
 * smc_handshake_expect() - wait for the peer's next message
 * @hs: the handshake
 * @type: its type; the peer may send a Decline instead
 *
 * Return: SMC_PENDING.
 */
enum smc_outcome smc_handshake_expect(struct smc_handshake *hs, enum smc_clc_type type)
{
	hs->expected = type;
	set_phase(hs, SMC_PHASE_MESSAGE, 1);
	return SMC_PENDING;
}

/**
 * smc_handshake_await() - wait for the transport or for another handshake
 * @hs: the handshake
 * @phase: what it waits for
 *
 * The transport has timeouts of its own. The deadline set here is twice the handshake timeout, in
 * case these do not fire.
 *
 * Return: SMC_PENDING.
 */
enum smc_outcome smc_handshake_await(struct smc_handshake *hs, enum smc_phase phase)
{
	set_phase(hs, phase, 2);
	return SMC_PENDING;
}

/**
 * smc_handshake_fail() - let the caller end the TCP connection
 * @hs: the handshake
 * @error: negative errno for the application
 *
 * Does not end the connection itself. The caller does, and cancels the SMC connection too.
 *
 * Return: SMC_FAILED.
 */
enum smc_outcome smc_handshake_fail(struct smc_handshake *hs, int error)
{
	/* TCP reports EPIPE for a reset that follows a FIN; connect() must return ECONNRESET */
	hs->error = error == -EPIPE ? -ECONNRESET : error;
	return SMC_FAILED;
}

/* The first reason counts: after its own Decline, a client may read the peer's first message */
static enum smc_outcome fall_back(struct smc_handshake *hs, u32 reason)
{
	smc_conn_cancel(hs->conn);
	if (!hs->reason)
		hs->reason = reason;
	return SMC_FALLBACK;
}

/**
 * smc_handshake_decline() - send a Decline and continue with TCP
 * @hs: the handshake
 * @why: reason for each variant, or NULL if this does not answer a Proposal
 * @reason: enum smc_reason, the diagnosis
 *
 * The format follows the version of the Proposal (V2-DCL-12), later that of the chosen variant
 * (V2-VER-02): a peer of version 1 understands no other format.
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
	decline->peer_id = hs->conn->sn->peer_id;
	decline->diagnosis = reason;
	if (decline->extended)
		decline->os = SMC_OS_LINUX;
	if (decline->extended && why) {
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
 * The server could not reach us at first contact. The server may not record that, so the client
 * does: otherwise the next connection fails in the same way.
 */
static void record_failed_path(const struct smc_handshake *hs, u32 diagnosis)
{
	if (hs->phase != SMC_PHASE_SETTLING || !hs->conn->first_contact ||
	    (diagnosis != SMC_REASON_NO_PATH && diagnosis != SMC_REASON_TIMEOUT_CONFIRM_LINK))
		return;
	smc_path_failed(hs->conn->group, SMC_PATH_NEVER_WORKED);
}

/* The peer's Decline says that it does not know the link group */
static void report_group(const struct smc_conn *conn)
{
	if (conn->role == SMC_SERVER)
		smc_group_doubt(conn->group);
	else
		smc_group_blame(conn->group, conn->other_address);
}

static enum smc_outcome handle_decline(struct smc_handshake *hs,
				       const struct smc_clc_decline *decline)
{
	hs->peer_diagnosis = decline->diagnosis;
	if (!hs->is_doomed)	/* else this side has recorded the path already */
		record_failed_path(hs, decline->diagnosis);
	hs->conn->declined = true;
	if (decline->out_of_sync && hs->conn->group)
		report_group(hs->conn);
	return fall_back(hs, SMC_REASON_PEER_DECLINED);
}

/**
 * smc_handshake_decline_late() - send a Decline after the Confirm was sent or received
 * @hs: the handshake
 * @reason: enum smc_reason, the diagnosis
 *
 * Both sides may lose the same device and decline at the same time. A Decline that has arrived is
 * therefore processed instead of sending one (R-DEC-12): the peer's application would read ours as
 * data.
 *
 * Return: SMC_FALLBACK, or SMC_FAILED if the peer sent anything else or the connection is broken.
 */
enum smc_outcome smc_handshake_decline_late(struct smc_handshake *hs, u32 reason)
{
	struct smc_clc msg __uninitialized;
	int err = smc_handshake_receive(hs, &msg);
	enum smc_outcome outcome;

	if (!err && msg.type == SMC_CLC_DECLINE)
		return handle_decline(hs, &msg.decline);
	if ((err != -EAGAIN && err != -ENODATA) || hs->have)
		return smc_handshake_fail(hs, -ECONNRESET);
	outcome = smc_handshake_decline(hs, NULL, reason);
	/* The other end of a pair may have declined, and left, since we looked */
	if (outcome == SMC_FAILED && hs->in_memory && !smc_handshake_receive(hs, &msg) &&
	    msg.type == SMC_CLC_DECLINE)
		return handle_decline(hs, &msg.decline);
	return outcome;
}

/*
 * The transport failed after the last message. At first contact a Decline is still possible
 * (R-DEC-06). After a timeout, the peer may have timed out too and sent its own Decline. The
 * applications would read two crossing Declines as data, so the TCP connection ends instead
 * (R-LTO-01 to R-LTO-06).
 */
static enum smc_outcome handle_settle_failure(struct smc_handshake *hs, u32 reason)
{
	/*
	 * The server sent its test message first, and also got no answer. It is about to decline:
	 * wait for that.
	 */
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

static enum smc_outcome start_conn(struct smc_handshake *hs)
{
	if (hs->conn->role == SMC_SERVER)
		smc_group_publish(hs->conn->group);
	/* The peer considers the connection established: too late for a Decline (R-DEC-09) */
	if (smc_conn_start(hs->conn))
		return smc_handshake_fail(hs, -ECONNRESET);
	return SMC_CONNECTED;
}

/**
 * smc_handshake_settle() - the last message is sent or received: test the link
 * @hs: the handshake; each side knows the other's buffers
 *
 * The socket lock is held.
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_handshake_settle(struct smc_handshake *hs)
{
	int err = smc_conn_settle(hs->conn);

	if (err == -EINPROGRESS)
		return smc_handshake_await(hs, SMC_PHASE_SETTLING);
	if (err)
		return handle_settle_failure(hs, smc_reason_from_errno(err));
	return start_conn(hs);
}

static enum smc_outcome handle_message(struct smc_handshake *hs, const struct smc_clc *msg)
{
	trace_smc_clc(hs->conn->sk, false, msg->type, hs->in_memory);
	if (msg->type == SMC_CLC_DECLINE)
		return handle_decline(hs, &msg->decline);
	/* Simultaneous open, or a socket connected to itself: two clients and no server */
	if (hs->expected == SMC_CLC_ACCEPT && msg->type == SMC_CLC_PROPOSAL)
		return fall_back(hs, SMC_REASON_MODE);
	if (msg->type != hs->expected)
		return smc_handshake_fail(hs, -ECONNRESET);
	switch (hs->expected) {
	case SMC_CLC_ACCEPT:
		return smc_client_accepted(hs, &msg->accept);
	case SMC_CLC_PROPOSAL:
		return smc_server_proposed(hs, &msg->proposal);
	default:
		return smc_server_confirmed(hs, &msg->accept);
	}
}

/*
 * A malformed message of the expected type is declined. A malformed message of another type ends
 * the connection (R-CLC-25), also if it is a Decline: its sender has switched to TCP and would read
 * our Decline as data.
 */
static enum smc_outcome handle_malformed(struct smc_handshake *hs)
{
	if (hs->header.type != hs->expected)
		return smc_handshake_fail(hs, -ECONNRESET);
	hs->version = hs->header.version;
	if (hs->expected == SMC_CLC_CONFIRM)
		return smc_server_refuse(hs, SMC_REASON_MALFORMED);
	return smc_handshake_decline(hs, NULL, SMC_REASON_MALFORMED);
}

/* @err: negative errno of smc_handshake_receive() */
static enum smc_outcome handle_receive_error(struct smc_handshake *hs, int err)
{
	switch (err) {
	case -EPROTO:
		return handle_malformed(hs);
	case -ENOMSG:	/* the option was removed from our SYN-ACK, or the client gave up at once */
		return fall_back(hs, smc_handshake_excluded(hs->tcp) ?: SMC_REASON_NO_PROPOSAL);
	case -EBADMSG:
	case -ENODATA:
		return smc_handshake_fail(hs, -ECONNRESET);
	default:
		return smc_handshake_fail(hs, err);
	}
}

/* No input: fail after the deadline or when the group is evicted, else end this step */
static enum smc_outcome end_step(struct smc_handshake *hs, bool *more)
{
	*more = false;
	if (time_after_eq(jiffies, hs->deadline) && !hs->is_offered)
		return smc_handshake_fail(hs, -ETIMEDOUT);
	if (hs->conn->group && READ_ONCE(hs->conn->group->is_evicted))
		return smc_handshake_fail(hs, -ECONNRESET);
	return SMC_PENDING;
}

static enum smc_outcome step_message(struct smc_handshake *hs, int err, const struct smc_clc *msg,
				     bool *more)
{
	if (!err)
		return handle_message(hs, msg);
	if (err == -EAGAIN)
		return end_step(hs, more);
	return handle_receive_error(hs, err);
}

static enum smc_outcome continue_resolved(struct smc_handshake *hs)
{
	hs->phase = SMC_PHASE_OPENING;	/* smc_handshake_free() has no resolution to end any more */
	return hs->conn->role == SMC_CLIENT ? smc_client_resolved(hs) : smc_server_join(hs);
}

static enum smc_outcome handle_answer(struct smc_handshake *hs, u32 reason)
{
	if (hs->phase == SMC_PHASE_SETTLING)
		return reason ? handle_settle_failure(hs, reason) : start_conn(hs);
	if (reason)
		return smc_handshake_decline(hs, NULL, reason);
	if (hs->phase == SMC_PHASE_RESOLVING)
		return continue_resolved(hs);
	if (hs->conn->role == SMC_CLIENT)
		return smc_client_opened(hs);
	return smc_server_opened(hs);
}

/*
 * In RESOLVING, nothing is opened yet: the answer is used only if TCP is alive and nothing new was
 * received. Later, the answer takes precedence over a receive error, unless the handshake waits for
 * the server's Decline.
 */
static bool may_use_answer(const struct smc_handshake *hs, int err)
{
	return hs->phase == SMC_PHASE_RESOLVING ? err == -EAGAIN : err && !hs->is_doomed;
}

/*
 * While the transport works, only a Decline may arrive, and only while first contact settles. It
 * takes precedence over the transport's answer, because the peer has switched to TCP. End of stream
 * is valid in SETTLING: a client that has finished closes TCP while its data still travels over
 * SMC.
 */
static enum smc_outcome step_answer(struct smc_handshake *hs, int err, const struct smc_clc *msg,
				    bool *more)
{
	u32 reason;

	if (!err && msg->type == SMC_CLC_DECLINE)
		return handle_decline(hs, &msg->decline);
	if (may_use_answer(hs, err) && smc_conn_answered(hs->conn, &reason))
		return handle_answer(hs, reason);
	if (err == -EAGAIN || (err == -ENODATA && hs->phase == SMC_PHASE_SETTLING &&
			       !hs->is_doomed))
		return end_step(hs, more);
	return smc_handshake_fail(hs, err && err != -ENODATA && err != -EBADMSG &&
				  err != -EPROTO ? err : -ECONNRESET);
}

/* The client sends nothing in this phase, except a Decline, a FIN or a reset */
static enum smc_outcome step_joining(struct smc_handshake *hs, int err, const struct smc_clc *msg,
				     bool *more)
{
	if (!err && msg->type == SMC_CLC_DECLINE)
		return handle_decline(hs, &msg->decline);
	if (err != -EAGAIN)
		return smc_handshake_fail(hs, -ECONNRESET);
	if (smc_server_leaves_group(hs) ||
	    (!list_empty_careful(&hs->server.entry.list) && time_before(jiffies, hs->deadline))) {
		*more = false;
		return SMC_PENDING;
	}
	return smc_server_join(hs);
}

/* A message may arrive in every phase. It lives until this step ends */
static enum smc_outcome run_step(struct smc_handshake *hs, bool *more)
{
	struct smc_clc msg __uninitialized;
	int err;

	if (hs->is_offered && smc_client_offer_is_over(hs))
		return smc_client_withdraw(hs);
	err = smc_handshake_receive(hs, &msg);
	switch (hs->phase) {
	case SMC_PHASE_MESSAGE:
		return step_message(hs, err, &msg, more);
	case SMC_PHASE_JOINING:
		return step_joining(hs, err, &msg, more);
	default:
		return step_answer(hs, err, &msg, more);
	}
}

/*
 * The sequence numbers of the first bytes of both ends, as long as none is sent. Within this kernel
 * only the two ends of one TCP connection have the same ones, unless a peer has chosen its own: so
 * see smc_pair_bind(), too.
 */
struct smc_pair_key smc_handshake_pair_key(const struct smc_conn *conn)
{
	const struct tcp_sock *tp = tcp_sk(conn->sk);
	bool is_client = conn->role == SMC_CLIENT;

	return (struct smc_pair_key){
		.client = is_client ? tp->snd_una : tp->rcv_nxt,
		.server = is_client ? tp->rcv_nxt : tp->snd_una,
	};
}

/**
 * smc_handshake_start() - start the handshake: TCP is connected, and both SYNs announced SMC
 * @hs: the handshake
 * @listener: number of the listening socket whose child it is; 0: none
 *
 * The socket lock is held. May sleep, but does not wait for the peer.
 *
 * Return: the new state of the handshake.
 */
enum smc_outcome smc_handshake_start(struct smc_handshake *hs, u64 listener)
{
	if (hs->conn->role == SMC_CLIENT)
		return smc_client_propose(hs);
	smc_server_claim(hs, listener);
	return smc_handshake_expect(hs, SMC_CLC_PROPOSAL);
}

/**
 * smc_handshake_step() - process received bytes, the transport's answer and the deadline
 * @hs: the handshake
 *
 * Input that is not a CLC message ends the connection (R-CLC-13), if it is not a client's first. A
 * CLC message that violates the specification is declined, until the Confirm is accepted (S-19). A
 * timeout ends the connection (R-CLC-17). The socket lock is held. May sleep, but does not wait for
 * the peer.
 *
 * Return: the new state; anything but SMC_PENDING is final.
 */
enum smc_outcome smc_handshake_step(struct smc_handshake *hs)
{
	enum smc_outcome outcome = SMC_PENDING;
	bool more = true;

	while (outcome == SMC_PENDING && more)
		outcome = run_step(hs, &more);
	return outcome;
}

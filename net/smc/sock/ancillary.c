// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program can ask for beside the data: time stamps, and how much is left to read.
 *
 * Received bytes have the time when the peer's last message about data came, whatever was there
 * before: so have bytes that TCP has put together in one segment. Sent bytes are with the peer's
 * kernel, or with the adapter, when the call ends, and are stamped then. There is no packet to
 * return with such a stamp, and no adapter that stamps.
 */

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/skbuff.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "../conn/conn.h"
#include "../handshake/handshake.h"
#include "sock.h"

static void put_stamp(struct sock *sk, struct msghdr *msg, ktime_t stamp)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	if (!skb)
		return;
	skb->tstamp = stamp;
	__sock_recv_timestamp(msg, sk, skb);
	kfree_skb(skb);
}

/* As tcp_inq_hint(): the end of the stream is worth another call */
static void put_amount(const struct smc_conn *conn, struct msghdr *msg)
{
	bool ended = READ_ONCE(conn->rx_state_flags) & (SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED);

	msg->msg_inq = smc_rx_available(conn) ?: ended;
}

/**
 * smc_ancillary_received() - what a receive call tells beside the data
 * @smc: the socket, not locked; the caller is inside of its connection
 * @msg: of the call, which did not fail
 * @bytes: whether it has got data from the stream
 *
 * May sleep.
 */
void smc_ancillary_received(struct smc_sock *smc, struct msghdr *msg, bool bytes)
{
	const struct smc_conn *conn = &smc->conn;
	bool inq = tcp_sk(conn->sk)->recvmsg_inq;
	ktime_t stamp = READ_ONCE(conn->rx.stamp);

	if (stamp && bytes)
		put_stamp(conn->sk, msg, stamp);
	if (!inq && !msg->msg_get_inq)
		return;
	put_amount(conn, msg);
	if (inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(msg->msg_inq), &msg->msg_inq);
}

/*
 * With SOF_TIMESTAMPING_OPT_ID stamps name the last byte of their call, counted from when that was
 * asked for. Kernels before 6.8 do not tell us, so this looks whenever it matters.
 */
static void look_for_ids(struct smc_sock *smc, u32 produced)
{
	bool ids = READ_ONCE(smc->conn.sk->sk_tsflags) & SOF_TIMESTAMPING_OPT_ID;

	if (ids && !smc->stamp_ids)
		smc->stamp_from = produced;
	smc->stamp_ids = ids;
}

/**
 * smc_ancillary_prepare() - a send call begins
 * @smc: the socket, locked
 * @msg: of the call
 *
 * May sleep.
 *
 * Return: which stamps it is to get, SOF_TIMESTAMPING_TX_*; or a negative errno.
 */
int smc_ancillary_prepare(struct smc_sock *smc, struct msghdr *msg)
{
	struct sock *sk = smc->conn.sk;
	struct sockcm_cookie cookie;

	sock_owned_by_me(sk);
	look_for_ids(smc, smc->conn.tx.produced);
	sockcm_init(&cookie, sk);
	if (msg->msg_controllen && sock_cmsg_send(sk, msg, &cookie))
		return -EINVAL;
	return cookie.tsflags & SOF_TIMESTAMPING_TX_RECORD_MASK;
}

static void stamp_sent(struct smc_sock *smc, struct sk_buff *call, u8 flag, int type)
{
	skb_shinfo(call)->tx_flags = flag;
	__skb_tstamp_tx(call, NULL, NULL, smc->conn.sk, type);
}

/**
 * smc_ancillary_sent() - a send call has sent something
 * @smc: the socket, locked
 * @stamps: what smc_ancillary_prepare() said
 *
 * May sleep.
 */
void smc_ancillary_sent(struct smc_sock *smc, int stamps)
{
	struct sock *sk = smc->conn.sk;
	struct sk_buff *call;

	sock_owned_by_me(sk);
	if (!stamps)
		return;
	call = alloc_skb(0, GFP_KERNEL);
	if (!call)
		return;
	skb_shinfo(call)->tskey = atomic_read(&sk->sk_tskey) +
				  (smc->conn.tx.produced - 1 - smc->stamp_from);
	if (stamps & SOF_TIMESTAMPING_TX_SCHED)
		stamp_sent(smc, call, SKBTX_SCHED_TSTAMP, SCM_TSTAMP_SCHED);
	if (stamps & SOF_TIMESTAMPING_TX_SOFTWARE)
		stamp_sent(smc, call, SKBTX_SW_TSTAMP, SCM_TSTAMP_SND);
	/* Elsewhere the bytes may still be on their way, and nothing tells when they came */
	if (stamps & SOF_TIMESTAMPING_TX_ACK && smc->conn.transport->synchronous)
		stamp_sent(smc, call, 0, SCM_TSTAMP_ACK);
	kfree_skb(call);
	smc_conn_wake_error(&smc->conn);
}

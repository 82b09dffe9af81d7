// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ancillary data: time stamps, and the number of bytes that are left to read.
 *
 * All bytes that a receive call returns have the time when the peer's last control message for data
 * came, as TCP does for bytes that it has put together in one segment. When a send call ends, its
 * bytes are in the peer's kernel, or with the adapter, and are stamped then. No packet is returned
 * with such a stamp, and no adapter stamps.
 */

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/skbuff.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "../conn/conn.h"
#include "../handshake/handshake.h"
#include "ops.h"

static void put_receive_stamp(struct sock *sk, struct msghdr *msg, ktime_t stamp)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	if (!skb)
		return;
	skb->tstamp = stamp;
	__sock_recv_timestamp(msg, sk, skb);
	kfree_skb(skb);
}

/* As tcp_inq_hint(): 1 at the end of the stream, so that the program calls again */
static void set_inq_amount(const struct smc_conn *conn, struct msghdr *msg)
{
	bool ended = READ_ONCE(conn->rx_state_flags) & (SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED);

	msg->msg_inq = smc_rx_available(conn) ?: ended;
}

/**
 * smc_ancillary_received() - add ancillary data to a receive call
 * @smc: the socket, not locked; the caller is in its connection
 * @msg: of the call, which did not fail
 * @bytes: the call has received data of the stream
 *
 * May sleep.
 */
void smc_ancillary_received(struct smc_sock *smc, struct msghdr *msg, bool bytes)
{
	const struct smc_conn *conn = &smc->conn;
	bool inq = tcp_sk(conn->sk)->recvmsg_inq;
	ktime_t stamp = READ_ONCE(conn->rx.stamp);

	if (stamp && bytes)
		put_receive_stamp(conn->sk, msg, stamp);
	if (!inq && !msg->msg_get_inq)
		return;
	set_inq_amount(conn, msg);
	if (inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(msg->msg_inq), &msg->msg_inq);
}

/*
 * With SOF_TIMESTAMPING_OPT_ID the number of a stamp is that of the last byte of its call, counted
 * from when the program set the option. Kernels before 6.8 do not report this, so each send call
 * tests the flag.
 */
static void update_stamp_ids(struct smc_sock *smc, u32 produced)
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
 * Return: the stamps that the call asks for, SOF_TIMESTAMPING_TX_*; or a negative errno.
 */
int smc_ancillary_prepare(struct smc_sock *smc, struct msghdr *msg)
{
	struct sock *sk = smc->conn.sk;
	struct sockcm_cookie cookie;

	sock_owned_by_me(sk);
	update_stamp_ids(smc, smc->conn.tx.produced);
	sockcm_init(&cookie, sk);
	if (msg->msg_controllen && sock_cmsg_send(sk, msg, &cookie))
		return -EINVAL;
	return cookie.tsflags & SOF_TIMESTAMPING_TX_RECORD_MASK;
}

static void put_send_stamp(struct smc_sock *smc, struct sk_buff *call, u8 flag, int type)
{
	skb_shinfo(call)->tx_flags = flag;
	__skb_tstamp_tx(call, NULL, NULL, smc->conn.sk, type);
}

/*
 * A send call has sent something: queue the stamps that smc_ancillary_prepare() returned. The
 * socket lock is held. May sleep.
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
		put_send_stamp(smc, call, SKBTX_SCHED_TSTAMP, SCM_TSTAMP_SCHED);
	if (stamps & SOF_TIMESTAMPING_TX_SOFTWARE)
		put_send_stamp(smc, call, SKBTX_SW_TSTAMP, SCM_TSTAMP_SND);
	/* Over SMC-R the bytes may be in flight, and no event tells when they arrive */
	if (stamps & SOF_TIMESTAMPING_TX_ACK && smc->conn.transport->synchronous)
		put_send_stamp(smc, call, 0, SCM_TSTAMP_ACK);
	kfree_skb(call);
	smc_conn_wake_error(&smc->conn);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program asks about its connection: names, and TCP_INFO. The TCP connection is established
 * during the handshake, and as long as the SMC connection. The program sees the state that TCP
 * would be in; the table is in Documentation/one-socket.rst, "Queries".
 */

#include <linux/uaccess.h>
#include <net/tcp.h>

#include "../listen/listen.h"
#include "ops.h"

#define ANY_STATE	2	/* of getname(): the peer's address also before and after */

/*
 * How TCP's getname() is to be called. It returns the peer's address for 1 if TCP is connected, and
 * for ANY_STATE if there is one. TCP's connection may end before the SMC connection.
 */
static int choose_peer(const struct smc_sock *smc, int peer)
{
	if (peer != 1)
		return peer;
	switch (smc_sock_state(smc)) {
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		return -ENOTCONN;
	case SMC_SOCK_ACTIVE:
		return smc_conn_tcp_state(&smc->conn) == TCP_CLOSE ? -ENOTCONN : ANY_STATE;
	default:
		return peer;
	}
}

/*
 * getsockname() with @peer 0, getpeername() with 1; accept() and SO_PEERNAME ask with ANY_STATE.
 * Return: as TCP.
 */
int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	bool has_module = smc_call_begin();
	const struct smc_sock *smc;
	int ret;

	rcu_read_lock();
	smc = smc_sk(sock->sk);
	if (smc)
		peer = choose_peer(smc, peer);
	rcu_read_unlock();
	ret = peer < 0 ? peer : smc_ops_of_tcp(sock->sk)->getname(sock, addr, peer);
	smc_call_end(has_module);
	return ret;
}

/* As if no answer to the SYN had come */
static void show_connecting(struct tcp_info *info)
{
	info->tcpi_state = TCP_SYN_SENT;
	info->tcpi_unacked = 1;
	info->tcpi_bytes_sent = 0;
	info->tcpi_bytes_acked = 0;
	info->tcpi_bytes_received = 0;
}

static u32 count_segments(const struct tcp_info *info, u32 bytes)
{
	return DIV_ROUND_UP(bytes, max(info->tcpi_snd_mss, 1U));
}

/* TCP counts the SYN of a client, and each FIN, as a byte that was acknowledged or received */
static bool is_fin_acknowledged(const struct smc_conn *conn, const struct smc_tx_progress *progress)
{
	return conn->tx.state_flags & SMC_CDC_SENDING_DONE && !progress->unconfirmed;
}

static void show_conn(struct smc_conn *conn, struct tcp_info *info)
{
	struct smc_tx_progress progress;
	u32 in_flight = 0;

	smc_tx_get_progress(conn, &progress);
	spin_lock_bh(&conn->lock);
	info->tcpi_state = smc_conn_tcp_state(conn);
	if (info->tcpi_state == TCP_FIN_WAIT2 && progress.unconfirmed)
		info->tcpi_state = TCP_FIN_WAIT1;
	if (info->tcpi_state != TCP_CLOSE)
		in_flight = progress.unconfirmed - progress.unsent;
	info->tcpi_unacked = count_segments(info, in_flight);
	info->tcpi_notsent_bytes = progress.unsent;
	info->tcpi_bytes_sent = conn->tx.total - progress.unsent;
	info->tcpi_bytes_acked = conn->tx.total - progress.unconfirmed +
				 (conn->role == SMC_CLIENT) + is_fin_acknowledged(conn, &progress);
	info->tcpi_bytes_received = conn->rx.total +
				    !!(conn->rx_state_flags & SMC_CDC_SENDING_DONE);
	info->tcpi_last_data_sent = jiffies_to_msecs(jiffies - conn->tx.last);
	info->tcpi_last_data_recv = jiffies_to_msecs(jiffies - conn->rx.last);
	spin_unlock_bh(&conn->lock);
}

/* TCP uses these two fields for the connections that wait for accept(), and for the backlog */
static void show_listener(struct smc_sock *listener, struct tcp_info *info)
{
	info->tcpi_unacked = smc_accept_count_waiting(listener);
	info->tcpi_sacked = READ_ONCE(listener->queue->backlog);
}

static void show_sock(struct smc_sock *smc, struct tcp_info *info)
{
	switch (smc->state) {
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		show_connecting(info);
		break;
	case SMC_SOCK_ACTIVE:
		show_conn(&smc->conn, info);
		break;
	case SMC_SOCK_LISTEN:
		if (info->tcpi_state == TCP_LISTEN)
			show_listener(smc, info);
		break;
	default:
		break;
	}
}

/* getsockopt(TCP_INFO). Return: as TCP. */
int smc_get_tcp_info(struct sock *sk, char __user *optval, int __user *optlen)
{
	struct smc_sock *smc;
	struct tcp_info info;
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	tcp_get_info(sk, &info);
	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc)
		show_sock(smc, &info);
	release_sock(sk);
	len = min_t(unsigned int, len, sizeof(info));
	if (put_user(len, optlen) || copy_to_user(optval, &info, len))
		return -EFAULT;
	return 0;
}

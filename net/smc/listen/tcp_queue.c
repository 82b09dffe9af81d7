// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP's queue of children.
 *
 * inet_csk_accept() takes a child out under the socket lock of the listening sock, which a program
 * may own without limit. These functions do the same without it: rskq_lock and fastopenq.lock
 * protect the queue. They take nothing once the listening socket has ended: it may be TCP's then
 * (smc_listen_hand_over() waits for a grace period in between), and inet_csk_accept() expects that
 * a queue stays as it is.
 */

#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "listen.h"

#define SEARCHED_MAX	16	/* children in a queue among which connect() looks for its own */

/* Return: the sock of a request that was taken out of the queue, with a reference */
static struct sock *take_sock(struct request_sock_queue *queue, struct request_sock *req)
{
	struct sock *sk = req->sk;

	spin_lock_bh(&queue->fastopenq.lock);
	if (tcp_rsk(req)->tfo_listener) {
		req->sk = NULL;	/* TCP frees the request when its handshake ends */
		req = NULL;
	}
	spin_unlock_bh(&queue->fastopenq.lock);
	if (req)
		reqsk_put(req);
	inet_init_csk_locks(sk);
	return sk;
}

/* Take the first child out of TCP's queue. Return: its sock, with a reference, or NULL. */
struct sock *smc_tcp_queue_pop(struct smc_sock *listener)
{
	struct sock *sk = listener->conn.sk;
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req = NULL;

	rcu_read_lock();
	if (!READ_ONCE(listener->queue.ended))
		req = reqsk_queue_remove(queue, sk);
	rcu_read_unlock();
	return req ? take_sock(queue, req) : NULL;
}

static bool has_key(const struct request_sock *req, const struct smc_pair_key *key)
{
	return tcp_rsk(req)->rcv_isn + 1 == key->client && tcp_rsk(req)->snt_isn + 1 == key->server;
}

/* Return: the request of the child, and in *@prev the one before it; or NULL. */
static struct request_sock *find_request(const struct request_sock_queue *queue,
					 const struct smc_pair_key *key, struct request_sock **prev)
{
	struct request_sock *req = queue->rskq_accept_head;
	unsigned int i;

	lockdep_assert_held(&queue->rskq_lock);
	*prev = NULL;
	for (i = 0; req && i < SEARCHED_MAX; i++) {
		if (has_key(req, key))
			return req;
		*prev = req;
		req = req->dl_next;
	}
	return NULL;
}

/* Return: the request of the child, which is not in the queue any more, or NULL. */
static struct request_sock *unlink_request(struct request_sock_queue *queue,
					   const struct smc_pair_key *key)
{
	struct request_sock *prev, *req = find_request(queue, key, &prev);

	if (!req)
		return NULL;
	if (prev)
		prev->dl_next = req->dl_next;
	else
		WRITE_ONCE(queue->rskq_accept_head, req->dl_next);
	if (!req->dl_next)
		queue->rskq_accept_tail = prev;
	return req;
}

/* Is the child of this connection among the first SEARCHED_MAX? Interrupts are off. */
bool smc_tcp_queue_has(const struct smc_sock *listener, const struct smc_pair_key *key)
{
	struct request_sock_queue *queue = &inet_csk(listener->conn.sk)->icsk_accept_queue;
	struct request_sock *prev;
	bool found;

	lockdep_assert_irqs_disabled();
	spin_lock(&queue->rskq_lock);
	found = find_request(queue, key, &prev);
	spin_unlock(&queue->rskq_lock);
	return found;
}

/*
 * Take the child of this connection out of TCP's queue, if it is among the first SEARCHED_MAX.
 * Return: as smc_tcp_queue_pop().
 */
struct sock *smc_tcp_queue_remove(struct smc_sock *listener, const struct smc_pair_key *key)
{
	struct sock *sk = listener->conn.sk;
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req = NULL;

	rcu_read_lock();
	spin_lock_bh(&queue->rskq_lock);
	if (!READ_ONCE(listener->queue.ended))
		req = unlink_request(queue, key);
	if (req)
		sk_acceptq_removed(sk);
	spin_unlock_bh(&queue->rskq_lock);
	rcu_read_unlock();
	return req ? take_sock(queue, req) : NULL;
}

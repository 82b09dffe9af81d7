// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP's accept queue.
 *
 * inet_csk_accept() takes a child from it under the socket lock of the listening sock, which a
 * program may own without limit. These functions do the same without it: rskq_lock and
 * fastopenq.lock protect the queue. They take nothing once the listening socket has ended: the sock
 * may be TCP's then, or another listening socket, and inet_csk_accept() expects that a child stays
 * in the queue until it takes it.
 */

#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "listen.h"

#define SEARCHED_MAX	16	/* children in a queue among which connect() looks for its own */

/* Return: the sock of a request that is not in the queue any more, with a reference */
static struct sock *get_sock(struct request_sock_queue *queue, struct request_sock *req)
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

static struct smc_pair_key get_key(const struct request_sock *req)
{
	return (struct smc_pair_key){
		.client = tcp_rsk(req)->rcv_isn + 1,
		.server = tcp_rsk(req)->snt_isn + 1,
	};
}

static bool has_key(const struct request_sock *req, const struct smc_pair_key *key)
{
	const struct smc_pair_key its = get_key(req);

	return smc_pair_keys_match(key, &its);
}

/*
 * Find the child of a connection among the first SEARCHED_MAX; without @key the first child.
 * Return: its request, and in *@prev the one before it; or NULL.
 */
static struct request_sock *find_request(const struct request_sock_queue *queue,
					 const struct smc_pair_key *key, struct request_sock **prev)
{
	struct request_sock *req = queue->rskq_accept_head;
	unsigned int i;

	lockdep_assert_held(&queue->rskq_lock);
	*prev = NULL;
	for (i = 0; req && i < SEARCHED_MAX; i++) {
		if (!key || has_key(req, key))
			return req;
		*prev = req;
		req = req->dl_next;
	}
	return NULL;
}

/* As find_request(), and take the child out of the queue */
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

/*
 * Take the child of a connection from TCP's accept queue, if it is among the first SEARCHED_MAX;
 * without @key the first child. Return: its sock, with a reference, or NULL.
 */
struct sock *smc_tcp_queue_take(struct smc_sock *listener, const struct smc_pair_key *key)
{
	struct sock *sk = listener->conn.sk;
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req = NULL;

	spin_lock_bh(&queue->rskq_lock);
	/* A child of a later listening socket is added under this lock, and after that */
	if (!READ_ONCE(listener->queue->ended))
		req = unlink_request(queue, key);
	if (req) {
		sk_acceptq_removed(sk);
		listener->queue->taken = get_key(req);
	}
	spin_unlock_bh(&queue->rskq_lock);
	return req ? get_sock(queue, req) : NULL;
}

/* The listening socket has ended: wait for a task that takes a child at this moment */
void smc_tcp_queue_end(struct smc_sock *listener)
{
	struct request_sock_queue *queue = &inet_csk(listener->conn.sk)->icsk_accept_queue;

	spin_lock_bh(&queue->rskq_lock);
	spin_unlock_bh(&queue->rskq_lock);
}

/*
 * Is the child of this connection the last one that TCP has put into the queue? Then another task
 * may have taken it, but if @is_queued is set, none had. Interrupts are off.
 */
bool smc_tcp_queue_got(const struct smc_sock *listener, const struct smc_pair_key *key,
		       bool *is_queued)
{
	struct request_sock_queue *queue = &inet_csk(listener->conn.sk)->icsk_accept_queue;
	struct smc_pair_key last;

	lockdep_assert_irqs_disabled();
	spin_lock(&queue->rskq_lock);
	*is_queued = queue->rskq_accept_head;
	last = *is_queued ? get_key(queue->rskq_accept_tail) : listener->queue->taken;
	spin_unlock(&queue->rskq_lock);
	return smc_pair_keys_match(key, &last);
}

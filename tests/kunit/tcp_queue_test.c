// SPDX-License-Identifier: GPL-2.0-only
/* Children that are taken from TCP's accept queue: the first one, or that of a connection */
#include <kunit/test.h>

#include "../../net/smc/listen/tcp_queue.c"

#define CHILDREN	(SEARCHED_MAX + 2)
#define NO_CHILD	CHILDREN

/**
 * struct fixture - a listening socket, and children for its queue
 * @listener: the listening socket
 * @queue: its queue
 * @parent: its sock
 * @reqs: requests of the children
 * @socks: the children
 */
struct fixture {
	struct smc_sock listener;
	struct smc_accept_queue queue;
	struct inet_connection_sock parent;
	struct tcp_request_sock reqs[CHILDREN];
	struct inet_connection_sock socks[CHILDREN];
};

static struct request_sock *get_req(struct fixture *f, unsigned int i)
{
	return &f->reqs[i].req.req;
}

static struct sock *get_child(struct fixture *f, unsigned int i)
{
	return i == NO_CHILD ? NULL : (struct sock *)&f->socks[i];
}

static struct request_sock_queue *get_queue(struct fixture *f)
{
	return &f->parent.icsk_accept_queue;
}

/* As TCP does when a child is connected; the suite keeps a reference, too */
static void add(struct fixture *f, unsigned int i)
{
	struct request_sock_queue *queue = get_queue(f);
	struct request_sock *req = get_req(f, i);

	refcount_set(&req->rsk_refcnt, 2);
	spin_lock_bh(&queue->rskq_lock);
	req->dl_next = NULL;
	if (!queue->rskq_accept_head)
		queue->rskq_accept_head = req;
	else
		queue->rskq_accept_tail->dl_next = req;
	queue->rskq_accept_tail = req;
	sk_acceptq_added(f->listener.conn.sk);
	spin_unlock_bh(&queue->rskq_lock);
}

static int setup(struct kunit *test)
{
	struct fixture *f = kvzalloc(sizeof(*f), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->listener.conn.sk = (struct sock *)&f->parent;
	f->listener.queue = &f->queue;
	spin_lock_init(&get_queue(f)->rskq_lock);
	spin_lock_init(&get_queue(f)->fastopenq.lock);
	for (i = 0; i < CHILDREN; i++) {
		get_req(f, i)->sk = get_child(f, i);
		f->reqs[i].rcv_isn = 1000 * i - 1;
		f->reqs[i].snt_isn = 7;
		add(f, i);
	}
	return 0;
}

static void teardown(struct kunit *test)
{
	kvfree(test->priv);
}

static struct smc_pair_key get_connection_key(unsigned int i)
{
	return (struct smc_pair_key){ .client = 1000 * i, .server = 8 };
}

/* Take the child of connection @i; @found says which child that must be */
static void expect_by_key(struct kunit *test, unsigned int i, unsigned int found)
{
	struct fixture *f = test->priv;
	struct smc_pair_key key = get_connection_key(i);

	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_queue_take(&f->listener, &key), get_child(f, found));
	if (found != NO_CHILD)
		KUNIT_EXPECT_EQ(test, refcount_read(&get_req(f, found)->rsk_refcnt), 1);
}

/* Nothing but these children is in the queue, in this order */
static void expect_rest(struct kunit *test, const unsigned int *rest, unsigned int nr)
{
	struct fixture *f = test->priv;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, f->listener.conn.sk->sk_ack_backlog, nr);
	KUNIT_EXPECT_PTR_EQ(test, get_queue(f)->rskq_accept_tail, nr ? get_req(f, rest[nr - 1]) :
								       NULL);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_PTR_EQ(test, smc_tcp_queue_take(&f->listener, NULL),
				    get_child(f, rest[i]));
	KUNIT_EXPECT_NULL(test, smc_tcp_queue_take(&f->listener, NULL));
	KUNIT_EXPECT_TRUE(test, reqsk_queue_empty(get_queue(f)));
	KUNIT_EXPECT_NULL(test, get_queue(f)->rskq_accept_tail);
	KUNIT_EXPECT_EQ(test, f->listener.conn.sk->sk_ack_backlog, 0);
}

/* Leave only so many children, the last ones */
static void drop_first(struct kunit *test, unsigned int left)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < CHILDREN - left; i++)
		KUNIT_EXPECT_PTR_EQ(test, smc_tcp_queue_take(&f->listener, NULL), get_child(f, i));
}

static void tcp_queue_first(struct kunit *test)
{
	unsigned int rest[CHILDREN - 1], i;

	for (i = 0; i < ARRAY_SIZE(rest); i++)
		rest[i] = i + 1;
	expect_by_key(test, 0, 0);
	expect_rest(test, rest, ARRAY_SIZE(rest));
}

static void tcp_queue_middle(struct kunit *test)
{
	static const unsigned int rest[] = { CHILDREN - 4, CHILDREN - 2, CHILDREN - 1 };

	drop_first(test, 4);
	expect_by_key(test, CHILDREN - 3, CHILDREN - 3);
	expect_rest(test, rest, ARRAY_SIZE(rest));
}

/* The one before it is the last one then, and TCP adds the next child after that */
static void tcp_queue_last(struct kunit *test)
{
	static const unsigned int rest[] = { CHILDREN - 2, 0 };

	drop_first(test, 2);
	expect_by_key(test, CHILDREN - 1, CHILDREN - 1);
	add(test->priv, 0);
	expect_rest(test, rest, ARRAY_SIZE(rest));
}

static void tcp_queue_only(struct kunit *test)
{
	static const unsigned int rest[] = { 0, 1 };

	drop_first(test, 1);
	expect_by_key(test, CHILDREN - 1, CHILDREN - 1);
	add(test->priv, 0);
	add(test->priv, 1);
	expect_rest(test, rest, ARRAY_SIZE(rest));
}

/* A long queue is not searched to its end: connect() would take long, with bottom halves off */
static void tcp_queue_too_far(struct kunit *test)
{
	expect_by_key(test, SEARCHED_MAX, NO_CHILD);
	drop_first(test, CHILDREN - 1);
	expect_by_key(test, SEARCHED_MAX, SEARCHED_MAX);
}

/* Is the child of connection @i the last one that came into the queue, and is it still there? */
static void expect_got(struct kunit *test, unsigned int i, bool got, bool is_queued)
{
	struct fixture *f = test->priv;
	struct smc_pair_key key = get_connection_key(i);
	unsigned long flags;
	bool was_queued;

	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, smc_tcp_queue_got(&f->listener, &key, &was_queued), got);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, was_queued, is_queued);
}

/* An older child with the same key is another one, also if it was the last one to be taken */
static void tcp_queue_got_last(struct kunit *test)
{
	struct fixture *f = test->priv;

	expect_got(test, CHILDREN - 1, true, true);
	expect_got(test, CHILDREN - 2, false, true);
	expect_got(test, 0, false, true);
	drop_first(test, 1);
	expect_got(test, CHILDREN - 2, false, true);
	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_queue_take(&f->listener, NULL),
			    get_child(f, CHILDREN - 1));
	expect_got(test, CHILDREN - 1, true, false);
	expect_got(test, CHILDREN - 2, false, false);
	add(f, 0);
	expect_got(test, CHILDREN - 1, false, true);
	expect_got(test, 0, true, true);
}

static void tcp_queue_other_key(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct smc_pair_key key = get_connection_key(2);

	key.server++;
	KUNIT_EXPECT_NULL(test, smc_tcp_queue_take(&f->listener, &key));
	expect_by_key(test, CHILDREN + 5, NO_CHILD);
	KUNIT_EXPECT_EQ(test, f->listener.conn.sk->sk_ack_backlog, CHILDREN);
}

/* The children may be those of another listening socket, or of TCP */
static void tcp_queue_ended(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct smc_pair_key key = get_connection_key(1);

	f->queue.ended = true;
	smc_tcp_queue_end(&f->listener);
	KUNIT_EXPECT_NULL(test, smc_tcp_queue_take(&f->listener, NULL));
	KUNIT_EXPECT_NULL(test, smc_tcp_queue_take(&f->listener, &key));
	KUNIT_EXPECT_EQ(test, f->listener.conn.sk->sk_ack_backlog, CHILDREN);
}

/* TCP's handshake of a child with data in the SYN has not ended, and TCP frees the request */
static void tcp_queue_fast_open(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->reqs[0].tfo_listener = true;
	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_queue_take(&f->listener, NULL), get_child(f, 0));
	KUNIT_EXPECT_NULL(test, get_req(f, 0)->sk);
	KUNIT_EXPECT_EQ(test, refcount_read(&get_req(f, 0)->rsk_refcnt), 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(tcp_queue_first),
	KUNIT_CASE(tcp_queue_middle),
	KUNIT_CASE(tcp_queue_last),
	KUNIT_CASE(tcp_queue_only),
	KUNIT_CASE(tcp_queue_too_far),
	KUNIT_CASE(tcp_queue_got_last),
	KUNIT_CASE(tcp_queue_other_key),
	KUNIT_CASE(tcp_queue_ended),
	KUNIT_CASE(tcp_queue_fast_open),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_tcp_queue",
	.init = setup,
	.exit = teardown,
	.test_cases = cases,
};

kunit_test_suite(suite);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MAC address of the next hop, from the neighbour table.
 *
 * No function waits. If a handshake needs a neighbour that is not resolved, smcr_neigh_ask() makes
 * the neighbour code send its probes. smc_conn_ready() reports to the handshake that the neighbour
 * is resolved, that its resolution has failed, or that ANSWER_TIME has passed.
 *
 * The address comes from the peer and is not verified. Each question sends packets and adds an
 * entry to the neighbour table, so the number of questions is limited for the host, for a
 * namespace, and for a TCP peer. A question counts until it is answered, even if its handshake ends
 * before: otherwise a peer that closes its connections at once could cause questions without limit.
 * Handshakes that need the same neighbour share one question.
 */

#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "../group/conn.h"
#include "../wire/reason.h"
#include "group.h"
#include "neighbour.h"

#define ANSWER_TIME		(2 * HZ)
#define QUESTIONS_MAX		256
#define QUESTIONS_OF_NET	64
#define QUESTIONS_OF_PEER	4

/**
 * struct neigh_question - a neighbour that is being resolved
 * @list: node in questions
 * @net_cookie: cookie of its namespace
 * @ifindex: its network device
 * @table: its neighbour table
 * @key: its address
 * @peer: address of the TCP peer whose handshake has asked first
 * @deadline: jiffies when the resolution counts as failed
 * @waiters: handshakes that wait for the answer
 */
struct neigh_question {
	struct list_head list;
	u64 net_cookie;
	int ifindex;
	const struct neigh_table *table;
	struct in6_addr key;
	struct in6_addr peer;
	unsigned long deadline;
	struct list_head waiters;
};

/**
 * struct neigh_waiter - a handshake that waits for the answer
 * @list: node in question.waiters
 * @conn: its connection; conn->priv points to the waiter meanwhile
 */
struct neigh_waiter {
	struct list_head list;
	struct smc_conn *conn;
};

static DEFINE_SPINLOCK(questions_lock);	/* protects questions and their waiters */
static LIST_HEAD(questions);

static void expire_questions(struct work_struct *work);
static DECLARE_DELAYED_WORK(expiry, expire_questions);

static void tell_waiter(struct neigh_waiter *waiter, u32 reason)
{
	struct smc_conn *conn = waiter->conn;

	lockdep_assert_held(&questions_lock);
	list_del(&waiter->list);
	kfree(waiter);
	WRITE_ONCE(conn->priv, NULL);
	smc_conn_ready(conn, reason);
}

/* The upcalls run under the lock, so none runs after smcr_neigh_forget() */
static void answer_question(struct neigh_question *question, u32 reason)
{
	struct neigh_waiter *waiter, *next;

	lockdep_assert_held(&questions_lock);
	list_for_each_entry_safe(waiter, next, &question->waiters, list)
		tell_waiter(waiter, reason);
	list_del(&question->list);
	kfree(question);
}

static void answer_due(void)
{
	struct neigh_question *question, *next;

	lockdep_assert_held(&questions_lock);
	list_for_each_entry_safe(question, next, &questions, list)
		if (time_after_eq(jiffies, question->deadline))
			answer_question(question, SMC_REASON_NO_ROUTE);
}

static void expire_questions(struct work_struct *work)
{
	spin_lock_bh(&questions_lock);
	answer_due();
	if (!list_empty(&questions))
		queue_delayed_work(smcr_wq, &expiry, ANSWER_TIME / 4);
	spin_unlock_bh(&questions_lock);
}

static bool is_about(const struct neigh_question *question, const struct neighbour *neighbour)
{
	return question->table == neighbour->tbl &&
	       question->ifindex == neighbour->dev->ifindex &&
	       question->net_cookie == dev_net(neighbour->dev)->net_cookie &&
	       !memcmp(&question->key, neighbour->primary_key, neighbour->tbl->key_len);
}

/* Answer the questions about a neighbour, unless it is still being resolved */
static void answer_by(const struct neighbour *neighbour)
{
	u8 state = READ_ONCE(neighbour->nud_state);
	struct neigh_question *question, *next;

	if (!(state & (NUD_VALID | NUD_FAILED)))
		return;
	spin_lock_bh(&questions_lock);
	list_for_each_entry_safe(question, next, &questions, list)
		if (is_about(question, neighbour))
			answer_question(question, state & NUD_VALID ? SMC_REASON_NONE :
								      SMC_REASON_NO_ROUTE);
	spin_unlock_bh(&questions_lock);
}

static struct neigh_question *find_question(const struct smcr_hop *hop)
{
	struct neigh_question *question;

	lockdep_assert_held(&questions_lock);
	list_for_each_entry(question, &questions, list)
		if (question->table == hop->table && question->ifindex == hop->ifindex &&
		    question->net_cookie == hop->net_cookie &&
		    ipv6_addr_equal(&question->key, &hop->key))
			return question;
	return NULL;
}

static bool is_admitted(const struct smcr_hop *hop, const struct in6_addr *peer)
{
	unsigned int all = 0, of_net = 0, of_peer = 0;
	const struct neigh_question *question;

	lockdep_assert_held(&questions_lock);
	list_for_each_entry(question, &questions, list) {
		all++;
		if (question->net_cookie != hop->net_cookie)
			continue;
		of_net++;
		if (ipv6_addr_equal(&question->peer, peer))
			of_peer++;
	}
	return all < QUESTIONS_MAX && of_net < QUESTIONS_OF_NET && of_peer < QUESTIONS_OF_PEER;
}

static struct neigh_question *add_question(const struct smcr_hop *hop, const struct in6_addr *peer)
{
	struct neigh_question *question;

	lockdep_assert_held(&questions_lock);
	question = is_admitted(hop, peer) ? kzalloc(sizeof(*question), GFP_ATOMIC) : NULL;
	if (!question)
		return NULL;
	question->net_cookie = hop->net_cookie;
	question->ifindex = hop->ifindex;
	question->table = hop->table;
	question->key = hop->key;
	question->peer = *peer;
	question->deadline = jiffies + ANSWER_TIME;
	INIT_LIST_HEAD(&question->waiters);
	list_add_tail(&question->list, &questions);
	queue_delayed_work(smcr_wq, &expiry, ANSWER_TIME);
	return question;
}

/* Let smc_conn_ready() report the answer to @conn */
static int add_waiter(struct smc_conn *conn, const struct smcr_hop *hop,
		      const struct in6_addr *peer)
{
	struct neigh_waiter *waiter = kmalloc(sizeof(*waiter), GFP_KERNEL_ACCOUNT);
	struct neigh_question *question;

	if (!waiter)
		return -ENOMEM;
	waiter->conn = conn;
	spin_lock_bh(&questions_lock);
	answer_due();
	question = find_question(hop) ?: add_question(hop, peer);
	if (question) {
		list_add_tail(&waiter->list, &question->waiters);
		WRITE_ONCE(conn->priv, waiter);
	}
	spin_unlock_bh(&questions_lock);
	if (question)
		return 0;
	kfree(waiter);
	return -EAGAIN;
}

/* @create: add a missing entry. Return: the neighbour, with a reference, or NULL */
static struct neighbour *find_neighbour(const struct smcr_hop *hop, bool create)
{
	struct neighbour *neighbour;

	rcu_read_lock();
	neighbour = __neigh_lookup(hop->table, &hop->key, READ_ONCE(hop->dst->dev), create);
	rcu_read_unlock();
	return neighbour;
}

static bool is_valid(const struct neighbour *neighbour)
{
	return READ_ONCE(neighbour->nud_state) & NUD_VALID;
}

/**
 * smcr_neigh_look() - the MAC address of the next hop, if it is known
 * @hop: the next hop
 * @mac: result
 *
 * Sends nothing. Any context.
 *
 * Return: 0 or -EHOSTUNREACH.
 */
int smcr_neigh_look(const struct smcr_hop *hop, u8 *mac)
{
	struct neighbour *neighbour = find_neighbour(hop, false);
	int err = -EHOSTUNREACH;

	if (!neighbour)
		return err;
	if (is_valid(neighbour)) {
		neigh_ha_snapshot((char *)mac, neighbour, neighbour->dev);
		err = 0;
	}
	neigh_release(neighbour);
	return err;
}

static bool is_resolved(const struct smcr_hop *hop)
{
	struct neighbour *neighbour = find_neighbour(hop, false);
	bool resolved;

	if (!neighbour)
		return false;
	resolved = is_valid(neighbour);
	if (resolved)
		neigh_event_send(neighbour, NULL);	/* a stale one is probed meanwhile */
	neigh_release(neighbour);
	return resolved;
}

/**
 * smcr_neigh_ask() - resolve the MAC address of the next hop
 * @hop: the next hop
 * @conn: a connection in its handshake, not open
 * @peer: its TCP peer
 *
 * Process context. May sleep, but does not wait for the answer.
 *
 * Return: 0 if it is resolved; -EINPROGRESS until smc_conn_ready(); -EAGAIN at the limit of
 * questions; or another negative errno.
 */
int smcr_neigh_ask(const struct smcr_hop *hop, struct smc_conn *conn, const struct in6_addr *peer)
{
	struct neighbour *neighbour;
	int err;

	if (is_resolved(hop))
		return 0;
	err = add_waiter(conn, hop, peer);
	if (err)
		return err;
	neighbour = find_neighbour(hop, true);
	if (!neighbour) {
		smcr_neigh_forget(conn);
		return -EHOSTUNREACH;
	}
	neigh_event_send(neighbour, NULL);	/* also probes one that has failed before */
	answer_by(neighbour);	/* it may have been resolved before the question was listed */
	neigh_release(neighbour);
	return -EINPROGRESS;
}

/**
 * smcr_neigh_forget() - struct smc_transport: the connection does not wait any more
 * @conn: a connection that was passed to smcr_neigh_ask(), answered or not; not open
 *
 * No upcall follows. Does not sleep.
 */
void smcr_neigh_forget(struct smc_conn *conn)
{
	struct neigh_waiter *waiter;

	spin_lock_bh(&questions_lock);
	waiter = conn->priv;
	if (waiter)
		list_del(&waiter->list);
	WRITE_ONCE(conn->priv, NULL);
	spin_unlock_bh(&questions_lock);
	kfree(waiter);
}

static int on_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == NETEVENT_NEIGH_UPDATE)
		answer_by(data);
	return NOTIFY_DONE;
}

static struct notifier_block events = {
	.notifier_call = on_event,
};

/**
 * smcr_neigh_init() - register for updates of neighbours
 *
 * Return: 0 or a negative errno.
 */
int smcr_neigh_init(void)
{
	return register_netevent_notifier(&events);
}

/** smcr_neigh_exit() - stop the updates; no handshake waits any more. May sleep. */
void smcr_neigh_exit(void)
{
	struct neigh_question *question, *next;

	unregister_netevent_notifier(&events);
	cancel_delayed_work_sync(&expiry);
	list_for_each_entry_safe(question, next, &questions, list)
		kfree(question);
	INIT_LIST_HEAD(&questions);
}

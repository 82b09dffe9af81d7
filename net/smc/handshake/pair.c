// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two handshakes in one kernel exchange their messages through memory.
 *
 * The client offers its Proposal in a table, under the initial sequence numbers of both ends of the
 * TCP connection. Network namespaces, address translation and redirection to another port do not
 * change these numbers, and a proxy has other ones at its other side. The server looks once, when
 * its handshake begins. If it finds the offer it takes it out of the table: the two ends are a
 * pair. Otherwise the client takes the offer back, and sends the Proposal through TCP. The lock of
 * the table decides between the two.
 *
 * A user who learns both numbers can make a connection with the same ones in a namespace of its
 * own. So an offer is for one listening socket: the one in whose queue TCP puts the child on top of
 * the client's connect().
 *
 * A message is what the receiver's parser would make of it, had it come through TCP: the sender
 * sets no field that the message does not carry. Each end has room for one message: it is the
 * other end's turn until that has read it. Only a Decline may follow a message that was not read,
 * and replaces it: either way, the receiver continues with TCP.
 *
 * An end that leaves is for the other one what the end of the stream is over TCP.
 */

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../group/conn.h"
#include "../object.h"
#include "pair.h"

#define TABLE_BITS	8
#define OFFERS_MAX	(8 << TABLE_BITS)	/* a server searches about 8 of them */

/**
 * struct pair_end - one end
 * @conn: its connection, NULL before it comes and after it leaves
 * @has_left: it has left
 * @has_message: there is a message that it has not read
 * @message: the last message to it
 */
struct pair_end {
	struct smc_conn *conn;
	bool has_left;
	bool has_message;
	struct smc_clc message;
};

/**
 * struct smc_pair - the Proposal of a client, and the two ends if the server is in this kernel
 * @node: node in the table, while the Proposal is offered; table_lock
 * @offer: entry of the list of offers, likewise
 * @is_claimed: a server has claimed the offer; table_lock
 * @key: by what the server finds it
 * @listener: number of the listening socket whose child may claim it; 0: none. Written on top of
 *	the client's task, without a lock
 * @refs: each end has a reference
 * @lock: protects @end once the pair is offered; no other lock is taken inside it
 * @end: by enum smc_role. The client reads the message to the server, which it has written, without
 *	@lock; at first, that is the Proposal
 */
struct smc_pair {
	struct hlist_node node;
	struct list_head offer;
	bool is_claimed;
	struct smc_pair_key key;
	u64 listener;
	refcount_t refs;
	spinlock_t lock;	/* see above */
	struct pair_end end[2];
};

static DEFINE_HASHTABLE(table, TABLE_BITS);
static DEFINE_SPINLOCK(table_lock);	/* no other lock is taken inside it */
static LIST_HEAD(offers);		/* table_lock; the oldest one is the first */
static unsigned int nr_offers;		/* table_lock */
static u32 secret;	/* a program can choose the sequence numbers of its connections */

static enum smc_role get_other_role(enum smc_role role)
{
	return role == SMC_CLIENT ? SMC_SERVER : SMC_CLIENT;
}

static struct hlist_head *find_bucket(const struct smc_pair_key *key)
{
	return &table[hash_32(jhash_2words(key->client, key->server, secret), TABLE_BITS)];
}

static void put_pair(struct smc_pair *pair)
{
	if (!refcount_dec_and_test(&pair->refs))
		return;
	WARN_ON_ONCE(!hlist_unhashed(&pair->node));
	kfree(pair);
	smc_object_destroyed(SMC_OBJECT_PAIR);
}

static size_t get_message_size(const struct smc_clc *msg)
{
	switch (msg->type) {
	case SMC_CLC_PROPOSAL:
		return offsetofend(struct smc_clc, proposal);
	case SMC_CLC_DECLINE:
		return offsetofend(struct smc_clc, decline);
	default:
		return offsetofend(struct smc_clc, accept);
	}
}

static void copy_message(struct smc_clc *to, const struct smc_clc *from)
{
	memcpy(to, from, get_message_size(from));
}

/*
 * Would the parser make the same of the message? Only test kernels have this KASAN. @room: for the
 * parser's result
 */
static void check_message(const struct smc_clc *msg, struct smc_clc *room)
{
	struct smc_clc_header header;
	u8 buf[SMC_CLC_BUILD_MAX];
	int len;

	if (!IS_ENABLED(CONFIG_KASAN_GENERIC))
		return;
	len = smc_clc_build(msg, buf, sizeof(buf));
	if (WARN_ON_ONCE(len < 0) ||
	    WARN_ON_ONCE(smc_clc_parse_header(buf, SMC_CLC_HEADER_LEN, &header)) ||
	    WARN_ON_ONCE(smc_clc_parse(&header, buf, len, room)))
		return;
	WARN_ON_ONCE(memcmp(&msg->proposal, &room->proposal,
			    get_message_size(msg) - offsetof(struct smc_clc, proposal)));
}

static void remove_offer(struct smc_pair *pair)
{
	lockdep_assert_held(&table_lock);
	if (hlist_unhashed(&pair->node))
		return;
	hlist_del_init(&pair->node);
	list_del(&pair->offer);
	nr_offers--;
}

/* The oldest of too many offers goes: its client sends the Proposal through TCP when it is time */
static void add_offer(struct smc_pair *pair)
{
	lockdep_assert_held(&table_lock);
	if (nr_offers == OFFERS_MAX)
		remove_offer(list_first_entry(&offers, struct smc_pair, offer));
	hlist_add_head(&pair->node, find_bucket(&pair->key));
	list_add_tail(&pair->offer, &offers);
	nr_offers++;
}

/**
 * smc_pair_create() - create what may become a pair
 * @client: the client's connection
 *
 * May sleep.
 *
 * Return: the pair, which the client leaves with smc_pair_leave(), or NULL without memory.
 */
struct smc_pair *smc_pair_create(struct smc_conn *client)
{
	struct smc_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL_ACCOUNT);

	if (!pair)
		return NULL;
	refcount_set(&pair->refs, 1);
	spin_lock_init(&pair->lock);
	pair->end[SMC_CLIENT].conn = client;
	smc_object_created(SMC_OBJECT_PAIR);
	return pair;
}

/**
 * smc_pair_proposal() - the Proposal
 * @pair: the pair
 *
 * The client fills it in before it calls smc_pair_offer(), and may read it until it sends another
 * message. It is all zero at first.
 */
struct smc_clc *smc_pair_proposal(struct smc_pair *pair)
{
	return &pair->end[SMC_SERVER].message;
}

/**
 * smc_pair_offer() - offer the Proposal to a server in this kernel
 * @pair: the pair, with the Proposal
 * @key: of the client's TCP connection
 *
 * No server can claim it before smc_pair_bind(). The caller lets TCP connect the server, and
 * withdraws the offer if no server claims it in time. Process context; does not sleep.
 */
void smc_pair_offer(struct smc_pair *pair, const struct smc_pair_key *key)
{
	pair->key = *key;
	pair->end[SMC_SERVER].has_message = true;
	spin_lock(&table_lock);
	add_offer(pair);
	spin_unlock(&table_lock);
}

/**
 * smc_pair_bind() - choose the listening socket whose child may claim the offer
 * @pair: the pair
 * @listener: its number
 *
 * TCP has created a child of it for this client, and still holds the spin lock of the child, which
 * a claim needs. The client has not left the pair. Any context; does not sleep.
 */
void smc_pair_bind(struct smc_pair *pair, u64 listener)
{
	WRITE_ONCE(pair->listener, listener);
}

static bool is_for_child(const struct smc_pair *pair, const struct smc_pair_key *key, u64 listener)
{
	return smc_pair_keys_match(&pair->key, key) && listener &&
	       READ_ONCE(pair->listener) == listener;
}

/* Return: the pair, with a reference, or NULL */
static struct smc_pair *take_offer(const struct smc_pair_key *key, u64 listener)
{
	struct hlist_head *bucket = find_bucket(key);
	struct smc_pair *pair;

	/* Most servers find nothing. The offer of this connection came before its last ACK */
	if (hlist_empty(bucket))
		return NULL;
	spin_lock(&table_lock);
	hlist_for_each_entry(pair, bucket, node) {
		if (!is_for_child(pair, key, listener))
			continue;
		remove_offer(pair);
		pair->is_claimed = true;
		refcount_inc(&pair->refs);
		spin_unlock(&table_lock);
		return pair;
	}
	spin_unlock(&table_lock);
	return NULL;
}

/**
 * smc_pair_claim() - claim the offer of the client
 * @server: the server's connection
 * @key: of its TCP connection
 * @listener: number of the listening socket whose child it is
 *
 * Process context; does not sleep.
 *
 * Return: the pair, which the server leaves with smc_pair_leave(), or NULL if there is no offer.
 */
struct smc_pair *smc_pair_claim(struct smc_conn *server, const struct smc_pair_key *key,
				u64 listener)
{
	struct smc_pair *pair = take_offer(key, listener);

	if (!pair)
		return NULL;
	spin_lock(&pair->lock);
	pair->end[SMC_SERVER].conn = server;
	spin_unlock(&pair->lock);
	return pair;
}

/**
 * smc_pair_withdraw() - take the offer back, if no server has claimed it
 * @pair: the pair
 *
 * Process context; does not sleep.
 *
 * Return: true if no server will claim it; then the pair is of use for its Proposal only.
 */
bool smc_pair_withdraw(struct smc_pair *pair)
{
	bool is_claimed;

	spin_lock(&table_lock);
	remove_offer(pair);
	is_claimed = pair->is_claimed;
	spin_unlock(&table_lock);
	return !is_claimed;
}

/**
 * smc_pair_send() - send a message to the other end
 * @pair: the pair; for a client, a server has claimed it
 * @from: the sender
 * @msg: the message
 *
 * Calls progress() of the other end. Process context; does not sleep.
 *
 * Return: 0; -EPIPE if the other end has left; -ENOBUFS if it has not read the last message, and
 * this one is no Decline.
 */
int smc_pair_send(struct smc_pair *pair, enum smc_role from, const struct smc_clc *msg)
{
	enum smc_role to = get_other_role(from);
	struct pair_end *end = &pair->end[to];
	struct smc_conn *conn = NULL;
	int err = 0;

	spin_lock(&pair->lock);
	if (end->has_left)
		err = -EPIPE;
	else if (end->has_message && msg->type != SMC_CLC_DECLINE)
		err = -ENOBUFS;
	if (!err) {
		copy_message(&end->message, msg);
		end->has_message = true;
		if (end->conn && smc_conn_get_not_zero(end->conn))
			conn = end->conn;
	}
	spin_unlock(&pair->lock);
	if (!conn)
		return err;
	conn->progress(conn);
	smc_conn_put(conn);
	return 0;
}

/**
 * smc_pair_receive() - receive a message from the other end
 * @pair: the pair
 * @to: the receiver
 * @msg: result, as from smc_clc_parse(); undefined if this function fails
 *
 * Process context; does not sleep.
 *
 * Return: 0; -EAGAIN if no message is there; -ENODATA if, besides, the other end has left.
 */
int smc_pair_receive(struct smc_pair *pair, enum smc_role to, struct smc_clc *msg)
{
	struct pair_end *end = &pair->end[to];
	int err = 0;

	spin_lock(&pair->lock);
	if (end->has_message) {
		check_message(&end->message, msg);
		copy_message(msg, &end->message);
		end->has_message = false;
	} else {
		err = pair->end[get_other_role(to)].has_left ? -ENODATA : -EAGAIN;
	}
	spin_unlock(&pair->lock);
	return err;
}

/**
 * smc_pair_leave() - the handshake of an end is over
 * @pair: the pair; the caller does not use it any more
 * @role: the end
 *
 * A client has withdrawn its offer. The other end can still read the last message to it, and learns
 * after it that this end has left: it has a reason to step, or progress() gives it one. Process
 * context; does not sleep.
 */
void smc_pair_leave(struct smc_pair *pair, enum smc_role role)
{
	struct pair_end *other = &pair->end[get_other_role(role)];
	struct smc_conn *conn = NULL;

	spin_lock(&pair->lock);
	pair->end[role].conn = NULL;
	pair->end[role].has_left = true;
	if (!other->has_message && other->conn && smc_conn_get_not_zero(other->conn))
		conn = other->conn;
	spin_unlock(&pair->lock);
	if (conn) {
		conn->progress(conn);
		smc_conn_put(conn);
	}
	put_pair(pair);
}

/* Draw the secret of the table, before there are connections */
void __init smc_pair_init(void)
{
	secret = get_random_u32();
}

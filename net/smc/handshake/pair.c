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
 * A message is in the format of the wire, as in TCP's stream, and the receiver parses it with the
 * same checks. Each end has room for one message: it is the other end's turn until that has read
 * it. Only a Decline may follow a message that was not read, and replaces it: either way, the
 * receiver continues with TCP.
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
#define ACCEPT_MAX	292	/* longest Accept */

/**
 * struct pair_end - one end
 * @conn: its connection, NULL before it comes and after it leaves
 * @has_left: it has left
 * @unread: length of the message that it has not read, or 0
 */
struct pair_end {
	struct smc_conn *conn;
	bool has_left;
	u16 unread;
};

/**
 * struct smc_pair - the two ends of a TCP connection, both in this kernel
 * @node: node in the table, while the Proposal is offered; table_lock
 * @offer: entry of the list of offers, likewise
 * @is_claimed: a server has claimed the offer; table_lock
 * @key: by what the server finds it
 * @refs: each end has a reference
 * @lock: protects @end and the messages; no other lock is taken inside it
 * @end: by enum smc_role
 * @to_client: the message that the client has not read
 * @to_server: the message that the server has not read; at first, the Proposal
 */
struct smc_pair {
	struct hlist_node node;
	struct list_head offer;
	bool is_claimed;
	struct smc_pair_key key;
	refcount_t refs;
	spinlock_t lock;	/* see above */
	struct pair_end end[2];
	u8 to_client[ACCEPT_MAX];
	u8 to_server[SMC_CLC_BUILD_MAX];
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

static bool keys_match(const struct smc_pair_key *a, const struct smc_pair_key *b)
{
	return a->client == b->client && a->server == b->server;
}

static void put_pair(struct smc_pair *pair)
{
	if (!refcount_dec_and_test(&pair->refs))
		return;
	kfree(pair);
	smc_object_destroyed(SMC_OBJECT_PAIR);
}

/* Return: 0 or a negative errno */
static int write_message(struct smc_pair *pair, enum smc_role to, const struct smc_clc *msg)
{
	u8 *room = to == SMC_CLIENT ? pair->to_client : pair->to_server;
	size_t size = to == SMC_CLIENT ? sizeof(pair->to_client) : sizeof(pair->to_server);
	int len = smc_clc_build(msg, room, size);

	if (WARN_ON_ONCE(len < 0))
		return len;
	pair->end[to].unread = len;
	return 0;
}

/* Return: as smc_clc_parse() */
static int parse_message(const u8 *buf, u16 len, struct smc_clc *msg)
{
	struct smc_clc_header header;
	int err = smc_clc_parse_header(buf, SMC_CLC_HEADER_LEN, &header);

	return err ?: smc_clc_parse(&header, buf, len, msg);
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
 * smc_pair_offer() - offer the Proposal to a server in this kernel
 * @client: the client's connection
 * @key: of its TCP connection
 * @proposal: the Proposal
 *
 * The caller lets TCP connect the server, and withdraws the offer if no server claims it in time.
 * May sleep.
 *
 * Return: the pair, which the client leaves with smc_pair_leave(), or NULL: the Proposal has to go
 * through TCP.
 */
struct smc_pair *smc_pair_offer(struct smc_conn *client, const struct smc_pair_key *key,
				const struct smc_clc *proposal)
{
	struct smc_pair *pair = kmalloc(sizeof(*pair), GFP_KERNEL_ACCOUNT);

	if (!pair)
		return NULL;
	pair->key = *key;
	pair->is_claimed = false;
	refcount_set(&pair->refs, 1);
	spin_lock_init(&pair->lock);
	memset(pair->end, 0, sizeof(pair->end));
	pair->end[SMC_CLIENT].conn = client;
	if (write_message(pair, SMC_SERVER, proposal)) {
		kfree(pair);
		return NULL;
	}
	smc_object_created(SMC_OBJECT_PAIR);
	spin_lock(&table_lock);
	add_offer(pair);
	spin_unlock(&table_lock);
	return pair;
}

/* Return: the pair, with a reference, or NULL */
static struct smc_pair *take_offer(const struct smc_pair_key *key)
{
	struct hlist_head *bucket = find_bucket(key);
	struct smc_pair *pair;

	/* Most servers find nothing. The offer of this connection came before its last ACK */
	if (hlist_empty(bucket))
		return NULL;
	spin_lock(&table_lock);
	hlist_for_each_entry(pair, bucket, node) {
		if (!keys_match(&pair->key, key))
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
 *
 * Process context; does not sleep.
 *
 * Return: the pair, which the server leaves with smc_pair_leave(), or NULL if there is no offer.
 */
struct smc_pair *smc_pair_claim(struct smc_conn *server, const struct smc_pair_key *key)
{
	struct smc_pair *pair = take_offer(key);

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
 * Return: true if no server will claim it; then the client leaves the pair.
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
 * this one is no Decline; another negative errno of smc_clc_build().
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
	else if (end->unread && msg->type != SMC_CLC_DECLINE)
		err = -ENOBUFS;
	err = err ?: write_message(pair, to, msg);
	if (!err && end->conn && smc_conn_get_not_zero(end->conn))
		conn = end->conn;
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
 * @msg: result, parsed; undefined if this function fails
 *
 * Process context; does not sleep.
 *
 * Return: 0; -EAGAIN if no message is there; -ENODATA if, besides, the other end has left; another
 * negative errno of smc_clc_parse().
 */
int smc_pair_receive(struct smc_pair *pair, enum smc_role to, struct smc_clc *msg)
{
	const u8 *buf = to == SMC_CLIENT ? pair->to_client : pair->to_server;
	struct pair_end *end = &pair->end[to];
	int err;

	spin_lock(&pair->lock);
	if (end->unread)
		err = parse_message(buf, end->unread, msg);
	else
		err = pair->end[get_other_role(to)].has_left ? -ENODATA : -EAGAIN;
	end->unread = 0;
	spin_unlock(&pair->lock);
	return err;
}

/**
 * smc_pair_leave() - the handshake of an end is over
 * @pair: the pair; the caller does not use it any more
 * @role: the end
 *
 * An offer is withdrawn. The other end can still read the last message to it, and learns after it
 * that this end has left: it has a reason to step, or progress() gives it one. Process context;
 * does not sleep.
 */
void smc_pair_leave(struct smc_pair *pair, enum smc_role role)
{
	struct pair_end *other = &pair->end[get_other_role(role)];
	struct smc_conn *conn = NULL;

	if (role == SMC_CLIENT)
		smc_pair_withdraw(pair);
	spin_lock(&pair->lock);
	pair->end[role].conn = NULL;
	pair->end[role].has_left = true;
	if (!other->unread && other->conn && smc_conn_get_not_zero(other->conn))
		conn = other->conn;
	spin_unlock(&pair->lock);
	if (conn) {
		conn->progress(conn);
		smc_conn_put(conn);
	}
	put_pair(pair);
}

/* Choose how the table is sorted */
void __init smc_pair_init(void)
{
	secret = get_random_u32();
}

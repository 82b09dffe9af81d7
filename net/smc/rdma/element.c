// SPDX-License-Identifier: GPL-2.0-only
/*
 * The size of receive elements.
 *
 * An element keeps its size: control data cannot announce another one. A program that answers
 * requests uses little of it; one that receives a stream may need all. So a group remembers how
 * many bytes of an element its connections have used: the largest number that a program had not
 * read, or the whole element if the peer has had too little space. The next element has at least
 * twice that size, within the limits. Each connection takes a sixteenth off what the group
 * remembers.
 *
 * The first elements of a group have the largest size. By what it sends, a peer can choose a size
 * between LEAST and that, in its own group.
 */

#include <linux/log2.h>

#include "../group/buffer.h"
#include "conn.h"
#include "group.h"

#define LEAST	SZ_64K	/* for a stream after many connections that have used little */
#define FADING	16	/* a connection takes this part off */

static u32 get_limit(const struct smc_net *sn)
{
	return smc_buffer_size(READ_ONCE(sn->knobs.smcr_rmem));
}

/**
 * smcr_element_first_use() - choose what a new group remembers
 * @net: its namespace
 *
 * Return: bytes, which lead to elements of the largest size.
 */
u32 smcr_element_first_use(struct net *net)
{
	return get_limit(smc_net(net)) / 2;
}

/**
 * smcr_element_choose() - choose the size of the next element
 * @rg: the group
 * @conn: a connection that joins it
 * @most: result: a free element may have up to this size
 *
 * Process context.
 *
 * Return: bytes, a power of two. What SO_RCVBUF has chosen depends on no history.
 */
u32 smcr_element_choose(const struct smcr_group *rg, const struct smc_conn *conn, u32 *most)
{
	u32 bytes = roundup_pow_of_two(max_t(u32, 2 * READ_ONCE(rg->element_use), LEAST));

	*most = conn->rx.wanted;
	if (conn->rx.chosen)
		return *most;
	/* RMBs stay allocated for reuse, so they have a limit of their own */
	*most = min(*most, get_limit(conn->sn));
	return min(bytes, *most);
}

/**
 * smcr_element_fade() - let what earlier connections have used count less
 * @rc: another connection of the group, which has attached the peer's element
 *
 * Process context, without spin locks.
 */
void smcr_element_fade(const struct smcr_conn *rc)
{
	struct smcr_group *rg = rc->rg;

	if (rc->conn->rx.chosen)
		return;
	spin_lock_bh(&rg->lock);
	WRITE_ONCE(rg->element_use, rg->element_use - rg->element_use / FADING);
	spin_unlock_bh(&rg->lock);
}

static void raise_use(struct smcr_group *rg, u32 bytes)
{
	spin_lock_bh(&rg->lock);
	WRITE_ONCE(rg->element_use, max(rg->element_use, bytes));
	spin_unlock_bh(&rg->lock);
}

/**
 * smcr_element_note() - remember how much of its element a connection uses
 * @rc: the connection, of which the caller has a reference; a message of the peer was applied to it
 * @consumed: bytes consumed before that message
 * @announced: those of which the peer knew, or will soon
 * @blocked: the message says that the peer waits for space
 *
 * Any context, without locks.
 *
 * With less than a third of the element, smc_tx_has_space() is false at the peer, and its program
 * may wait. @blocked alone means little: a peer also sets it if its send buffer is full.
 */
void smcr_element_note(const struct smcr_conn *rc, u32 consumed, u32 announced, bool blocked)
{
	u32 element = rc->rmb->element_bytes, third = element / 3;
	u32 produced = READ_ONCE(rc->conn->rx.produced);
	u32 bytes = min(produced - consumed, element);

	if (produced - announced > (blocked ? third : element - third))
		bytes = element;
	if (unlikely(bytes > READ_ONCE(rc->rg->element_use) && !rc->conn->rx.chosen))
		raise_use(rc->rg, bytes);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Move the connections of a link that went down to another one, see Documentation/failover.rst.
 *
 * send.c decides which bytes are written again, and sends the failover message.
 */

#include "conn.h"
#include "group.h"

/* A connection that has no link yet is lost only if the group has none */
static bool is_concerned(const struct smcr_conn *rc, const struct smcr_link *link)
{
	return !rc->lost && (rc->link == link || (!rc->link && !smcr_group_has_link(rc->rg)));
}

/* Move a connection to the usable link with the fewest connections. Return: whether it was moved */
static bool move_conn(struct smcr_conn *rc)
{
	struct smcr_link *from = rc->link, *to;
	struct smc_conn *conn = rc->conn;
	bool moved;
	u64 addr;
	u32 rkey;

	if (!from)
		return false;
	to = smcr_group_idlest_link(rc->rg);
	if (!to || smcr_rtoken_get(to, rc->rtoken, &rkey, &addr))
		return false;
	spin_lock_bh(&conn->lock);
	moved = smcr_link_move(rc, to, rkey, addr + rc->peer_offset, conn->tx.consumed,
			       conn->tx.cons);
	spin_unlock_bh(&conn->lock);
	if (moved) {
		atomic_dec(&from->conns);
		atomic_inc(&to->conns);
	}
	return moved;
}

static void lose_conn(struct smcr_conn *rc, bool awaited)
{
	/* Another link may use the struct of the link soon */
	if (rc->link)
		smcr_link_stop(rc);
	if (awaited)
		smc_conn_ready(rc->conn, SMC_REASON_NO_ACTIVE_LINK);
	smc_conn_lost(rc->conn);
}

/* Takes a reference of rc->users. @awaited: if the connection is lost, smc_conn_ready() is due */
static struct smcr_conn *find_concerned(struct smcr_group *rg, const struct smcr_link *link,
					bool *awaited)
{
	struct smcr_conn *rc;
	unsigned int i;

	lockdep_assert_held(&rg->lock);
	hash_for_each(rg->conns, i, rc, node) {
		if (!is_concerned(rc, link))
			continue;
		*awaited = rc->awaited;
		if (smcr_conn_use(rc))
			return rc;
	}
	return NULL;
}

/**
 * smcr_conn_leave() - move the connections of a link that went down, or report them as lost
 * @rg: the group
 * @link: the link
 * @is_drained: its queue pair is drained. Otherwise no connection is moved: the device may still
 *	read what was posted, and write it to the peer's element
 *
 * In the group's work only, without locks.
 */
void smcr_conn_leave(struct smcr_group *rg, struct smcr_link *link, bool is_drained)
{
	struct smcr_conn *rc;
	bool awaited;

	spin_lock_bh(&rg->lock);
	while ((rc = find_concerned(rg, link, &awaited))) {
		spin_unlock_bh(&rg->lock);
		if (!is_drained || !move_conn(rc)) {
			spin_lock_bh(&rg->lock);
			rc->lost = true;
			rc->awaited = false;
			spin_unlock_bh(&rg->lock);
			lose_conn(rc, awaited);
		}
		smcr_conn_unuse(rc);
		spin_lock_bh(&rg->lock);
	}
	spin_unlock_bh(&rg->lock);
}

// SPDX-License-Identifier: GPL-2.0-only
/* One end's group, in place of group.c and conn.c. Its link group never ends. */
#include "world.h"

struct workqueue_struct *smcr_wq;

struct smcr_group *smcr_group_get(struct smcr_group *rg)
{
	rg->ref.count++;
	return rg;
}

void smcr_group_put(struct smcr_group *rg)
{
	assert(rg->ref.count > 1);
	rg->ref.count--;
}

struct smc_group *smcr_group_hold(struct smcr_group *rg)
{
	rg->group->references++;
	return rg->group;
}

void smcr_group_kick(struct smcr_group *rg)
{
	if (rg->work.pending)
		return;
	rg->work.pending = true;
	rg->work.at = jiffies + world_random(end_of(rg)->slowest_work + 1);
}

struct smcr_link *smcr_group_link(struct smcr_group *rg)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_usable(&rg->links[i]))
			return &rg->links[i];
	return NULL;
}

struct smcr_link *smcr_group_link_by_number(struct smcr_group *rg, u8 number)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_is_there(&rg->links[i]) && rg->links[i].number == number)
			return &rg->links[i];
	return NULL;
}

void smcr_group_blame_path(struct smcr_link *link)
{
}

static struct smcr_rmb *first_rmb(struct smcr_group *rg)
{
	return list_first_entry(&rg->rmbs, struct smcr_rmb, list);
}

/* CLC has announced the first RMB */
void smcr_group_let_join(struct smcr_group *rg)
{
	rg->settled = true;
	first_rmb(rg)->state = SMCR_RMB_ANNOUNCED;
}

void smcr_group_settled(struct smcr_group *rg, u32 reason)
{
	struct end *end = end_of(rg);

	if (end->has_outcome)
		return;
	end->has_outcome = true;
	end->outcome = reason;
	if (!reason)
		smcr_group_let_join(rg);
}

void smcr_rmb_announced(struct smcr_group *rg, struct smcr_rmb *rmb, int err)
{
	rmb->announcing = false;
	if (!err)
		return;
	rmb->used[0] = 0;	/* its connections use TCP */
	smcr_llc_kick(rg);
}

void smcr_conn_withdraw(struct smcr_group *rg, int rtoken)
{
}

struct smcr_gid *smcr_gid_get(struct smcr_gid *gid)
{
	gid->ref.count++;
	return gid;
}

void smcr_gid_put(struct smcr_gid *gid)
{
	assert(gid->ref.count > 1);
	gid->ref.count--;
}

static bool any_link_there(const struct smcr_group *rg)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_is_there(&rg->links[i]))
			return true;
	return false;
}

static void clear_links(struct work_struct *work)
{
	struct smcr_group *rg = container_of(work, struct smcr_group, work);
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		struct smcr_link *link = &rg->links[i];
		u32 why;

		if (link->state != SMCR_LINK_DOWN)
			continue;
		why = smcr_llc_link_down(link);
		if (!any_link_there(rg))
			smcr_group_settled(rg, why);
		adapter_clear(link);
	}
}

void end_start(struct end *end, enum smc_role role)
{
	struct smcr_group *rg = &end->rg;
	unsigned int i;

	memset(end, 0, sizeof(*end));
	rg->ref.count = 1;
	rg->role = role;
	rg->version = world.setup.version;
	rg->net_cookie = end_index(end);
	rg->group = &end->group;
	rg->net = (struct net *)&end->net;
	end->net.stats = &end->stats;
	end->net.knobs.testlink_time = 2;
	end->net.knobs.idle_timeout[SMC_MODE_R] = 10;
	rg->max_conns = 255;
	rg->max_links = 2;
	rg->wanted_links = 2;
	rg->work.func = clear_links;
	INIT_LIST_HEAD(&rg->rmbs);
	for (i = 0; i < SMCR_LINKS; i++) {
		rg->links[i].group = rg;
		INIT_LIST_HEAD(&end->qps[i].sends);
		INIT_LIST_HEAD(&end->qps[i].arrived);
	}
	assert(!smcr_llc_init(rg));
}

/* CLC: each end knows queue pair and first RMB of the other one */
static void meet_peer(struct end *end, struct end *peer)
{
	struct smcr_link *link = &end->rg.links[0];
	const struct ib_mr *mr = first_rmb(&peer->rg)->links[0].mr;

	link->peer = peer->rg.links[0].local;
	assert(smcr_rtoken_add(link, mr->rkey, mr->iova) >= 0);
	assert(!smcr_link_connect(link));
}

/* First contact, until LLC begins */
void end_meet(void)
{
	struct end *server = &world.ends[SERVER], *client = &world.ends[CLIENT];
	unsigned int i;

	for (i = 0; i < ENDS; i++) {
		struct end *end = &world.ends[i];

		end->rg.gid = &end->ports[0].gid;
		assert(!smcr_link_create(&end->rg.links[0], &end->ports[0].gid));
		rmb_create(&end->rg);
	}
	server->rg.links[0].number = 1;
	meet_peer(server, client);
	meet_peer(client, server);
	assert(!smcr_link_start(&server->rg.links[0]));
	for (i = 0; i < ENDS; i++)
		smcr_llc_settle(&world.ends[i].rg.links[0]);
}

void end_stop(struct end *end)
{
	struct smcr_group *rg = &end->rg;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (rg->links[i].state != SMCR_LINK_UNUSED)
			adapter_clear(&rg->links[i]);
	smcr_llc_exit(rg);
	rmb_free_all(rg);
	if (rg->ref.count != 1 || rg->group->references)
		world_problem("%s: %d references to the group are left", world_name(rg),
			      rg->ref.count - 1 + rg->group->references);
	for (i = 0; i < PORTS; i++)
		if (end->ports[i].gid.ref.count != 1)
			world_problem("%s: a reference to port %u is left", world_name(rg), i);
}

unsigned int end_links(unsigned int end)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMCR_LINKS; i++)
		nr += smcr_link_usable(&world.ends[end].rg.links[i]);
	return nr;
}

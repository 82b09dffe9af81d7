// SPDX-License-Identifier: GPL-2.0-only
/* Time, ports and wires, what happens next, and what must always hold */
#include <stdarg.h>

#include "world.h"

struct world world;
unsigned long jiffies;

/* Random numbers and time */

u32 get_random_u32(void)
{
	/* A linear congruential generator; its upper bits are good */
	world.random = world.random * 6364136223846793005UL + 1442695040888963407UL;
	return world.random >> 32;
}

void get_random_bytes(void *bytes, size_t len)
{
	u8 *byte = bytes;

	while (len--)
		*byte++ = get_random_u32();
}

unsigned long world_random(unsigned long below)
{
	return get_random_u32() % below;
}

bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
		      unsigned long delay)
{
	bool was_pending = work->work.pending;

	work->work.pending = true;
	work->work.at = jiffies + delay + world_random(2);
	return was_pending;
}

bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
			unsigned long delay)
{
	if (work->work.pending)
		return false;
	mod_delayed_work(queue, work, delay);
	return true;
}

bool cancel_delayed_work_sync(struct delayed_work *work)
{
	bool was_pending = work->work.pending;

	work->work.pending = false;
	return was_pending;
}

struct smc_net *smc_net(struct net *net)
{
	return (struct smc_net *)net;
}

/* Messages */

const char *world_name(const struct smcr_group *rg)
{
	return rg->role == SMC_SERVER ? "server" : "client";
}

static void say(const char *format, va_list args)
{
	printf("# %8.3f ", jiffies / 1000.0);
	vprintf(format, args);
	printf("\n");
}

void world_say(const char *format, ...)
{
	va_list args;

	if (!world.is_verbose)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void world_problem(const char *format, ...)
{
	va_list args, copy;

	va_start(args, format);
	va_copy(copy, args);
	if (world.is_verbose)
		say(format, copy);
	va_end(copy);
	if (!world.problem[0])
		vsnprintf(world.problem, sizeof(world.problem), format, args);
	va_end(args);
}

void world_fault(const char *format, ...)
{
	va_list args;

	world.faults++;
	if (!world.is_verbose)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void trace_smcr_llc(u64 net_cookie, u8 link, u32 uid, bool sent, const struct smc_llc *msg)
{
	world_say("%s %s on link %u: %s%s", world_name(&world.ends[net_cookie].rg),
		  sent ? "sends" : "receives", link, smc_llc_type_name(msg->type),
		  msg->reply ? " reply" : "");
}

void trace_smcr_llc_stray(u64 net_cookie, u8 link, u32 uid, const struct smc_llc *msg)
{
	world_say("%s ignores it", world_name(&world.ends[net_cookie].rg));
}

/* Ports and wires. An address names end and port. */

static struct port *port_of(const struct smc_gid *gid)
{
	return &world.ends[gid->bytes[0]].ports[gid->bytes[1]];
}

static bool is_wired(const struct smc_gid *one, const struct smc_gid *other)
{
	return one->bytes[0] != other->bytes[0] &&
	       (world.setup.lan || one->bytes[1] == other->bytes[1]);
}

/* Does a message arrive at the peer's port now? */
bool world_has_path(const struct queue_pair *qp)
{
	const struct smcr_link *link = qp->link;

	return is_wired(&link->local.gid, &link->peer.gid) && port_of(&link->local.gid)->up &&
	       port_of(&link->peer.gid)->up;
}

static bool is_healthy(const struct port *port)
{
	return port->up && !time_before(jiffies, port->up_since + HEALTHY_TIME);
}

/* Have both ports been up for so long that the link has no reason to go down? */
bool world_works(const struct queue_pair *qp)
{
	const struct smcr_link *link = qp->link;

	return world_has_path(qp) && is_healthy(port_of(&link->local.gid)) &&
	       is_healthy(port_of(&link->peer.gid));
}

bool smcr_route_reaches(const struct smc_candidate *candidate, const struct smc_address *peer)
{
	const struct smcr_gid *gid = candidate->device;
	struct smc_gid local;

	memcpy(local.bytes, gid->gid.raw, sizeof(local.bytes));
	return is_wired(&local, &peer->gid);
}

void smcr_gid_alternates(const struct smcr_gid *first, u8 variant, struct smc_candidates *out)
{
	struct end *end = &world.ends[first->gid.raw[0]];
	unsigned int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < world.setup.ports[end_index(end)]; i++) {
		struct smcr_gid *gid = &end->ports[i].gid;
		struct smc_candidate *candidate = &out->list[out->nr];

		if (!end->ports[i].up)
			continue;
		candidate->device = smcr_gid_get(gid);
		memcpy(candidate->address.gid.bytes, gid->gid.raw, sizeof(gid->gid.raw));
		memcpy(candidate->address.mac, gid->mac, sizeof(gid->mac));
		out->nr++;
	}
}

static void create_port(unsigned int end, unsigned int number)
{
	struct port *port = &world.ends[end].ports[number];
	u8 mac[ETH_ALEN] = { 2, end, number, 1 };

	port->up = true;
	port->is_told = true;
	port->up_since = jiffies - HEALTHY_TIME;
	port->gid.ref.count = 1;
	port->gid.port = number + 1;
	port->gid.gid.raw[0] = end;
	port->gid.gid.raw[1] = number;
	memcpy(port->gid.mac, mac, sizeof(mac));
	port->gid.mtu = IB_MTU_4096;
}

static void change_port(unsigned int end, unsigned int number, bool up)
{
	struct port *port = &world.ends[end].ports[number];

	if (port->up == up)
		return;
	world_say("%s: port %u %s", world_name(&world.ends[end].rg), number, up ? "up" : "down");
	port->up = up;
	port->up_since = jiffies;
	port->is_told = false;
	port->told_at = jiffies + world_random(20);
}

void world_cut(unsigned int end, unsigned int port)
{
	change_port(end, port, false);
}

void world_restore(unsigned int end, unsigned int port)
{
	change_port(end, port, true);
}

/* Software of an end sees no message that arrives at the port, for some time */
void world_hold(unsigned int end, unsigned int port, unsigned long ms)
{
	world_say("%s: port %u holds messages for %lu ms", world_name(&world.ends[end].rg), port,
		  ms);
	world.ends[end].ports[port].held_until = jiffies + ms;
}

static void tell_port(struct end *end, struct port *port)
{
	unsigned int i;

	port->is_told = true;
	for (i = 0; i < SMCR_LINKS; i++)
		if (end->rg.links[i].gid == &port->gid)
			smcr_link_set_severed(&end->rg.links[i], !port->up);
	if (port->up && end->rg.role == SMC_SERVER)
		smcr_llc_ports_changed(&end->rg);
}

/* What happens next */

enum what { NOTHING, WORK, QUEUE_PAIR, PORT };

struct event {
	enum what what;
	unsigned long at;
	struct end *end;
	void *object;
};

static void consider(struct event *first, enum what what, unsigned long at, struct end *end,
		     void *object)
{
	if (first->what == NOTHING || time_before(at, first->at))
		*first = (struct event){ what, at, end, object };
}

static void look_at_end(struct event *first, struct end *end)
{
	struct work_struct *works[] = { &end->rg.llc.work.work, &end->rg.work };
	unsigned long at;
	unsigned int i;

	/* Both need the mutex, which smcr_llc_flush() holds while it waits */
	for (i = 0; i < 2 && !end->rg.llc.mutex.held; i++)
		if (works[i]->pending)
			consider(first, WORK, works[i]->at, end, works[i]);
	for (i = 0; i < SMCR_LINKS; i++)
		if (adapter_next(&end->qps[i], &at))
			consider(first, QUEUE_PAIR, at, end, &end->qps[i]);
	for (i = 0; i < PORTS; i++)
		if (!end->ports[i].is_told)
			consider(first, PORT, end->ports[i].told_at, end, &end->ports[i]);
}

static void happen(const struct event *event)
{
	struct work_struct *work = event->object;

	switch (event->what) {
	case NOTHING:
		break;
	case WORK:
		work->pending = false;
		work->func(work);
		break;
	case QUEUE_PAIR:
		adapter_step(event->object);
		break;
	case PORT:
		tell_port(event->end, event->object);
		break;
	}
}

bool world_step(unsigned long end)
{
	struct event first = { NOTHING };
	unsigned int i;

	for (i = 0; i < ENDS; i++)
		look_at_end(&first, &world.ends[i]);
	if (first.what == NOTHING || time_after(first.at, end)) {
		jiffies = max(jiffies, end);
		return false;
	}
	jiffies = max(jiffies, first.at);
	happen(&first);
	return true;
}

/* What must always hold */

static void check_alive(void)
{
	unsigned int i;

	for (i = 0; i < ENDS; i++) {
		struct end *end = &world.ends[i];

		if (!end->has_outcome)
			continue;
		if (end->outcome)
			world_problem("%s: first contact fails with %#x", world_name(&end->rg),
				      end->outcome);
		else if (!smcr_group_link(&end->rg))
			world_problem("%s: the group is lost", world_name(&end->rg));
	}
}

void world_run(unsigned long ms)
{
	unsigned long end = jiffies + ms;

	while (world_step(end))
		check_alive();
}

bool world_run_until(bool (*condition)(void), unsigned long ms)
{
	unsigned long end = jiffies + ms;

	while (!condition() && world_step(end))
		check_alive();
	return condition();
}

/* The peer's entry for an RMB that this end knows as @mr on @link */
static const struct smcr_rtoken *entry_of(const struct smcr_group *peer, unsigned int link,
					  const struct ib_mr *mr)
{
	unsigned int i;

	for (i = 0; i < SMC_LLC_MAX_RTOKENS; i++) {
		const struct smcr_rtoken *entry = &peer->rtokens[i];

		if (entry->used && entry->known[link] && entry->rkey[link] == mr->rkey &&
		    entry->addr[link] == mr->iova)
			return entry;
	}
	return NULL;
}

static void check_rmb(struct end *end, const struct smcr_rmb *rmb)
{
	const struct smcr_rtoken *entry = NULL;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		const struct queue_pair *qp = &end->qps[i];
		const struct smcr_rtoken *found = NULL;
		struct queue_pair *peer;

		if (!adapter_is_up(qp))
			continue;
		peer = adapter_peer(qp);
		if (rmb->links[i].mr)
			found = entry_of(peer->link->group, smcr_link_index(peer->link),
					 rmb->links[i].mr);
		if (!found || (entry && entry != found))
			world_problem("%s: the peer does not know an RMB on link %u",
				      world_name(&end->rg), qp->link->number);
		entry = found;
	}
}

/* The peer knows each announced RMB, by its key on each link that is active at both ends */
void world_check_keys(void)
{
	const struct smcr_rmb *rmb;
	unsigned int i;

	for (i = 0; i < ENDS; i++)
		list_for_each_entry(rmb, &world.ends[i].rg.rmbs, list)
			if (rmb->state == SMCR_RMB_ANNOUNCED)
				check_rmb(&world.ends[i], rmb);
}

static bool is_quiet_end(const struct smcr_llc *llc)
{
	return (llc->flow == SMC_LLC_FLOW_NONE || llc->flow == SMC_LLC_FLOW_RKEY) &&
	       !llc->add.link && !llc->nr_deferred;
}

bool world_is_quiet(void)
{
	return is_quiet_end(&world.ends[SERVER].rg.llc) && is_quiet_end(&world.ends[CLIENT].rg.llc);
}

static void check_quiet_end(struct end *end)
{
	const struct smcr_rmb *rmb;

	if (!is_quiet_end(&end->rg.llc))
		world_problem("%s: exchange %s has not ended", world_name(&end->rg),
			      smc_llc_flow_name(end->rg.llc.flow));
	list_for_each_entry(rmb, &end->rg.rmbs, list)
		if (rmb->state == SMCR_RMB_NEW || rmb->state == SMCR_RMB_WITHDRAWN)
			world_problem("%s: an RMB has state %u", world_name(&end->rg), rmb->state);
}

/* Nothing was cut, held, announced or withdrawn for some time */
void world_check_quiet(void)
{
	unsigned int i;

	for (i = 0; i < ENDS; i++)
		check_quiet_end(&world.ends[i]);
	world_check_keys();
}

void world_start(const struct setup *setup)
{
	bool is_verbose = world.is_verbose;
	unsigned int i, k;

	memset(&world, 0, sizeof(world));
	world.is_verbose = is_verbose;
	world.setup = *setup;
	world.random = setup->seed;
	jiffies = 0;
	for (i = 0; i < ENDS; i++) {
		end_start(&world.ends[i], i == SERVER ? SMC_SERVER : SMC_CLIENT);
		for (k = 0; k < PORTS; k++)
			create_port(i, k);
		world.ends[i].slowest_message = 2;
		world.ends[i].slowest_work = 2;
	}
	end_meet();
}

void world_end(void)
{
	unsigned int i;

	for (i = 0; i < ENDS; i++)
		end_stop(&world.ends[i]);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links and their queue pairs, in place of link.c, send.c and recv.c. A queue pair sends its
 * requests in order, and tries each one again until the peer's queue pair takes it.
 */
#include "world.h"

#define TRY_AGAIN	130	/* ms */

static struct ib_device device;
static struct ib_pd domain = { &device };

static struct queue_pair *qp_of(const struct smcr_link *link)
{
	return &end_of(link->group)->qps[smcr_link_index(link)];
}

struct queue_pair *adapter_peer(const struct queue_pair *qp)
{
	unsigned int i, k;

	for (i = 0; i < ENDS; i++)
		for (k = 0; k < SMCR_LINKS; k++) {
			struct queue_pair *peer = &world.ends[i].qps[k];

			if (qp->peer && peer->link && peer->qp.qp_num == qp->peer)
				return peer;
		}
	return NULL;
}

/* Is the link active at both ends? */
bool adapter_is_up(const struct queue_pair *qp)
{
	const struct queue_pair *peer = adapter_peer(qp);

	return qp->link && smcr_link_usable(qp->link) && peer && peer->peer == qp->qp.qp_num &&
	       smcr_link_usable(peer->link);
}

/* States of a link */

static void take_down(struct smcr_link *link, u32 reason)
{
	if (!smcr_link_is_there(link))
		return;
	world_say("%s: link %u goes down, reason %#x", world_name(link->group), link->number,
		  reason);
	if (adapter_is_up(qp_of(link)) && world_works(qp_of(link)))
		world_problem("%s: link %u goes down, although it works", world_name(link->group),
			      link->number);
	link->state = SMCR_LINK_DOWN;
	link->reason = reason;
	smcr_group_kick(link->group);
}

void smcr_link_down(struct smcr_link *link, u32 reason)
{
	spin_lock_bh(&link->send_lock);
	take_down(link, reason);
	spin_unlock_bh(&link->send_lock);
}

void smcr_link_lose_path(struct smcr_link *link)
{
	spin_lock_bh(&link->send_lock);
	if (smcr_link_is_there(link))
		link->no_path = true;
	take_down(link, SMC_LINK_LOST_PATH);
	spin_unlock_bh(&link->send_lock);
}

void smcr_link_set_severed(struct smcr_link *link, bool severed)
{
	if (severed == link->severed)
		return;
	link->severed_since = jiffies;
	link->severed = severed;
	if (severed && link->state == SMCR_LINK_FORMING)
		smcr_link_down(link, SMC_LINK_LOST_PATH);
	smcr_llc_kick(link->group);
}

int smcr_link_create(struct smcr_link *link, struct smcr_gid *gid)
{
	struct queue_pair *qp = qp_of(link);

	assert(link->state == SMCR_LINK_UNUSED && !qp->link);
	link->gid = smcr_gid_get(gid);
	memcpy(link->local.gid.bytes, gid->gid.raw, sizeof(link->local.gid.bytes));
	memcpy(link->local.mac, gid->mac, sizeof(link->local.mac));
	link->local.mtu = gid->mtu;
	link->local.psn = get_random_u32() & 0xffffff;
	link->port = gid->port;
	link->number = 0;
	link->agreed = false;
	link->user_id = ++world.last_number;
	link->head = 0;
	link->tail = 0;
	link->rts = false;
	link->failed = false;
	link->severed = false;
	link->no_path = false;
	link->long_busy = false;
	link->last_received = jiffies;
	link->pd = &domain;
	link->qp = &qp->qp;
	qp->qp.qp_num = ++world.last_number;
	link->local.qpn = qp->qp.qp_num;
	qp->link = link;
	qp->peer = 0;
	qp->failed = false;
	link->state = SMCR_LINK_FORMING;
	return 0;
}

int smcr_link_choose_keys(struct smcr_link *link)
{
	return link->state == SMCR_LINK_FORMING ? smcr_memory_register(link) : -ENOLINK;
}

int smcr_link_connect(struct smcr_link *link)
{
	struct smc_candidate local = { .device = link->gid };
	struct smc_address peer = { .gid = link->peer.gid };

	if (link->state != SMCR_LINK_FORMING)
		return -ENOLINK;
	if (!smcr_route_reaches(&local, &peer))
		return -EHOSTUNREACH;
	link->direct = true;
	qp_of(link)->peer = link->peer.qpn;
	return 0;
}

int smcr_link_start(struct smcr_link *link)
{
	if (link->state != SMCR_LINK_FORMING)
		return -ENOLINK;
	link->rts = true;
	return smcr_memory_register(link);
}

void smcr_link_activate(struct smcr_link *link)
{
	if (link->state == SMCR_LINK_FORMING)
		link->state = SMCR_LINK_ACTIVE;
}

/* The send queue */

static int add_request(struct smcr_link *link, const void *bytes, size_t len)
{
	struct queue_pair *qp = qp_of(link);
	struct request *request;
	bool is_long = len > SMCR_MESSAGE_BYTES;

	if (!link->rts || !smcr_link_is_there(link))
		return -ENOLINK;
	if (link->head - link->tail >= SMCR_SEND_SLOTS || (is_long && link->long_busy))
		return -EAGAIN;
	request = calloc(1, sizeof(*request) + len);
	assert(request);
	request->is_registration = !len;
	request->is_long = is_long;
	request->end = ++link->head;
	request->posted = jiffies;
	request->at = jiffies + world_random(3);
	request->len = len;
	if (len)
		memcpy(request->bytes, bytes, len);
	link->long_busy |= is_long;
	list_add_tail(&request->list, &qp->sends);
	return 0;
}

int smcr_link_send(struct smcr_link *link, const struct smc_llc *msg)
{
	static u8 bytes[SMC_LLC_BUILD_MAX];
	int len = smc_llc_build(msg, bytes, sizeof(bytes)), err;

	assert(len > 0);
	err = add_request(link, bytes, len);
	if (!err)
		trace_smcr_llc(link->group->net_cookie, link->number, link->user_id, true, msg);
	return err;
}

int smcr_link_post_reg(struct smcr_link *link, struct ib_reg_wr *reg, u32 *behind)
{
	int err = add_request(link, NULL, 0);

	*behind = link->head;
	return err;
}

static void complete_request(struct queue_pair *qp, struct request *request)
{
	struct smcr_link *link = qp->link;

	link->tail = request->end;
	if (request->is_long)
		link->long_busy = false;
	if (link->group->llc.unproved == link)
		smcr_llc_kick(link->group);
}

static struct request *first_in(struct list_head *list)
{
	return list_first_entry_or_null(list, struct request, list);
}

static struct port *port_of(const struct smcr_link *link)
{
	return container_of(link->gid, struct port, gid);
}

static bool takes_messages(const struct queue_pair *peer, const struct queue_pair *from)
{
	return peer && !peer->failed && peer->peer == from->qp.qp_num;
}

/* The peer's adapter has the message. Its software sees it later. */
static void deliver(struct queue_pair *peer, struct request *request)
{
	struct end *end = end_of(peer->link->group);
	unsigned long at = jiffies + world_random(end->slowest_message + 1);

	if (!list_empty(&peer->arrived))
		at = max(at, list_first_entry(peer->arrived.prev->prev, struct request, list)->at);
	request->at = at;
	list_add_tail(&request->list, &peer->arrived);
}

static void try_request(struct queue_pair *qp)
{
	struct request *request = first_in(&qp->sends);
	struct queue_pair *peer = adapter_peer(qp);

	if (request->is_registration) {
		list_del(&request->list);
		complete_request(qp, request);
		free(request);
	} else if (world_has_path(qp) && takes_messages(peer, qp)) {
		list_del(&request->list);
		complete_request(qp, request);
		deliver(peer, request);
	} else if (time_before(jiffies, request->posted + RETRY_TIME)) {
		request->at = jiffies + TRY_AGAIN;
	} else {
		qp->failed = true;
		smcr_link_lose_path(qp->link);
	}
	request = first_in(&qp->sends);
	if (request)
		request->at = max(request->at, jiffies + 1);
}

static void see_message(struct queue_pair *qp)
{
	struct request *message = first_in(&qp->arrived);
	size_t head = min_t(size_t, message->len, SMCR_MESSAGE_BYTES);

	list_del(&message->list);
	qp->link->last_received = jiffies;
	smcr_llc_received(qp->link, message->bytes, message->bytes + head, message->len);
	free(message);
}

static unsigned long seen_at(const struct queue_pair *qp, const struct request *message)
{
	return max(message->at, port_of(qp->link)->held_until);
}

/* When does something happen at a queue pair? Return: false if nothing does */
bool adapter_next(struct queue_pair *qp, unsigned long *at)
{
	struct request *send = qp->failed ? NULL : first_in(&qp->sends);
	struct request *message = first_in(&qp->arrived);

	if (!qp->link || (!send && !message))
		return false;
	*at = send ? send->at : seen_at(qp, message);
	if (message)
		*at = min(*at, seen_at(qp, message));
	return true;
}

void adapter_step(struct queue_pair *qp)
{
	struct request *message = first_in(&qp->arrived);

	if (message && !time_after(seen_at(qp, message), jiffies))
		see_message(qp);
	else
		try_request(qp);
}

static void drop_requests(struct list_head *requests)
{
	while (!list_empty(requests)) {
		struct request *request = first_in(requests);

		list_del(&request->list);
		free(request);
	}
}

/* Drain the queue pair: messages that have arrived are seen. Then free the resources. */
void adapter_clear(struct smcr_link *link)
{
	struct queue_pair *qp = qp_of(link);

	while (!list_empty(&qp->arrived))
		see_message(qp);
	drop_requests(&qp->sends);
	rmb_forget_link(link);
	qp->link = NULL;
	link->qp = NULL;
	link->pd = NULL;
	link->rts = false;
	link->tail = link->head;
	smcr_rtoken_forget_link(link);
	smcr_gid_put(link->gid);
	link->gid = NULL;
	link->state = SMCR_LINK_UNUSED;
}

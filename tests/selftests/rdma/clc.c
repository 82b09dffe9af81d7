// SPDX-License-Identifier: GPL-2.0-only
/* The attacker's part of CLC, in good order */

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "../../modules/smc_synopt.h"
#include "hostile.h"

#define EYE_R		0xe2d4c3d9
#define SIZE_CODE	2	/* RING_BYTES */
#define MTU_1024	3
#define ANSWER_MS	60000
#define BRIEF_MS	10

static struct msg msg, reply;

static uint64_t any_number(int bytes)
{
	uint64_t value = 0;

	EQ(getrandom(&value, bytes, 0), bytes);
	return value;
}

static void frame(enum msg_type type, size_t len, uint8_t flags)
{
	memset(&msg, 0, sizeof(msg));
	msg.len = len;
	put(&msg, 0, 4, EYE_R);
	put(&msg, AT_TYPE, 1, type);
	put(&msg, AT_LENGTH, 2, len);
	put(&msg, AT_FLAGS, 1, flags);
	put(&msg, len - 4, 4, EYE_R);
}

static void put_eid(size_t at)
{
	const char *eid = getenv("RDMA_PEER_EID");

	if (!eid)
		eid = "UMLRDMA";
	memset(msg.bytes + at, ' ', 32);
	memcpy(msg.bytes + at, eid, strlen(eid));
}

static void build_proposal(const struct hostile *h)
{
	if (h->version == 1) {
		frame(PROPOSAL, 52, 0x10);
		memcpy(msg.bytes + 16, &h->qp.gid, 16);
		memcpy(msg.bytes + 40, h->qp.gid.raw + 12, 3);	/* the subnet has 24 bits */
		put(&msg, 44, 1, 24);
	} else {
		frame(PROPOSAL, AT_UEIDS + 32 + 4, 0x22);
		put(&msg, AT_V2_OFFSET, 2, AT_V2 - (AT_V2_OFFSET + 2));
		put(&msg, AT_EID_COUNT, 1, 1);
		put(&msg, AT_RELEASE, 1, 0x10);
		memcpy(msg.bytes + AT_V2 + 8, &h->qp.gid, 16);
		put(&msg, AT_V2 + 24, 1, 255);
		put(&msg, AT_V2 + 25, 1, h->max_links);
		put_eid(AT_UEIDS);
	}
	put(&msg, AT_PEER_ID, 8, h->peer_id);
	memcpy(msg.bytes + 32, h->qp.mac, 6);
}

/* What Accept and Confirm say of the sender's end */
static void put_end(const struct hostile *h)
{
	put(&msg, AT_R_PEER_ID, 8, h->peer_id);
	memcpy(msg.bytes + AT_R_GID, &h->qp.gid, 16);
	memcpy(msg.bytes + AT_R_MAC, h->qp.mac, 6);
	put(&msg, AT_R_QPN, 3, h->qp.qp->qp_num);
	put(&msg, AT_R_RKEY, 4, h->my_rkey);
	put(&msg, AT_R_INDEX, 1, h->index);
	put(&msg, AT_R_TOKEN, 4, h->my_token);
	put(&msg, AT_R_SIZES, 1, SIZE_CODE << 4 | MTU_1024);
	put(&msg, AT_R_ADDR, 8, h->my_addr);
	put(&msg, AT_R_PSN, 3, h->qp.psn);
}

/* Of a later contact there is less to be said */
static void build_accept(const struct hostile *h)
{
	if (h->version == 1) {
		frame(ACCEPT, 68, h->later ? 0x10 : 0x18);
	} else if (h->later) {
		frame(ACCEPT, 108, 0x20);
		put_eid(AT_R_EID);
	} else {
		frame(ACCEPT, 160, 0x28);
		put_eid(AT_R_EID);
		put(&msg, AT_R_FCE, 1, 0x80);
		put(&msg, AT_R_RELEASE, 1, 0x21);
		memset(msg.bytes + AT_R_HOSTNAME, ' ', 32);
		put(&msg, AT_R_MAX_CONNS, 1, 255);
		put(&msg, AT_R_MAX_LINKS, 1, h->max_links);
	}
	put_end(h);
}

static void build_confirm(const struct hostile *h)
{
	if (h->version == 1) {
		frame(CONFIRM, 68, 0x10);
	} else if (h->later) {
		frame(CONFIRM, 108, 0x20);
		put_eid(AT_R_EID);
	} else {
		frame(CONFIRM, 180, 0x28);
		put_eid(AT_R_EID);
		memcpy(msg.bytes + AT_R_FCE, reply.bytes + AT_R_FCE, 52);
		put(&msg, AT_R_FEATURES, 2, 0);
		put(&msg, AT_R_GID_COUNT, 1, 1);
		memcpy(msg.bytes + AT_R_GIDS, &h->qp.gid, 16);
	}
	put_end(h);
}

/* The application's end, as its Accept or Confirm says */
static void learn_end(struct hostile *h)
{
	uint32_t size = 16384 << (get(&reply, AT_R_SIZES, 1) >> 4);

	EQ(get(&reply, AT_FLAGS, 1) >> 4, h->version);
	memcpy(h->end.gid, reply.bytes + AT_R_GID, 16);
	h->end.qpn = get(&reply, AT_R_QPN, 3);
	h->end.psn = get(&reply, AT_R_PSN, 3);
	h->token = get(&reply, AT_R_TOKEN, 4);
	h->rkey = get(&reply, AT_R_RKEY, 4);
	h->size = size;
	h->addr = get(&reply, AT_R_ADDR, 8) + (get(&reply, AT_R_INDEX, 1) - 1) * size;
}

/* Where the attacker listens: on its own side of the wire */
static struct addr own_address(const struct hostile *h)
{
	struct addr addr = loopback(AF_INET, 0);

	memcpy(&addr.in.sin_addr, h->qp.gid.raw + 12, 4);
	return addr;
}

static void choose_sndbuf(const struct hostile *h, int fd)
{
	if (h->sndbuf)
		set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, h->sndbuf);
}

static void app_main(void *arg)
{
	struct hostile *h = arg;
	struct addr to = name_of(h->listener);

	h->app = new_client();
	choose_sndbuf(h, h->app);
	h->app_error = connect(h->app, &to.sa, to.len) ? errno : 0;
}

static void send_clc(const struct hostile *h)
{
	if (h->spoil)
		h->spoil(&msg);
	if (h->cut && get(&msg, AT_TYPE, 1) != PROPOSAL)
		msg.len = h->cut;
	attacker_send(h->tcp, &msg);
}

static void meet_client(struct hostile *h)
{
	struct addr addr = own_address(h);

	h->listener = attacker_socket();
	OK(bind(h->listener, &addr.sa, addr.len));
	OK(listen(h->listener, 5));
	worker_start(&h->worker, app_main, h);
	h->tcp = accept_from(h->listener);
	attacker_expect(h->tcp, &reply, PROPOSED);
}

static void meet_server(struct hostile *h)
{
	h->listener = listen_any(5);
	choose_sndbuf(h, h->listener);
	h->tcp = attacker_connect_from(h->from, h->listener);
	build_proposal(h);
	send_clc(h);
}

enum reaction hostile_await(struct hostile *h, struct msg *answer)
{
	struct pollfd pfd = { .fd = h->tcp, .events = POLLIN };
	long end = now_ms() + scaled(ANSWER_MS);

	while (h->later && !OK(poll(&pfd, 1, BRIEF_MS)) && now_ms() < end)
		if (llc_wait(h, 0))
			FAIL("unexpected LLC message");
	return attacker_wait(h->tcp, answer, scaled(ANSWER_MS));
}

bool hostile_accepted(struct hostile *h)
{
	EQ(hostile_await(h, &reply), ACCEPTED);
	learn_end(h);
	return get(&reply, AT_FLAGS, 1) & 0x08;
}

static void take_accept(struct hostile *h)
{
	EQ(!hostile_accepted(h), h->later);
	if (!h->later)
		qp_connect(&h->qp, &h->end);
}

static void take_confirm(struct hostile *h)
{
	EQ(hostile_await(h, &reply), CONFIRMED);
	learn_end(h);
	if (!h->later)
		qp_connect(&h->qp, &h->end);
}

void hostile_init(struct hostile *h)
{
	memset(h, 0, sizeof(*h));
	h->server = as_server(chosen);
	h->version = with_v1(chosen) ? 1 : 2;
	h->max_links = 1;
	h->app = -1;
	h->index = 1;
	h->link_num = 1;
	h->peer_id = any_number(8);
	h->my_token = any_number(4);
	h->violations = counter_of(COUNTERS_R, COUNT_VIOLATIONS);
	h->link_aborts = counter_of(COUNTERS_R, COUNT_LINK_ABORTS);
}

void hostile_propose(struct hostile *h)
{
	if (!h->later) {
		qp_create(&h->qp, h->deaf);
		if (!h->my_rkey)
			h->my_rkey = h->qp.area_mr->rkey;
		h->my_addr = (uintptr_t)h->qp.ring;
	}
	if (h->server)
		meet_client(h);
	else
		meet_server(h);
}

void hostile_answer(struct hostile *h)
{
	if (h->server) {
		build_accept(h);
	} else {
		take_accept(h);
		build_confirm(h);
	}
	send_clc(h);
}

void hostile_clc(struct hostile *h)
{
	hostile_propose(h);
	hostile_answer(h);
	if (h->server)
		take_confirm(h);
}

void hostile_join(struct hostile *h, const struct hostile *first)
{
	hostile_init(h);
	h->later = true;
	h->qp = first->qp;
	h->end = first->end;
	h->peer_id = first->peer_id;
	h->link_num = first->link_num;
	h->my_rkey = first->my_rkey;
	h->my_addr = first->my_addr;
}

void hostile_again(struct hostile *h, const struct hostile *first, int index)
{
	hostile_join(h, first);
	h->index = index;
	hostile_clc(h);
	hostile_finish(h);
}

void hostile_leave(struct hostile *h)
{
	if (h->app >= 0)
		close(h->app);
	close(h->tcp);
	close(h->listener);
}

void app_joined(struct hostile *h)
{
	if (h->server)
		worker_join(&h->worker);
}

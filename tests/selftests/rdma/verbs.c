// SPDX-License-Identifier: GPL-2.0-only
/* The attacker's RDMA port and queue pair */

#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "../socket/pair.h"
#include "verbs.h"

#define PORT		1
#define SEND_SLOTS	64
#define WAIT_MS		scaled(60000)
/* It gives up a silent module after 7 times 0.54 s; 7 would be for ever */
#define ACK_TIMEOUT	17
#define RETRIES		6
#define RNR_RETRIES	7

static const char *from_environment(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value ? value : otherwise;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i, nr = 0;

	list = ibv_get_device_list(&nr);
	if (!list)
		FAIL("no RDMA devices: %s", strerrorname_np(errno));
	for (i = 0; i < nr; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!ctx)
		FAIL("no RDMA device %s among %d", name, nr);
	return ctx;
}

/* The entry for RoCE version 2 of an IPv4 address */
static void find_gid(struct qp *qp, const char *address)
{
	struct ibv_gid_entry entries[64];
	ssize_t i, nr = ibv_query_gid_table(qp->ctx, entries, 64, 0);
	uint8_t wanted[16] = { [10] = 0xff, [11] = 0xff };

	EQ(inet_pton(AF_INET, address, wanted + 12), 1);
	for (i = 0; i < nr; i++) {
		if (entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entries[i].gid.raw, wanted, 16)) {
			qp->gid = entries[i].gid;
			qp->gid_index = entries[i].gid_index;
			return;
		}
	}
	FAIL("no GID for %s among %zd", address, nr);
}

static void find_mac(struct qp *qp, const char *interface)
{
	struct ifreq ifr = {};
	int fd = OK(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", interface);
	OK(ioctl(fd, SIOCGIFHWADDR, &ifr));
	memcpy(qp->mac, ifr.ifr_hwaddr.sa_data, 6);
	close(fd);
}

static void *memory(size_t len)
{
	void *bytes = aligned_alloc(4096, len);

	TRUE(bytes);
	memset(bytes, 0, len);
	return bytes;
}

static struct ibv_mr *registered(struct qp *qp, void *bytes, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(qp->pd, bytes, len,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	TRUE(mr);
	return mr;
}

static void create_memory(struct qp *qp)
{
	qp->area = memory(RING_BYTES + 2 * GUARD_BYTES);
	qp->ring = qp->area + GUARD_BYTES;
	memset(qp->area, GUARD, GUARD_BYTES);
	memset(qp->ring + RING_BYTES, GUARD, GUARD_BYTES);
	qp->area_mr = registered(qp, qp->area, RING_BYTES + 2 * GUARD_BYTES);
	qp->send = memory(SEND_BYTES);
	qp->send_mr = registered(qp, qp->send, SEND_BYTES);
	qp->recv = memory(RECV_SLOTS * RECV_BYTES);
	qp->recv_mr = registered(qp, qp->recv, RECV_SLOTS * RECV_BYTES);
}

static void post_recv(struct qp *qp, uint64_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(qp->recv + slot * RECV_BYTES),
		.length = RECV_BYTES,
		.lkey = qp->recv_mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	EQ(ibv_post_recv(qp->qp, &wr, &bad), 0);
}

void qp_create(struct qp *qp, bool deaf)
{
	struct ibv_qp_init_attr init = {
		.cap = {
			.max_send_wr = SEND_SLOTS, .max_recv_wr = RECV_SLOTS, .max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	uint64_t i;

	memset(qp, 0, sizeof(*qp));
	qp->deaf = deaf;
	qp->ctx = open_device(from_environment("RDMA_PEER_DEVICE", "rxe0"));
	find_gid(qp, from_environment("RDMA_PEER_HOST", "10.9.0.1"));
	find_mac(qp, from_environment("RDMA_PEER_INTERFACE", "smc0"));
	qp->pd = ibv_alloc_pd(qp->ctx);
	qp->cq = ibv_create_cq(qp->ctx, SEND_SLOTS, NULL, NULL, 0);
	qp->recv_cq = ibv_create_cq(qp->ctx, RECV_SLOTS, NULL, NULL, 0);
	TRUE(qp->pd && qp->cq && qp->recv_cq);
	init.send_cq = qp->cq;
	init.recv_cq = qp->recv_cq;
	qp->qp = ibv_create_qp(qp->pd, &init);
	TRUE(qp->qp);
	EQ(getrandom(&qp->psn, sizeof(qp->psn), 0), sizeof(qp->psn));
	qp->psn &= 0xffffff;
	create_memory(qp);
	EQ(ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			 IBV_QP_ACCESS_FLAGS), 0);
	for (i = 0; i < RECV_SLOTS && !deaf; i++)
		post_recv(qp, i);
}

void qp_connect(struct qp *qp, const struct qp_end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = end->qpn,
		.rq_psn = end->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 5,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = { .sgid_index = qp->gid_index, .hop_limit = 64 },
		},
	};

	memcpy(attr.ah_attr.grh.dgid.raw, end->gid, 16);
	EQ(ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			 IBV_QP_MIN_RNR_TIMER), 0);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = ACK_TIMEOUT;
	attr.retry_cnt = RETRIES;
	attr.rnr_retry = RNR_RETRIES;
	attr.sq_psn = qp->psn;
	attr.max_rd_atomic = 1;
	EQ(ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

void qp_destroy(struct qp *qp)
{
	ibv_destroy_qp(qp->qp);
	ibv_dereg_mr(qp->area_mr);
	ibv_dereg_mr(qp->send_mr);
	ibv_dereg_mr(qp->recv_mr);
	ibv_destroy_cq(qp->cq);
	ibv_destroy_cq(qp->recv_cq);
	ibv_dealloc_pd(qp->pd);
	ibv_close_device(qp->ctx);
	free(qp->area);
	free(qp->send);
	free(qp->recv);
}

void qp_check_guards(const struct qp *qp)
{
	size_t i;

	for (i = 0; i < GUARD_BYTES; i++)
		if (qp->area[i] != GUARD || qp->ring[RING_BYTES + i] != GUARD)
			FAIL("the module wrote %zu bytes beside the ring",
			     qp->area[i] != GUARD ? GUARD_BYTES - i : i + 1);
}

void qp_post(struct qp *qp, const struct request *request)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)qp->send, .length = request->len, .lkey = qp->send_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = request->len ? 1 : 0, .opcode = request->opcode,
	}, *bad;

	TRUE(request->len <= SEND_BYTES);
	if (request->bytes)
		memcpy(qp->send, request->bytes, request->len);
	else
		memset(qp->send, 0, request->len);
	if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = request->addr;
		wr.wr.atomic.rkey = request->rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = request->addr;
		wr.wr.rdma.rkey = request->rkey;
	}
	EQ(ibv_post_send(qp->qp, &wr, &bad), 0);
}

enum ibv_wc_status qp_completion(struct qp *qp)
{
	long end = now_ms() + WAIT_MS;
	struct ibv_wc wc;
	int nr;

	while (!(nr = ibv_poll_cq(qp->cq, 1, &wc))) {
		if (now_ms() > end)
			FAIL("a request does not complete");
		pause_briefly();
	}
	EQ(nr, 1);
	return wc.status;
}

enum ibv_wc_status qp_do(struct qp *qp, const struct request *request)
{
	qp_post(qp, request);
	return qp_completion(qp);
}

size_t qp_received(struct qp *qp, uint8_t message[RECV_BYTES])
{
	struct ibv_wc wc;
	int nr = ibv_poll_cq(qp->recv_cq, 1, &wc);

	TRUE(nr >= 0);
	if (!nr || wc.status != IBV_WC_SUCCESS)
		return 0;
	memset(message, 0, RECV_BYTES);
	memcpy(message, qp->recv + wc.wr_id * RECV_BYTES, wc.byte_len);
	if (!qp->deaf)
		post_recv(qp, wc.wr_id);
	return wc.byte_len;
}

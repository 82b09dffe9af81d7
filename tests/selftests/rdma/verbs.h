/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attacker's RDMA port and queue pair, by libibverbs: it may post whatever it wants to, at any
 * moment.
 */
#ifndef RDMA_VERBS_H
#define RDMA_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_BYTES	65536	/* size code 2 */
#define GUARD_BYTES	4096	/* on both sides of the ring, part of its registration */
#define GUARD		0xa5
#define SEND_BYTES	65536
#define RECV_BYTES	512	/* longer than anything the module sends */
#define RECV_SLOTS	128

/**
 * struct qp - a queue pair with what it needs
 * @ctx: the device
 * @gid: address of its port
 * @gid_index: index of that address
 * @mac: of its network device
 * @pd: protection domain
 * @cq: of what was sent
 * @recv_cq: of what was received
 * @qp: queue pair
 * @psn: first packet number of this side
 * @area: a guard, the ring, a guard
 * @area_mr: registration of @area, which the module may write to
 * @ring: where the module writes
 * @send: what is sent or written
 * @send_mr: registration of @send
 * @recv: what was received
 * @recv_mr: registration of @recv
 * @deaf: nothing more can be received
 */
struct qp {
	struct ibv_context *ctx;
	union ibv_gid gid;
	int gid_index;
	uint8_t mac[6];
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_cq *recv_cq;
	struct ibv_qp *qp;
	uint32_t psn;
	uint8_t *area;
	struct ibv_mr *area_mr;
	uint8_t *ring;
	uint8_t *send;
	struct ibv_mr *send_mr;
	uint8_t *recv;
	struct ibv_mr *recv_mr;
	bool deaf;
};

/* The other end of it */
struct qp_end {
	uint8_t gid[16];
	uint32_t qpn;
	uint32_t psn;
};

void qp_create(struct qp *qp, bool deaf);		/* deaf: it can receive nothing */
void qp_connect(struct qp *qp, const struct qp_end *end);	/* may receive, and send */
void qp_destroy(struct qp *qp);
void qp_check_guards(const struct qp *qp);

/**
 * struct request - what is posted
 * @opcode: of libibverbs
 * @bytes: what is sent or written; NULL: zeros
 * @len: how many
 * @addr: where to, in the other's memory
 * @rkey: its key
 */
struct request {
	enum ibv_wr_opcode opcode;
	const void *bytes;
	size_t len;
	uint64_t addr;
	uint32_t rkey;
};

/* Posts it and waits for its completion; IBV_WC_SUCCESS, or why not */
enum ibv_wc_status qp_do(struct qp *qp, const struct request *request);
void qp_post(struct qp *qp, const struct request *request);	/* does not wait */
enum ibv_wc_status qp_completion(struct qp *qp);		/* of one of those */

/* Takes the next message that has come in. Return: its length, 0: there is none */
size_t qp_received(struct qp *qp, uint8_t message[RECV_BYTES]);

#endif /* RDMA_VERBS_H */

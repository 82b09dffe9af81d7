/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two link groups that are connected: the server's and the client's, each with the real code of
 * link layer control.
 *
 *	world.c		time, ports and wires, what happens next, what must always hold
 *	adapter.c	links and their queue pairs, in place of link.c, send.c and recv.c
 *	rmb.c		RMBs, in place of memory.c
 *	end.c		one end's group, in place of group.c and conn.c
 *
 * Messages of one link arrive in order. The adapter acknowledges them before software sees them.
 * Everything takes a random time, which the seed determines.
 */
#ifndef _TESTS_UNIT_LLC_WORLD_H
#define _TESTS_UNIT_LLC_WORLD_H

#include "kernel.h"

#include "net.h"
#include "rdma/conn.h"
#include "rdma/device.h"
#include "rdma/group.h"
#include "rdma/paths.h"
#include "trace.h"

enum { SERVER, CLIENT, ENDS };

#define PORTS		3
#define RETRY_TIME	3800	/* of an adapter, in ms */
#define HEALTHY_TIME	10000	/* after that a port that was cut leaves no trace, in ms */

/**
 * struct setup - what a world begins with
 * @version: of SMC-R
 * @ports: number of ports, by end
 * @lan: each port reaches each port of the other end; otherwise only the one with its number
 * @seed: of random numbers
 */
struct setup {
	u8 version;
	u8 ports[ENDS];
	bool lan;
	unsigned int seed;
};

/* A request in a send queue, or a message that has arrived */
struct request {
	struct list_head list;
	bool is_registration;
	bool is_long;
	u32 end;		/* link->tail when it is complete */
	unsigned long posted;
	unsigned long at;	/* next try, or when software sees it */
	size_t len;
	u8 bytes[];
};

struct queue_pair {
	struct ib_qp qp;
	struct smcr_link *link;
	u32 peer;		/* number of the peer's; 0 before RTR */
	bool failed;		/* retries are used up */
	struct list_head sends;
	struct list_head arrived;
};

struct port {
	struct smcr_gid gid;
	bool up;
	bool is_told;		/* software knows @up */
	unsigned long told_at;
	unsigned long up_since;
	unsigned long held_until;	/* software sees no message before */
};

struct end {
	struct smcr_group rg;
	struct smc_group group;
	struct smc_net net;
	struct smc_stats stats;
	struct port ports[PORTS];
	struct queue_pair qps[SMCR_LINKS];
	unsigned long slowest_work;	/* of the group's work, in ms */
	unsigned long slowest_message;	/* until software sees a message, in ms */
	bool has_outcome;
	u32 outcome;
};

struct world {
	struct setup setup;
	struct end ends[ENDS];
	u64 random;
	u32 last_number;	/* of queue pairs, keys and addresses */
	bool is_verbose;
	unsigned int faults;
	char problem[256];	/* the first thing that must not happen */
};

extern struct world world;

/* world.c */
void world_start(const struct setup *setup);
void world_end(void);
void world_run(unsigned long ms);
bool world_run_until(bool (*condition)(void), unsigned long ms);
unsigned long world_random(unsigned long below);
void world_cut(unsigned int end, unsigned int port);
void world_restore(unsigned int end, unsigned int port);
void world_hold(unsigned int end, unsigned int port, unsigned long ms);
void world_check_keys(void);
bool world_is_quiet(void);
void world_check_quiet(void);
bool world_has_path(const struct queue_pair *qp);
bool world_works(const struct queue_pair *qp);
const char *world_name(const struct smcr_group *rg);
void world_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));
void world_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline struct end *end_of(const struct smcr_group *rg)
{
	return container_of(rg, struct end, rg);
}

static inline unsigned int end_index(const struct end *end)
{
	return end - world.ends;
}

/* adapter.c */
struct queue_pair *adapter_peer(const struct queue_pair *qp);
bool adapter_is_up(const struct queue_pair *qp);
bool adapter_next(struct queue_pair *qp, unsigned long *at);
void adapter_step(struct queue_pair *qp);
void adapter_clear(struct smcr_link *link);

/* rmb.c */
struct smcr_rmb *rmb_create(struct smcr_group *rg);
void rmb_announce(struct smcr_group *rg);
bool rmb_release(struct smcr_group *rg);
void rmb_forget_link(struct smcr_link *link);
void rmb_free_all(struct smcr_group *rg);

/* end.c */
void end_start(struct end *end, enum smc_role role);
void end_meet(void);
void end_stop(struct end *end);
unsigned int end_links(unsigned int end);

#endif /* _TESTS_UNIT_LLC_WORLD_H */

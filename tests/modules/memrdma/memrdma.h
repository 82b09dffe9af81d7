/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An RDMA provider for tests, whose queue pairs copy from memory to memory within one kernel. See
 * README.rst for what it can do wrong on command.
 *
 * Contexts: process and softirq, never interrupts; callers must not have interrupts disabled.
 *
 * Locks, outermost first: send_lock of a queue pair, recv_lock of a queue pair (of the one that is
 * written to), lock of a memory region, parked_lock of a queue pair, lock of a completion queue;
 * fault_lock of a device is taken below any of them. No two locks of one kind are held at once.
 *
 * A queue pair finds the other one by its number, under RCU: destruction takes the number back,
 * then waits for a grace period. A memory region is found in the same way, but is looked at with
 * its lock only, so its memory is left alone as soon as it has been invalidated.
 */
#ifndef MEMRDMA_H
#define MEMRDMA_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#define MEMRDMA_MAX_PORTS	8
#define MEMRDMA_MAX_SGE		16
#define MEMRDMA_MAX_INLINE	(MEMRDMA_MAX_SGE * sizeof(struct ib_sge))
#define MEMRDMA_LOCAL_KEY	0	/* of all memory; other keys are never 0 */

/* What the adapter can do at most; module parameters when the device is made */
struct memrdma_limits {
	unsigned int max_qp;
	unsigned int max_qp_wr;
	unsigned int max_cqe;
	unsigned int max_mr;
	unsigned int max_pages;
	unsigned int max_send_sge;
	unsigned int max_recv_sge;
	unsigned int max_inline;
	unsigned int roce;	/* bits: 1 for version 1, 2 for version 2 */
	unsigned int max_mtu;	/* bytes */
	unsigned int gids;	/* per port */
	bool bounce;		/* addresses are those of the DMA interface */
};

/* Something that goes wrong @count times (negative: always) once it has gone right @after times */
struct memrdma_fault {
	int after;
	int count;
};

enum memrdma_verb {
	MEMRDMA_ALLOC_PD,
	MEMRDMA_CREATE_CQ,
	MEMRDMA_CREATE_QP,
	MEMRDMA_MODIFY_QP,
	MEMRDMA_POST_SEND,
	MEMRDMA_POST_RECV,
	MEMRDMA_ALLOC_MR,
	MEMRDMA_MAP_MR,
	MEMRDMA_QUERY_PORT,
	NR_MEMRDMA_VERBS,
};

enum memrdma_count {
	MEMRDMA_REQUESTS,	/* which were executed */
	MEMRDMA_LOST_REQUESTS,
	MEMRDMA_LOST_ACKS,
	MEMRDMA_RETRIES,
	MEMRDMA_RNR,
	MEMRDMA_FAILED,		/* work requests that ended with an error of their own */
	MEMRDMA_PARKED,		/* completions that were held back */
	NR_MEMRDMA_COUNTS,
};

struct memrdma_port {
	struct memrdma_dev *dev;
	struct net_device *ndev;	/* holds a reference */
	u32 number;
	bool up;		/* what was told last */
	bool is_down;		/* by command */
	int wire;		/* what is connected to what */
	bool faulty;		/* any of the following is set */
	struct memrdma_fault lose_requests;
	struct memrdma_fault lose_acks;
	struct memrdma_fault fail_wr;
	int fail_status;	/* enum ib_wc_status for fail_wr */
	int lose_permille;	/* of requests and, apart, of acknowledgements, at random */
	int delay_us;		/* before a request is executed */
	int completion_us;	/* before a completion is seen */
	int shuffle_us;		/* the same, at random, up to this */
	int hold;		/* completions are not seen until this is 0 */
	atomic_long_t counts[NR_MEMRDMA_COUNTS];
	bool hears_nothing;	/* neighbours are held back */
	struct sk_buff_head heard;
};

struct memrdma_dev {
	struct ib_device ibdev;		/* first: ib_alloc_device() */
	struct list_head list;		/* device.c */
	struct memrdma_limits limits;
	struct memrdma_port *ports;
	u32 nr_ports;
	bool is_dead;			/* by command */
	int verb_ms;			/* how slow commands are */
	spinlock_t fault_lock;		/* protects the faults, and the following */
	struct rnd_state random;
	struct memrdma_fault verbs[NR_MEMRDMA_VERBS];
	int verb_errno;
	bool verbs_faulty;
	atomic_t nr_qps;
	atomic_t nr_mrs;
};

struct memrdma_pd {
	struct ib_pd ibpd;		/* first */
};

struct memrdma_cqe {
	struct ib_wc wc;
	u32 sent_end;		/* slots that are free once this was polled */
	bool is_send;
	bool solicited;
};

struct memrdma_cq {
	struct ib_cq ibcq;		/* first */
	spinlock_t lock;		/* protects all but the tasklet */
	struct memrdma_cqe *entries;
	u32 size;
	u32 head;
	u32 tail;
	bool armed;
	bool armed_solicited;
	struct tasklet_struct tasklet;
};

struct memrdma_parked {
	struct memrdma_cqe entry;
	struct memrdma_cq *cq;
	ktime_t due;
};

struct memrdma_send {
	struct ib_cqe *cqe;
	enum ib_wr_opcode opcode;
	int flags;
	int num_sge;		/* 0 with inline data */
	u32 bytes;
	u64 remote_addr;
	u32 rkey;		/* also the key that is registered or invalidated */
	__be32 imm;
	struct memrdma_mr *mr;
	int access;
	union {
		struct ib_sge sge[MEMRDMA_MAX_SGE];
		u8 inline_data[MEMRDMA_MAX_INLINE];
	};
};

struct memrdma_recv {
	struct ib_cqe *cqe;
	int num_sge;
	struct ib_sge sge[MEMRDMA_MAX_SGE];
};

/* Why the send queue waits */
enum memrdma_wait {
	MEMRDMA_WAIT_NOTHING,
	MEMRDMA_WAIT_DELAY,
	MEMRDMA_WAIT_ACK,
	MEMRDMA_WAIT_RNR,
};

struct memrdma_qp {
	struct ib_qp ibqp;		/* first */
	struct memrdma_dev *dev;
	struct memrdma_port *port;	/* NULL before INIT */
	enum ib_qp_state state;		/* both locks to write, any of them to read */
	struct ib_qp_cap cap;
	bool signal_all;
	struct ib_qp_attr attr;		/* as it was set; both locks to write */
	union ib_gid sgid;
	enum ib_gid_type gid_type;
	u16 vlan;
	u8 smac[ETH_ALEN];

	spinlock_t send_lock;		/* protects what follows */
	struct memrdma_send *sends;
	u32 nr_sends;			/* a power of two, as those below */
	u32 head;			/* the next to be posted */
	u32 sent;			/* the next to be executed */
	u32 acked;			/* the next to be completed */
	u32 reclaimed;			/* slots before it are free; lock of the queue */
	bool stalled;			/* requests wait for the timer */
	enum memrdma_wait waits_for;
	u32 retries;
	u32 rnr_retries;
	struct hrtimer timer;

	spinlock_t recv_lock;		/* protects what follows */
	struct memrdma_recv *recvs;
	u32 nr_recvs;
	u32 recv_head;
	u32 recv_tail;
	bool refuses;			/* a request was wrong: @work takes it to ERR */
	enum ib_event_type event;
	struct work_struct work;

	spinlock_t parked_lock;		/* protects what follows */
	struct memrdma_parked *parked;
	u32 nr_parked;			/* entries there can be */
	u32 parked_head;
	u32 parked_tail;
	struct hrtimer parked_timer;
};

struct memrdma_mr {
	struct ib_mr ibmr;		/* first; the driver allocates it */
	spinlock_t lock;		/* protects what follows */
	bool valid;
	u32 key;			/* as registered */
	int access;
	u64 iova;
	u64 bytes;
	u64 *pages;
	u32 nr_pages;
	u32 max_pages;
	struct rcu_head rcu;
};

static inline struct memrdma_dev *memrdma_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct memrdma_dev, ibdev);
}

static inline struct memrdma_qp *memrdma_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct memrdma_qp, ibqp);
}

static inline struct memrdma_cq *memrdma_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct memrdma_cq, ibcq);
}

static inline struct memrdma_mr *memrdma_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct memrdma_mr, ibmr);
}

static inline void memrdma_count(struct memrdma_port *port, enum memrdma_count what)
{
	atomic_long_inc(&port->counts[what]);
}

/* device.c */
extern struct memrdma_limits memrdma_limits;
int memrdma_device_add(const char *name, struct net_device **ndev, u32 nr_ports);
struct memrdma_dev *memrdma_device_get(const char *name);
int memrdma_device_show(char *buffer);
void memrdma_port_update(struct memrdma_port *port);
int memrdma_device_init(void);
void memrdma_device_exit(void);

/* control.c */
int memrdma_control(const char *text);

/* fault.c */
extern const char * const memrdma_verb_names[NR_MEMRDMA_VERBS];
bool memrdma_fault_due(struct memrdma_port *port, struct memrdma_fault *fault);
bool memrdma_fault_random(struct memrdma_port *port);
u32 memrdma_random_below(struct memrdma_dev *dev, u32 end);
int memrdma_verb(struct ib_device *ibdev, enum memrdma_verb verb);
int memrdma_hold_neighbours(struct memrdma_port *port, bool hold);

/* cq.c */
int memrdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr);
int memrdma_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int memrdma_poll_cq(struct ib_cq *ibcq, int nr, struct ib_wc *wc);
int memrdma_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void memrdma_complete(struct memrdma_qp *qp, struct ib_cq *ibcq, const struct memrdma_cqe *entry);
void memrdma_release_parked(struct memrdma_qp *qp);
void memrdma_purge(struct memrdma_qp *qp);
enum hrtimer_restart memrdma_parked_expired(struct hrtimer *timer);

/* qp.c */
int memrdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int memrdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata);
int memrdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init);
int memrdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
struct memrdma_qp *memrdma_qp_find(u32 number);
void memrdma_qp_for_each(void (*look)(struct memrdma_qp *qp, void *context), void *context);
void memrdma_qp_fail(struct memrdma_qp *qp);
void memrdma_qp_exit(void);

/* queue.c */
int memrdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad);
int memrdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);
void memrdma_send_done(struct memrdma_qp *qp, enum ib_wc_status status);
void memrdma_flush_sends(struct memrdma_qp *qp);
void memrdma_flush_recvs(struct memrdma_qp *qp);

/* wire.c */
void memrdma_run(struct memrdma_qp *qp);
enum hrtimer_restart memrdma_timer_expired(struct hrtimer *timer);

/* memory.c */
void *memrdma_pointer(struct memrdma_dev *dev, u64 addr);
struct ib_mr *memrdma_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *memrdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 addr, int access,
				  struct ib_udata *udata);
struct ib_mr *memrdma_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg);
int memrdma_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
int memrdma_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
bool memrdma_mr_register(struct memrdma_qp *qp, const struct memrdma_send *send);
bool memrdma_mr_invalidate(struct ib_pd *pd, u32 key);
struct memrdma_mr *memrdma_mr_lock(struct ib_pd *pd, u32 key, u64 addr, u32 bytes);
void memrdma_mr_unlock(struct memrdma_mr *mr);
void memrdma_mr_write(struct memrdma_mr *mr, u64 addr, const void *from, u32 bytes);
void memrdma_memory_exit(void);

#endif

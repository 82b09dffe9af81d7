/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An SMC socket is a TCP socket to which the module adds, for a limited time, a table of
 * operations, a struct smc_sock, and in SMC mode a struct proto. See Documentation/one-socket.rst.
 */
#ifndef _NET_SMC_SOCK_SOCK_H
#define _NET_SMC_SOCK_SOCK_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <net/inet_sock.h>
#include <net/tcp_states.h>
#include <net/sock.h>

#include "../conn/conn.h"
#include "../handshake/handshake.h"
#include "../listed.h"
#include "driver.h"

/**
 * enum smc_sock_state - what the socket is
 * @SMC_SOCK_INIT: not connected
 * @SMC_SOCK_LISTEN: listening
 * @SMC_SOCK_INCOMING: child of a listening socket; TCP is connected
 * @SMC_SOCK_CONNECTING: TCP is connecting
 * @SMC_SOCK_HANDSHAKE: the CLC handshake is under way
 * @SMC_SOCK_ACTIVE: an SMC connection; what is left of it tells conn.state
 * @SMC_SOCK_WAITING: an SMC connection that its program has closed, and not yet its peer
 * @SMC_SOCK_ORPHANED: the same, but the sock is closed, too, and does without this
 * @SMC_SOCK_FALLBACK: a TCP connection; a child that was not accepted yet
 * @SMC_SOCK_CLOSED: the sock does without this
 */
enum smc_sock_state {
	SMC_SOCK_INIT,
	SMC_SOCK_LISTEN,
	SMC_SOCK_INCOMING,
	SMC_SOCK_CONNECTING,
	SMC_SOCK_HANDSHAKE,
	SMC_SOCK_ACTIVE,
	SMC_SOCK_WAITING,
	SMC_SOCK_ORPHANED,
	SMC_SOCK_FALLBACK,
	SMC_SOCK_CLOSED,
};

/**
 * struct smc_acceptor - an accept() call that waits
 * @list: in smc_accept_queue.acceptors
 * @wait: how to wake it
 */
struct smc_acceptor {
	struct list_head list;
	wait_queue_entry_t wait;
};

/**
 * struct smc_accept_queue - children of a listening socket
 * @intake: held while accept() or a kworker takes children from TCP's queue, or takes steps of
 *	children; never inside of a socket lock. A kworker does not wait for it
 * @lock: protects the lists, @ended, @nr, @serial and @parked; interrupts are off, because TCP
 *	wakes smc_sock.wq with interrupts off
 * @ended: the socket does not listen any more: no child may be added
 * @children: all, in handshake or ready; each holds its place until accepted, if not parked
 * @ready: those that accept() can return, the oldest first
 * @news: those that accept() is to look at
 * @incoming: there may be children in TCP's queue; also written without @lock
 * @acceptors: accept() calls that wait
 * @blocking: accept() takes the steps itself. Set when an event finds an accept() call that waits;
 *	cleared by poll() and by smc_intake_overdue(), without @lock
 * @nr: number of @children
 * @serial: how many there ever were
 * @parked: how many of them are parked: without a place in TCP's backlog
 */
struct smc_accept_queue {
	struct mutex intake;	/* see above */
	spinlock_t lock;	/* see above */
	bool ended;
	struct list_head children;
	struct list_head ready;
	struct list_head news;
	bool incoming;
	struct list_head acceptors;
	bool blocking;
	unsigned int nr;
	u32 serial;
	unsigned int parked;
};

/**
 * struct smc_sock - what a TCP socket has that is on its way to SMC, or there
 * @conn: the connection; its references are those of this struct
 * @account: conn.account
 * @wq: where TCP wakes us, while it is attached
 * @entry: in @wq
 * @hs: the handshake, while one is under way
 * @state: what the socket is
 * @driver: struct smc_driver_state, packed; changed by smc_sock_drive() only
 * @callers: system calls that wait for the end of the handshake
 * @work: the next look
 * @caller_work: in the list of the task that runs the work in place of a kworker
 * @is_collected: bit 0: it is in such a list; see caller_work.c
 * @patience: jiffies until @work comes again, while a program owns the socket; without a lock: a
 *	kworker and a task in connect() change it
 * @is_attached: TCP wakes us
 * @owns_sk: there is no struct socket: the sock is ours to close
 * @users: the socket while it is active, and system calls inside of @conn: the last one releases it
 * @rcvlowat: SO_RCVLOWAT of the program, while the handshake has its own
 * @limit_handshake: SOL_SMC/SMC_LIMIT_HS
 * @quiet: TCP delays its acknowledgements for us, and not for the user
 * @stamp_ids: SOF_TIMESTAMPING_OPT_ID was set when that was looked at last
 * @stamp_from: position from which such stamps count
 * @queue: children of a listening socket
 * @listener: parent of a child which was not accepted yet; holds a reference.
 *	Looked at under RCU by events
 * @child: in smc_accept_queue.children
 * @ready: in smc_accept_queue.ready
 * @news: in smc_accept_queue.news
 * @serial: smc_accept_queue.serial when TCP had accepted it; constant
 * @parked: silent in the handshake, and counted in smc_accept_queue.parked
 * @reason: enum smc_reason, when it falls back
 * @peer_diagnosis: what the peer's Decline said then
 * @listed: in smc_net.socks, see list.c
 * @rcu: frees it
 *
 * Protected by the socket lock, unless said otherwise; @child, @ready, @news and @parked by the
 * listener's queue lock, @caller_work by smc_collectors.lock, @listed by smc_net.socks_lock.
 */
struct smc_sock {
	struct smc_conn conn;
	struct sock account;
	struct socket_wq wq;
	wait_queue_entry_t entry;
	struct smc_handshake *hs;
	enum smc_sock_state state;
	atomic_t driver;
	wait_queue_head_t callers;
	struct delayed_work work;
	struct list_head caller_work;
	unsigned long is_collected;
	unsigned long patience;
	bool is_attached;
	bool owns_sk;
	refcount_t users;
	int rcvlowat;
	bool limit_handshake;
	bool quiet;
	bool stamp_ids;
	u32 stamp_from;
	struct smc_accept_queue queue;
	struct smc_sock *listener;
	struct list_head child;
	struct list_head ready;
	struct list_head news;
	u32 serial;
	bool parked;
	u32 reason;
	u32 peer_diagnosis;
	struct smc_listed listed;
	struct rcu_head rcu;
};

/* For the peer's answer to an abort, or an abort of the peer to follow a RST */
#define SMC_ABORT_TIMEOUT	(2 * HZ)

static inline struct smc_sock *smc_of(const struct smc_conn *conn)
{
	return container_of(conn, struct smc_sock, conn);
}

/* A bit of socket_wq.flags, whose lowest bits are the kernel's. It marks smc_sock.wq */
#define SMC_WQ_IS_OURS	BIT(BITS_PER_LONG - 1)

/**
 * smc_sk() - what of ours is attached to a TCP socket
 * @sk: the sock; locked, or the caller is in an RCU read-side critical section
 *
 * Kernel services overwrite sk_user_data without a look; sk_wq is nobody else's to change.
 *
 * Return: that, or NULL.
 */
static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	struct socket_wq *wq = rcu_dereference_check(sk->sk_wq, lockdep_sock_is_held(sk));

	if (likely(wq && READ_ONCE(wq->flags) & SMC_WQ_IS_OURS))
		return container_of(wq, struct smc_sock, wq);
	return NULL;
}

/* sk_data_ready of a TCP sock that nobody has taken: the same for all. See take_tables() */
extern void (*smc_tcp_data_ready)(struct sock *sk);

/*
 * Has a kernel service taken the sock over? It waits for this callback, which only TCP calls. Any
 * context.
 */
static inline bool smc_sock_is_taken(const struct sock *sk)
{
	return READ_ONCE(sk->sk_data_ready) != smc_tcp_data_ready;
}

/* The only way to change the state. The socket lock is held. */
static inline void smc_sock_set_state(struct smc_sock *smc, enum smc_sock_state state)
{
	/* Whoever sees the new state without the lock, sees what led to it */
	smp_store_release(&smc->state, state);
}

/* For those who do not hold the socket lock. Any context. */
static inline enum smc_sock_state smc_sock_state(const struct smc_sock *smc)
{
	/* Paired with smc_sock_set_state() */
	return smp_load_acquire(&smc->state);
}

/*
 * A call is inside of the connection, whose memory stays until it leaves. Its state is
 * SMC_SOCK_ACTIVE; the socket lock, or its spin lock, is held.
 */
static inline void smc_sock_enter(struct smc_sock *smc)
{
	refcount_inc(&smc->users);
	smc_conn_get(&smc->conn);
}

/* Is connect() under way? Any context. */
static inline bool smc_connect_under_way(const struct smc_sock *smc)
{
	enum smc_sock_state state = READ_ONCE(smc->state);

	return state == SMC_SOCK_CONNECTING || state == SMC_SOCK_HANDSHAKE;
}

/* smc_sock.c */
struct smc_sock *smc_sock_create(struct sock *sk, gfp_t gfp);
int smc_sock_attach(struct smc_sock *smc);
void smc_sock_free_user_data(struct smc_sock *smc);
void smc_sock_detach(struct smc_sock *smc);
void smc_sock_leave(struct smc_sock *smc);
void smc_sock_exit_call(struct smc_sock *smc);
void smc_sock_set_socket(struct smc_sock *smc, struct socket *sock);
bool smc_sock_is_driven_by_caller(const struct smc_sock *smc);
bool smc_sock_has_news(const struct smc_sock *smc);
enum smc_driver_action smc_sock_drive(struct smc_sock *smc, enum smc_driver_event event);
void smc_sock_news(struct smc_sock *smc);
void smc_sock_queue_work(struct smc_sock *smc, unsigned long delay);
bool smc_sock_look(struct smc_sock *smc);
void smc_sock_run_work(struct smc_sock *smc);
int smc_sock_init(void);
void smc_sock_exit(void);

/* tables.c */
const struct proto_ops *smc_ops_of_tcp(const struct sock *sk);
const struct proto_ops *smc_ops_of_ours(const struct sock *sk);
bool smc_ops_are_ours(const struct socket *sock);
void smc_ops_to_tcp(struct socket *sock);
void smc_prot_to_smc(struct sock *sk);
void smc_prot_to_tcp(struct sock *sk);
void smc_call_enter(void);
void smc_call_leave(void);
bool smc_call_begin(void);
void smc_call_end(bool has_module);
int smc_tables_init(void);
void smc_tables_exit(void);
struct proto *smc_creating_prot(int family);
const struct proto_ops *smc_ops(int family);

/* create.c */
int smc_create_init(void);
void smc_create_register(void);
void smc_create_unregister(void);
void smc_create_exit(void);

/* option.c */
void smc_option_offer(struct smc_sock *smc);
void smc_option_delay_acks(struct smc_sock *smc);
void smc_option_withdraw(struct smc_sock *smc);
void smc_option_disown(struct sock *sk);
void smc_option_adopt(struct sock *sk);
void smc_option_disown_children(struct smc_sock *listener, bool survive);
void smc_option_left_behind(const struct smc_sock *listener);

/* connect.c */
int smc_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags);
enum smc_outcome smc_connect_begin(struct smc_sock *smc);
void smc_connect_progress(struct smc_sock *smc);
int smc_connect_wait(struct smc_sock *smc, long timeo);
void smc_connect_cancel(struct smc_sock *smc, int error);

/* accept.c */
int smc_listen(struct socket *sock, int backlog);
int smc_accept_wait(struct socket *sock, struct socket *newsock, int flags);
unsigned long smc_accept_pending(struct smc_sock *smc);
void smc_accept_child_done(struct smc_sock *child, enum smc_outcome outcome);
bool smc_accept_add(struct smc_sock *listener, struct smc_sock *child);
bool smc_accept_delist(struct smc_sock *listener, struct smc_sock *child);
void smc_accept_part(struct smc_sock *listener, struct smc_sock *child);
void smc_accept_init(struct smc_sock *smc);
void smc_accept_end(struct smc_sock *listener);
void smc_accept_hand_over(struct smc_sock *listener);

/* Was TCP made to listen no more by somebody else (ss -K)? Any context. */
static inline bool smc_accept_is_killed(const struct smc_sock *smc)
{
	return READ_ONCE(smc->state) == SMC_SOCK_LISTEN &&
	       inet_sk_state_load(smc->conn.sk) != TCP_LISTEN;
}

/* Does it no longer listen for SMC (killed, or taken)? The next look ends it. Any context. */
static inline bool smc_accept_is_over(const struct smc_sock *smc)
{
	return smc_accept_is_killed(smc) || smc_sock_is_taken(smc->conn.sk);
}

/* Would accept() return a socket? Any context. */
static inline bool smc_accept_ready(const struct smc_sock *listener)
{
	return !list_empty_careful(&listener->queue.ready);
}

/* Does accept() have something to do before it can return a socket? Any context. */
static inline bool smc_accept_has_steps(const struct smc_sock *listener)
{
	const struct smc_accept_queue *q = &listener->queue;

	return READ_ONCE(q->incoming) || !list_empty_careful(&q->news);
}

/* intake.c */
bool smc_intake_is_for_accept(const struct smc_sock *smc);
bool smc_intake_tell(struct smc_sock *smc);
void smc_intake_overdue(struct smc_sock *listener);
int smc_intake_steps(struct smc_sock *listener);
void smc_intake_work(struct smc_sock *listener);

/* close.c */
int smc_release(struct socket *sock);
void smc_close_sock(struct sock *sk, bool reset);
void smc_close_child(struct smc_sock *child);
void smc_close_if_over(struct smc_sock *smc);
void smc_close_progress(struct smc_sock *smc);
bool smc_close_is_over(struct smc_sock *smc);
void smc_close_disconnect(struct smc_sock *smc);
void smc_close_reset_tcp(struct smc_sock *smc, int error);

/* io.c */
int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
__poll_t smc_poll(struct file *file, struct socket *sock, struct poll_table_struct *wait);
int smc_shutdown(struct socket *sock, int how);

/* ioctl.c */
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int smc_ioctl_amount(struct smc_sock *smc, unsigned int cmd);

/* ancillary.c */
void smc_ancillary_received(struct smc_sock *smc, struct msghdr *msg, bool bytes);
int smc_ancillary_prepare(struct smc_sock *smc, struct msghdr *msg);
void smc_ancillary_sent(struct smc_sock *smc, int stamps);

/* sockopt.c */
int smc_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
		   unsigned int optlen);
int smc_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
		   int __user *optlen);
int smc_set_rcvlowat(struct sock *sk, int value);
void smc_sockopt_nagle(struct smc_sock *smc);

/* fallback.c */
void smc_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis);
void smc_fallback_unconnected(struct socket *sock, u32 reason);

#endif /* _NET_SMC_SOCK_SOCK_H */

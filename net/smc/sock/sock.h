/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An SMC socket is a TCP socket to which the module adds, for a limited time, a table of
 * operations, a struct smc_sock, and in SMC mode a struct proto. See Documentation/one-socket.rst.
 */
#ifndef _NET_SMC_SOCK_SOCK_H
#define _NET_SMC_SOCK_SOCK_H

#include <linux/net.h>
#include <net/inet_sock.h>
#include <net/tcp_states.h>
#include <net/sock.h>

#include "../conn/conn.h"
#include "../handshake/handshake.h"
#include "../listed.h"
#include "stepper.h"

struct smc_accept_queue;

/**
 * enum smc_sock_state - what the socket is
 * @SMC_SOCK_INIT: not connected
 * @SMC_SOCK_LISTEN: listening
 * @SMC_SOCK_INCOMING: child of a listening socket; TCP is connected
 * @SMC_SOCK_CONNECTING: TCP is connecting
 * @SMC_SOCK_HANDSHAKE: the CLC handshake is under way
 * @SMC_SOCK_ACTIVE: an SMC connection, in the state conn.state
 * @SMC_SOCK_WAITING: an SMC connection that the program has closed and the peer has not; the sock
 *	is open
 * @SMC_SOCK_ORPHANED: the same, but the sock is closed and does not use this struct any more
 * @SMC_SOCK_FALLBACK: a TCP connection; a child that accept() has not returned yet
 * @SMC_SOCK_CLOSED: the sock does not use this struct any more
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
 * struct smc_sock - what the module keeps for a TCP socket that is, or may become, an SMC socket
 * @conn: the connection; its reference count is that of this struct
 * @wq: sk_wq of the sock while it is attached: TCP wakes this queue
 * @entry: the only entry of @wq
 * @hs: the handshake, or NULL
 * @state: what the socket is
 * @stepper: struct smc_stepper_state, packed; smc_sock_change_stepper() alone changes it
 * @callers: system calls that wait for the end of the handshake
 * @work: takes the next step in a kworker
 * @retry_delay: jiffies until @work runs again while a program owns the socket; only @work changes
 *	it
 * @is_attached: sk_wq of the sock is @wq
 * @owns_sk: there is no struct socket: the module closes the sock
 * @has_waited: the timeout after close() was extended once
 * @users: the active socket, and system calls in @conn; the last user releases the memory of @conn
 * @rcvlowat: SO_RCVLOWAT of the program during the handshake, else 0
 * @limit_handshake: SOL_SMC/SMC_LIMIT_HS
 * @may_offer: client, at the first step: the server is probably in this kernel
 * @stepped_by_client: child, at the first step: the client's connect() takes the steps
 * @is_syn_unanswered: no answer to a client's SYNs came in time; the next ones have no option
 * @delays_acks: the module has made TCP delay its acknowledgements
 * @stamp_ids: SOF_TIMESTAMPING_OPT_ID was set when a send call read sk_tsflags last
 * @destination: of a client, smc_destination_hash()
 * @stamp_from: position in the stream where the numbers of these stamps begin
 * @queue: children of a socket that listens, is about to, or has; constant from then on; else NULL
 * @listener: parent of a child that accept() has not returned yet, with a reference. Events read it
 *	under RCU
 * @child: in smc_accept_queue.children
 * @ready: in smc_accept_queue.ready
 * @due: in smc_accept_queue.due
 * @serial: smc_accept_queue.serial when TCP had accepted the child, or when data came for which it
 *	was deferred
 * @parked: the child is counted in smc_accept_queue.parked
 * @is_gone: the child is counted in smc_accept_queue.gone
 * @silent_since: jiffies when the peer of a parked child became silent
 * @reason: enum smc_reason of the fallback. A child has it from the beginning if the SYNs are the
 *	reason
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 * @listed: in smc_net.socks, see list.c
 * @rcu: ends the struct, and later frees the memory, if a device has held that for longer
 *
 * The socket lock protects all fields but these: the lock of the listener's queue protects @child,
 * @ready, @due, @serial, @parked, @is_gone and @silent_since; smc_conn.lock protects @has_waited;
 * smc_net.socks_lock protects @listed.
 */
struct smc_sock {
	struct smc_conn conn;
	struct socket_wq wq;
	wait_queue_entry_t entry;
	struct smc_handshake *hs;
	enum smc_sock_state state;
	atomic_t stepper;
	wait_queue_head_t callers;
	struct delayed_work work;
	unsigned long retry_delay;
	bool is_attached;
	bool owns_sk;
	bool has_waited;
	refcount_t users;
	int rcvlowat;
	bool limit_handshake;
	bool may_offer;
	bool stepped_by_client;
	bool is_syn_unanswered;
	bool delays_acks;
	bool stamp_ids;
	u32 destination;
	u32 stamp_from;
	struct smc_accept_queue *queue;
	struct smc_sock *listener;
	struct list_head child;
	struct rb_node ready;
	struct list_head due;
	u32 serial;
	bool parked;
	bool is_gone;
	unsigned long silent_since;
	u32 reason;
	u32 peer_diagnosis;
	struct smc_listed listed;
	struct rcu_head rcu;
};

static inline struct smc_sock *smc_sock_of(const struct smc_conn *conn)
{
	return container_of(conn, struct smc_sock, conn);
}

/* Marks smc_sock.wq in socket_wq.flags. The kernel uses the lowest bits. */
#define SMC_WQ_IS_OURS	BIT(BITS_PER_LONG - 1)

/*
 * The struct smc_sock that is attached to a TCP socket, or NULL. The caller holds the socket lock,
 * or is in an RCU read-side critical section.
 *
 * Kernel services overwrite sk_user_data without a test, so it cannot point to the struct. No other
 * subsystem changes sk_wq.
 */
static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	struct socket_wq *wq = rcu_dereference_check(sk->sk_wq, lockdep_sock_is_held(sk));

	if (likely(wq && READ_ONCE(wq->flags) & SMC_WQ_IS_OURS))
		return container_of(wq, struct smc_sock, wq);
	return NULL;
}

/* sk_data_ready of all TCP socks that no kernel service has taken; see fill_tables() */
extern void (*smc_tcp_data_ready)(struct sock *sk);

/*
 * Has a kernel service taken the sock? It replaces this callback, and waits until TCP calls it. Any
 * context.
 */
static inline bool smc_sock_is_taken(const struct sock *sk)
{
	return READ_ONCE(sk->sk_data_ready) != smc_tcp_data_ready;
}

/* Every change of the state goes through this function. The socket lock is held. */
static inline void smc_sock_set_state(struct smc_sock *smc, enum smc_sock_state state)
{
	/* A reader without the lock sees what led to the new state */
	smp_store_release(&smc->state, state);
}

/* The state, for a caller without the socket lock. Any context. */
static inline enum smc_sock_state smc_sock_state(const struct smc_sock *smc)
{
	/* Paired with smc_sock_set_state() */
	return smp_load_acquire(&smc->state);
}

/*
 * A call enters the connection: its memory stays until smc_sock_exit_call(). The state is
 * SMC_SOCK_ACTIVE; the caller holds the socket lock or its spin lock.
 */
static inline void smc_sock_enter_call(struct smc_sock *smc)
{
	refcount_inc(&smc->users);
	smc_conn_get(&smc->conn);
}

/* Is connect() under way? Any context. */
static inline bool smc_connect_is_under_way(const struct smc_sock *smc)
{
	enum smc_sock_state state = READ_ONCE(smc->state);

	return state == SMC_SOCK_CONNECTING || state == SMC_SOCK_HANDSHAKE;
}

static inline struct smc_stepper_state smc_sock_unpack_stepper(int packed)
{
	return (struct smc_stepper_state){ .stepper = packed >> 1, .due = packed & 1 };
}

static inline int smc_sock_pack_stepper(struct smc_stepper_state state)
{
	return state.stepper << 1 | state.due;
}

/* Does a system call on the socket take the steps? Any context. */
static inline bool smc_sock_is_stepped_by_caller(const struct smc_sock *smc)
{
	return smc_sock_unpack_stepper(atomic_read(&smc->stepper)).stepper == SMC_STEPPER_CALLER;
}

/* Is a step due that the stepper has not begun? Any context. */
static inline bool smc_sock_step_is_due(const struct smc_sock *smc)
{
	return smc_sock_unpack_stepper(atomic_read(&smc->stepper)).due;
}

/*
 * Change who takes the steps of a socket. Any context. A full barrier: the stepper sees what
 * happened before.
 *
 * Return: what the caller has to do.
 */
static inline enum smc_stepper_action
smc_sock_change_stepper(struct smc_sock *smc, enum smc_stepper_event event)
{
	int now = atomic_read(&smc->stepper);
	struct smc_stepper_step step;

	do {
		step = smc_stepper_next(smc_sock_unpack_stepper(now), event);
	} while (!atomic_try_cmpxchg(&smc->stepper, &now, smc_sock_pack_stepper(step.next)));
	return step.action;
}

/* Wake the calls that wait for the end of the handshake. The socket lock is held. */
static inline void smc_sock_wake_callers(struct smc_sock *smc)
{
	sock_owned_by_me(smc->conn.sk);
	/* They add themselves to the queue under the socket lock */
	if (waitqueue_active(&smc->callers))
		wake_up_interruptible_all(&smc->callers);
}

/* sock.c */
struct smc_sock *smc_sock_create(struct sock *sk, gfp_t gfp);
void smc_sock_drop_user(struct smc_sock *smc);
void smc_sock_exit_call(struct smc_sock *smc);
void smc_sock_event(struct smc_sock *smc);
void smc_sock_queue_work(struct smc_sock *smc, unsigned long delay);
bool smc_sock_step(struct smc_sock *smc);
struct mem_cgroup *smc_sock_use_memcg(const struct smc_sock *smc);
int smc_sock_init(void);
void smc_sock_exit(void);

/* attach.c */
int smc_sock_attach(struct smc_sock *smc);
void smc_sock_free_user_data(struct smc_sock *smc);
void smc_sock_set_socket(struct smc_sock *smc, struct socket *sock);
void smc_sock_detach(struct smc_sock *smc);
int smc_attach_init(void);
void smc_attach_exit(void);

/* create.c */
int smc_create_init(void);
void smc_create_register(void);
void smc_create_unregister(void);
void smc_create_exit(void);

/* syn_option.c */
bool smc_syn_may_give_away(const struct sock *listener);
u32 smc_syn_child_reason(const struct sock *sk, const struct sock *listener);
u32 smc_syn_client_reason(const struct smc_sock *smc);
void smc_syn_start_timer(struct smc_sock *smc);
void smc_syn_handle_timer(struct smc_sock *smc);
void smc_syn_offer(struct smc_sock *smc);
void smc_syn_delay_acks(struct smc_sock *smc);
void smc_syn_withdraw_sk(struct sock *sk, bool delays_acks);
void smc_syn_withdraw(struct smc_sock *smc);
void smc_syn_disown(struct sock *sk);
void smc_syn_adopt_child(struct sock *sk);
void smc_syn_disown_children(struct smc_sock *listener, bool survive);
void smc_syn_keep_module(const struct smc_sock *listener);

/* destination.c */
u32 smc_destination_hash(const struct sock *sk, const struct sockaddr *addr, int addr_len);
bool smc_destination_avoid(struct smc_net *sn, u32 hash);
void smc_destination_failed(struct smc_net *sn, u32 hash);
void smc_destination_answered(struct smc_net *sn, u32 hash);

/* tcp_option.c */
int smc_set_rcvlowat(struct sock *sk, int value);
void smc_sock_follow_nagle(struct smc_sock *smc);

/* connect_step.c */
enum smc_outcome smc_connect_start_handshake(struct smc_sock *smc);
void smc_connect_start_timer(struct smc_sock *smc);
void smc_connect_step(struct smc_sock *smc);
void smc_connect_withdraw(struct smc_sock *smc);
void smc_connect_cancel(struct smc_sock *smc, int error);

/* connect.c */
int smc_connect_wait(struct smc_sock *smc, long timeo);
void smc_connect_stop_stepping(struct smc_sock *smc);
int smc_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags);

/* close.c */
int smc_release(struct socket *sock);
void smc_close_sock(struct sock *sk, bool reset);
void smc_close_child(struct smc_sock *child);
void smc_close_if_over(struct smc_sock *smc);
void smc_close_progress(struct smc_sock *smc);
bool smc_close_is_over(struct smc_sock *smc);
void smc_close_handle_timer(struct smc_sock *smc);
void smc_close_disconnect(struct smc_sock *smc);
void smc_close_reset_tcp(struct smc_sock *smc, int error);

/* fallback.c */
void smc_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis);
void smc_fallback_child(struct sock *sk, const struct smc_sock *listener);
void smc_fallback_unconnected(struct socket *sock, u32 reason);

#endif /* _NET_SMC_SOCK_SOCK_H */

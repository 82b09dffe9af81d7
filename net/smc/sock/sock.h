/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The socket that the application sees, and the TCP socket inside it.
 *
 * Every AF_SMC socket has an inner TCP socket from birth. It carries addresses,
 * options and the handshake; it stays open and idle under an SMC connection, and
 * takes over when the connection falls back.
 */
#ifndef _NET_SMC_SOCK_SOCK_H
#define _NET_SMC_SOCK_SOCK_H

#include <linux/ipv6.h>
#include <linux/net.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#include "../conn/conn.h"
#include "../handshake/handshake.h"

/**
 * enum smc_sock_state - what the socket is
 * @SMC_SOCK_INIT: not connected
 * @SMC_SOCK_LISTEN: listening
 * @SMC_SOCK_INCOMING: child of a listening socket; TCP is connected
 * @SMC_SOCK_CONNECTING: TCP is connecting
 * @SMC_SOCK_HANDSHAKE: the CLC handshake is under way
 * @SMC_SOCK_ACTIVE: an SMC connection; what is left of it tells conn.state
 * @SMC_SOCK_FALLBACK: a TCP connection
 * @SMC_SOCK_CLOSED: dead
 */
enum smc_sock_state {
	SMC_SOCK_INIT,
	SMC_SOCK_LISTEN,
	SMC_SOCK_INCOMING,
	SMC_SOCK_CONNECTING,
	SMC_SOCK_HANDSHAKE,
	SMC_SOCK_ACTIVE,
	SMC_SOCK_FALLBACK,
	SMC_SOCK_CLOSED,
};

/**
 * struct smc_tcp_hooks - what TCP called before we hooked it
 * @data_ready: sk_data_ready
 * @state_change: sk_state_change
 * @error_report: sk_error_report
 */
struct smc_tcp_hooks {
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
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
 * @lock: protects all fields; bottom halves are off
 * @children: all, in handshake or ready; each holds its place until accepted, if not parked
 * @ready: those that accept() can return, the oldest first
 * @stirred: those that accept() is to look at
 * @incoming: TCP has accepted something that accept() is to take in
 * @retry: TCP may have accepted something that there was no memory for
 * @acceptors: accept() calls that wait
 * @blocking: accept() waits for connections there, is not called when poll tells to or when they
 *	must have come, and was never late since; any context
 * @nr: number of @children
 * @serial: how many there ever were
 * @parked: how many of them are parked: without a place in TCP's backlog
 */
struct smc_accept_queue {
	spinlock_t lock;	/* protects all fields */
	struct list_head children;
	struct list_head ready;
	struct list_head stirred;
	bool incoming;
	bool retry;
	struct list_head acceptors;
	bool blocking;
	unsigned int nr;
	u32 serial;
	unsigned int parked;
};

/**
 * struct smc_sock - an AF_SMC socket
 * @sk: the socket; must be first
 * @inet: the same as seen by generic code of IPPROTO_SMC sockets
 * @tcp: inner TCP socket; NULL when released. Changed under sk_callback_lock as
 *	well, so that smc_tcp_get() needs no more
 * @v6: addresses are IPv6, for monitoring; valid when @tcp is released
 * @hooks: callbacks of @tcp, while they are ours
 * @conn: the connection
 * @hs: the handshake, while one is under way
 * @state: what the socket is
 * @reason: enum smc_reason why it fell back
 * @peer_diagnosis: what the peer's Decline said
 * @limit_handshake: SOL_SMC/SMC_LIMIT_HS
 * @quiet: @tcp delays its acknowledgements for us, and not for the user
 * @kept: closed; @tcp stays until @conn is freed
 * @driven: a system call waits for @work's job and does it itself
 * @postponed: @work came while a program owned the socket, and comes again; socket's spin lock
 * @event: something happened since the last look
 * @users: system calls inside of @conn
 * @inq: TCP_INQ
 * @stamp_ids: SOF_TIMESTAMPING_OPT_ID was set when that was looked at last
 * @stamp_from: position from which such stamps count
 * @work: steps of the handshake; for a listening socket: new connections
 * @queue: children of a listening socket
 * @listener: parent of a child which was not accepted yet; holds a reference.
 *	Looked at under RCU by events
 * @child: in smc_accept_queue.children
 * @ready: in smc_accept_queue.ready
 * @stirred: in smc_accept_queue.stirred
 * @serial: smc_accept_queue.serial when TCP had accepted it; constant
 * @parked: silent in the handshake, and counted in smc_accept_queue.parked
 * @bridge: passes wake-ups of @tcp to those who polled before the fallback; before that, to the
 *	handshake if @tcp cannot be hooked
 * @node: in smc_net.socks
 *
 * Protected by the socket lock, unless said otherwise; @child, @ready, @stirred
 * and @parked by the listener's queue lock, @node by smc_net.socks_lock.
 */
struct smc_sock {
	union {
		struct sock sk;
		struct inet_sock inet;
	};
	struct socket *tcp;
	bool v6;
	struct smc_tcp_hooks hooks;
	struct smc_conn conn;
	struct smc_handshake *hs;
	enum smc_sock_state state;
	u32 reason;
	u32 peer_diagnosis;
	bool limit_handshake;
	bool quiet;
	bool kept;
	bool driven;
	bool postponed;
	bool event;
	atomic_t users;
	bool inq;
	bool stamp_ids;
	u32 stamp_from;
	struct work_struct work;
	struct smc_accept_queue queue;
	struct smc_sock *listener;
	struct list_head child;
	struct list_head ready;
	struct list_head stirred;
	u32 serial;
	bool parked;
	wait_queue_entry_t bridge;
	struct hlist_node node;
};

/*
 * What the sockets are charged for buffers, see group/buffer.c. The limits are elsewhere: these are
 * none. The kernel reads all of them, the minimum also when it traces a charge that it refuses.
 */
extern atomic_long_t smc_charged;
extern long smc_charge_limits[3];
extern int smc_charge_minimum;
DECLARE_PER_CPU(int, smc_charged_ahead);

#define SMC_PROTO_MEMORY				\
	.memory_allocated	= &smc_charged,		\
	.per_cpu_fw_alloc	= &smc_charged_ahead,	\
	.sysctl_mem		= smc_charge_limits,	\
	.sysctl_rmem		= &smc_charge_minimum,	\
	.sysctl_wmem		= &smc_charge_minimum,

/* For the peer's answer to an abort, or an abort of the peer to follow a RST */
#define SMC_ABORT_PATIENCE	(2 * HZ)

/* Socket flags that are options: they pass to children and to the inner socket */
#define SMC_SOCK_FLAGS	(BIT(SOCK_LINGER) | BIT(SOCK_URGINLINE) | BIT(SOCK_KEEPOPEN) |		\
			 BIT(SOCK_BROADCAST) | BIT(SOCK_LOCALROUTE) | BIT(SOCK_DBG) |		\
			 BIT(SOCK_RXQ_OVFL) | BIT(SOCK_RCVTSTAMP) | BIT(SOCK_RCVTSTAMPNS) |	\
			 BIT(SOCK_TSTAMP_NEW) | BIT(SOCK_ZEROCOPY))

static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	return (struct smc_sock *)sk;
}

/* The only way to change the state. The socket lock is held. */
static inline void smc_sock_set_state(struct smc_sock *smc, enum smc_sock_state state)
{
	/* Whoever sees the new state without the lock, sees what led to it */
	smp_store_release(&smc->state, state);
}

/* Is it a TCP socket by now? The answer yes never changes. Any context. */
static inline bool smc_sock_is_tcp(const struct smc_sock *smc)
{
	/* Paired with the release in smc_sock_set_state() */
	return smp_load_acquire(&smc->state) == SMC_SOCK_FALLBACK;
}

/* af_smc.c */
extern struct proto_ops smc_sock_ops;
extern struct proto smc_proto;
int smc_sock_init(void);
void smc_sock_exit(void);
void smc_sock_prepare(struct socket *sock);
void smc_sock_setup(struct socket *sock, struct sock *sk);
struct smc_sock *smc_sock_child(struct smc_sock *listener, struct socket *tcp);
int smc_sock_create_tcp(struct sock *sk, int family);
void smc_sock_released(struct sock *sk);
void smc_sock_kill(struct smc_sock *smc);
void smc_sock_timer(struct smc_sock *smc, unsigned long expires);
void smc_sock_disconnect(struct smc_sock *smc);

/* tcp.c */
void smc_tcp_hook(struct smc_sock *smc);
void smc_tcp_unhook(struct smc_sock *smc);
void smc_tcp_disown(const struct smc_sock *listener, struct sock *tcp);
void smc_tcp_disown_children(const struct smc_sock *listener);
void smc_tcp_offer_smc(struct smc_sock *smc, bool offer);
void smc_tcp_quiet(struct smc_sock *smc);
void smc_tcp_unquiet(struct smc_sock *smc);
bool smc_tcp_peer_speaks_smc(const struct smc_sock *smc);
void smc_tcp_disconnect(struct smc_sock *smc);
void smc_tcp_reset(struct smc_sock *smc);
int smc_tcp_name(struct smc_sock *smc, struct sockaddr *addr, int peer);
void smc_tcp_set(struct smc_sock *smc, struct socket *tcp);
void smc_tcp_set_owner(struct smc_sock *smc, const struct inode *owner);
struct sock *smc_tcp_get(struct smc_sock *smc);
void smc_tcp_release(struct smc_sock *smc, bool reset);
void smc_tcp_keep(struct smc_sock *smc);
void smc_tcp_drop(struct smc_sock *smc);
void smc_tcp_check(struct smc_sock *smc);
void smc_tcp_event(struct smc_sock *smc);
void smc_tcp_queue_step(struct smc_sock *smc);
void smc_tcp_conn_event(struct smc_conn *conn);
void smc_tcp_overdue(struct smc_sock *listener);

/* connect.c */
int smc_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags);
enum smc_outcome smc_connect_begin(struct smc_sock *smc);
void smc_connect_progress(struct smc_sock *smc);
int smc_connect_wait(struct smc_sock *smc, long timeo);
void smc_connect_cancel(struct smc_sock *smc);

/* Is connect() under way? Any context. */
static inline bool smc_connect_under_way(const struct smc_sock *smc)
{
	enum smc_sock_state state = READ_ONCE(smc->state);

	return state == SMC_SOCK_CONNECTING || state == SMC_SOCK_HANDSHAKE;
}

/* accept.c */
int smc_listen(struct socket *sock, int backlog);
int smc_accept_wait(struct socket *sock, struct socket *newsock, int flags);
unsigned long smc_accept_pending(struct smc_sock *smc);
bool smc_accept_stir(struct smc_sock *smc);
void smc_accept_begin(struct smc_sock *child);
void smc_accept_steps(struct smc_sock *listener);
void smc_accept_child_done(struct smc_sock *child, enum smc_outcome outcome);
void smc_accept_flush(struct smc_sock *listener);
bool smc_accept_ready(struct smc_sock *listener);

/* Does accept() have something to do before it can return a socket? Any context. */
static inline bool smc_accept_has_steps(const struct smc_sock *listener)
{
	const struct smc_accept_queue *q = &listener->queue;

	return READ_ONCE(q->incoming) || !list_empty_careful(&q->stirred);
}

/* io.c */
int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
__poll_t smc_poll(struct file *file, struct socket *sock, struct poll_table_struct *wait);
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int smc_shutdown(struct socket *sock, int how);

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

void smc_sockopt_sync(struct smc_sock *smc);
void smc_sockopt_pass_rcvlowat(struct smc_sock *smc);
void smc_sockopt_stamps(struct smc_sock *smc);
void smc_sockopt_nagle(struct smc_sock *smc);

/* fallback.c */
void smc_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis);
void smc_fallback_graft(struct smc_sock *smc, struct socket *sock);
void smc_fallback_release(struct smc_sock *smc, struct socket *sock);

/* inet.c */
int smc_inet_init(void);
void smc_inet_register(void);
void smc_inet_exit(void);
void smc_inet_child(struct sock *sk);
void smc_inet_destruct(struct sock *sk);

#endif /* _NET_SMC_SOCK_SOCK_H */

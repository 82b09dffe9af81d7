/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets of the variant under test, and what most tests do with them */
#ifndef PAIR_H
#define PAIR_H

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../harness.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
#ifndef SOL_SMC
#define SOL_SMC		286
#endif
#ifndef SMC_LIMIT_HS
#define SMC_LIMIT_HS	1
#endif
#define SMCPROTO_SMC	0
#define SMCPROTO_SMC6	1

/* For poll(): at the end of a time it would look without being woken. The test has a limit */
#define FOREVER		-1

/**
 * struct kind - arguments of socket()
 * @family: first
 * @protocol: third
 */
struct kind {
	int family;
	int protocol;
};

/**
 * struct variant - which sockets a test gets
 * @name: its name
 * @server: listening side
 * @client: connecting side
 * @server_address: AF_INET or AF_INET6: what the server binds to
 * @client_address: AF_INET or AF_INET6: where the client connects to
 * @swapped: the first socket of a pair is the accepted one
 * @smc: connections are to be SMC connections
 */
struct variant {
	const char *name;
	struct kind server;
	struct kind client;
	int server_address;
	int client_address;
	bool swapped;
	bool smc;
};

extern const struct variant *variant;

struct variant tcp_variant(void);	/* the same with TCP sockets at both ends */

/* For .applies: SMC on at least one side; connections over SMC; plain TCP */
bool not_tcp(int index);
bool only_smc(int index);
bool only_tcp(int index);
bool not_swapped(int index);
bool reuse_port_in_server(int index);
bool late_options_in_server(int index);

/* Does the kernel keep options of level SOL_SOCKET without asking AF_SMC? Those before 6.8 do */
bool options_bypass_smc(void);
bool only_fallback(int index);
bool only_ipv6(int index);	/* and within the host, where an IPv6 server has an IPv4 address */
bool same_family(int index);	/* of the addresses of both ends */
bool within_host(int index);	/* not with SOCKET_TEST_HOST, where servers are elsewhere */
bool only_smcd(int index);

/* For tests that take seconds: once for TCP, for SMC, and for fallback */
bool first_of_mode(int index);

/* An address with its length, and views of it */
struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

/* Sockets. All are closed on exec; none is non-blocking unless said so. */
int new_client(void);
int new_server(void);
int fresh(void);		/* one like the first of a pair, not connected */
bool is_tcp(int fd);		/* is it, or has it become, a TCP socket? */

/* Addresses */
struct addr loopback(int family, int port);
struct addr server_bind_address(void);
struct addr client_address(int port);
struct addr nowhere(void);	/* packets to it vanish */
struct addr no_route(void);
struct addr name_of(int fd);
struct addr peer_of(int fd);
int port_of(const struct addr *addr);
struct addr target_of(int listener);	/* how a client reaches the listener */

/* Listening and connecting */
int listen_any(int backlog);
int listen_full(int *waiting);		/* the next SYN is dropped and repeated after a second */
int connect_to(int listener);		/* a connected client, which nobody has accepted */
int accept_from(int listener);
void pair_open(int fd[2]);		/* checks that it is what the variant wants */
void pair_close(int fd[2]);
void pair_from(int listener, int fd[2]);
/* The client may have ended the group that the server names: then that connection becomes TCP */
void pair_open_in_any_group(int fd[2]);
void pair_with_buffers(int fd[2], int bytes);
void pair_with_rcvbuf(int fd[2], int bytes);
void pair_with_sndbuf(int fd[2], int bytes);	/* beyond wmem_max, too */

void set_sysctl(const char *name, int value);	/* below /proc/sys, until the end of the test */

/* Data */
void pattern_fill(void *buf, size_t len, uint64_t offset);
void pattern_check(const void *buf, size_t len, uint64_t offset);
void send_all(int fd, const void *buf, size_t len);
void recv_all(int fd, void *buf, size_t len);
void send_text(int fd, const char *text);
void expect_text(int fd, const char *text);	/* exactly this is received now */
void expect_text_now(int fd, const char *text);	/* also below SO_RCVLOWAT */
void expect_eof(int fd);
void expect_nothing(int fd);
size_t send_until_full(int fd, uint64_t offset);	/* pattern; returns bytes */
/* The same, after another fill has been read. The peer may report late that it has read that */
size_t send_until_full_again(int fd, size_t before);
void drain(int fd, size_t bytes, uint64_t offset);

/*
 * The state of the TCP connection. TCP_INFO tells that of the SMC connection, if there is one. A
 * connection that does not exist any more has TCP_CLOSE.
 */
int tcp_state(int fd);
int tcp_state_of_ports(int local, int peer);

/* Options and polling */
void nonblock(int fd);
void set_int(int fd, int level, int name, int value);
int get_int(int fd, int level, int name);
void set_linger(int fd, int on, int seconds);
void set_timeout(int fd, int name, int milliseconds);
int socket_error(int fd);
short events_now(int fd);		/* all of poll()'s answer, without waiting */
short wait_events(int fd, short events);	/* waits for one of them; the answer */
/*
 * The peer has reset the connection. Over SMC, its message may come before TCP's RST. Then the RST
 * sets the error again if SO_ERROR alone has taken it.
 */
void wait_reset(int fd);
void wait_amount(int fd, int bytes);	/* until FIONREAD says so */
void socket_buffers(int fd, int bytes);
void drop_segments(int fd);	/* by a filter: TCP gets nothing any more */

/* A thread that does something which blocks */
struct worker {
	pthread_t thread;
	pid_t tid;
	void (*body)(void *arg);
	void *arg;
	bool done;
};

void worker_start(struct worker *worker, void (*body)(void *arg), void *arg);
void worker_asleep(struct worker *worker);	/* waits until it sleeps in the kernel */
void worker_interrupt(struct worker *worker);	/* SIGUSR1 once it sleeps */
void worker_join(struct worker *worker);
void wait_asleep(pid_t tid);

/* Signals */
void catch_signal(int signum, int flags);
int caught(int signum);
void wait_caught(int signum, int times);

long now_ms(void);
void pause_briefly(void);	/* between two looks at a condition */

#endif /* PAIR_H */

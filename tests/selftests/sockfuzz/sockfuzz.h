/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer of socket calls: threads that do everything to a few sockets at once, as a seed says.
 *
 * A slot is a place for one connection after the other. Each end has a fixed descriptor number,
 * so that any thread may use or close it at any time. One thread at a time sends, and one receives,
 * at each end; so every byte that arrives is known from its place, as in the torture test. Calls
 * that take no part in the stream need no lock at all. What may end a connection early is
 * noted before and after, so that a reset without a reason is a failure as well.
 *
 * Strays are sockets without any such order: they are bound, connected, accepted, disconnected,
 * read and written by all threads at once. Their bytes tell only which of two clusters they are of.
 */
#ifndef SOCKFUZZ_H
#define SOCKFUZZ_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif
#ifndef SOL_SMC
#define SOL_SMC		286
#endif
#ifndef SMC_LIMIT_HS
#define SMC_LIMIT_HS	1
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

#define MAX_THREADS	64
#define MAX_SLOTS	32
#define LAST_CALLS	24		/* of each thread, told after a failure */
#define BUFFER_BYTES	(1 << 20)	/* of each thread; the longest transfer */
#define MARKS		256		/* places of urgent bytes that are remembered */

/**
 * struct options - the command line
 * @seed: names all that the threads want to do
 * @seconds: for how long
 * @threads: number of threads
 * @slots: number of connections
 * @scale: multiplies limits
 * @kinds: bits of the kinds of connections
 * @harm: one call in so many may end a connection
 * @root: what only the administrator may do is done as well
 */
struct options {
	uint64_t seed;
	int seconds;
	int threads;
	int slots;
	int scale;
	unsigned int kinds;
	unsigned int harm;
	bool root;
};

extern struct options options;

/**
 * struct kind - both sides of a connection
 * @name: for -m
 * @server: arguments of socket()
 * @client: arguments of socket()
 * @family: of the addresses
 */
struct kind {
	const char *name;
	int server[2];
	int client[2];
	int family;
};

extern const struct kind kinds[];
extern const int nr_kinds;

/**
 * struct site - a kind of call, with how often it was done
 * @name: what it is
 * @calls: number of calls
 * @good: those that did not fail
 * @ms: how long they took
 * @next: list of all
 */
struct site {
	const char *name;
	unsigned long calls;
	unsigned long good;
	unsigned long ms;
	struct site *next;
};

/**
 * struct call - one call of a thread
 * @site: which, NULL: none yet
 * @on: slot and end, or stray
 * @arg: what says most about it
 * @ret: what it returned
 * @error: errno
 * @start: in milliseconds
 * @end: in milliseconds, 0: it is not over
 */
struct call {
	const struct site *site;
	int on;
	long arg;
	long ret;
	int error;
	long start;
	long end;
};

/**
 * struct thread - one of the threads
 * @pthread: of the library
 * @tid: of the kernel
 * @number: its number, part of its seed
 * @random: state of its random numbers
 * @calls: number of calls
 * @last: the last of them
 * @nudge_ms: when the watchdog begins to interrupt the present one
 * @start_round: of the watchdog, in which the present call began
 * @asleep_round: in which the watchdog saw it sleep in the present call, 0: it did not
 * @buf: what is sent and received
 * @guard: one page, behind which there is nothing
 * @pipe: for splice() and tee()
 * @unix_pair: for descriptors that travel
 * @epoll: an epoll that lives long
 * @uring: io_uring, NULL: there is none
 * @namespace: where its new sockets are, 0: where all began
 */
struct thread {
	pthread_t pthread;
	pid_t tid;
	int number;
	uint64_t random;
	unsigned long calls;
	struct call last[LAST_CALLS];
	long nudge_ms;
	unsigned long start_round;
	unsigned long asleep_round;
	uint8_t *buf;
	uint8_t *guard;
	int pipe[2];
	int unix_pair[2];
	int epoll;
	struct uring *uring;
	int namespace;
};

extern __thread struct thread *me;

/**
 * struct way - one direction of a connection
 * @tx: held by who sends
 * @rx: held by who receives at the other end
 * @sending: no byte from here on can have been sent
 * @sent: all bytes before this one were accepted
 * @sent_round: round of the watchdog in which @sent was last changed
 * @received: bytes received and found right; under @rx
 * @marks: where urgent bytes may be: a reader may find them left out
 * @nr_marks: all that there ever were
 * @slack: as many bytes more may have been received unseen
 */
struct way {
	pthread_mutex_t tx;
	pthread_mutex_t rx;
	uint64_t sending;
	uint64_t sent;
	unsigned long sent_round;
	uint64_t received;
	uint64_t marks[MARKS];
	unsigned int nr_marks;
	unsigned int slack;
};

/**
 * struct slot - a place for connections
 * @life: read-locked by who moves data, write-locked by who makes a new connection
 * @number: which slot
 * @fd: descriptors of both ends (0: client), and of the listening socket
 * @way: from end 0 to end 1, and back
 * @id: of the connection, part of its bytes
 * @kind: index into kinds[]
 * @port: where the listening socket is
 * @namespace: of the listening socket
 * @harming: calls under way that may end the connection early
 * @harmed: such calls were made
 * @peek_off: SO_PEEK_OFF may be set at an end
 * @low_water: SO_RCVLOWAT may be set at an end
 * @listener_shut: shutdown() of the listening socket was called
 * @shut: shutdown() for writing was called at an end
 * @dead: it does not move data any more
 * @temper: one of so many calls does harm
 */
struct slot {
	pthread_rwlock_t life;
	int number;
	int fd[3];
	struct way way[2];
	uint32_t id;
	int kind;
	int port;
	int namespace;
	int harming;
	bool harmed;
	bool peek_off;
	bool low_water;
	bool listener_shut;
	bool shut[2];
	bool dead;
	unsigned int temper;
};

#define LISTENER 2

extern struct slot slots[MAX_SLOTS];
extern uint32_t newest_id;		/* of all connections */

/* Makes a call, which is counted, watched over and remembered; errno is that of the call */
#define CALL(what, on, arg, expr)						\
	({									\
		static struct site _site = { .name = what };			\
		long _ret;							\
										\
		call_begin(&_site, on, arg);					\
		errno = 0;							\
		_ret = (expr);							\
		call_end(&_site, _ret);						\
		_ret;								\
	})

/* call.c: what threads are doing */
void call_begin(struct site *site, int on, long arg);
void call_end(struct site *site, long ret);
void call_watch(struct thread *threads, int nr, bool *over);
void call_tell_last(struct thread *threads, int nr);
unsigned long call_tell_counts(void);
long milliseconds(void);

/*
 * Rounds of the watchdog, at least 10 ms each, from 1 on: time that passes only as fast as threads
 * get to run
 */
unsigned long watch_rounds(void);

/* Tells what is wrong, seed and last calls, and ends the process */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The same about bytes that a socket has received, and about one way of a connection */
bool is_tcp(int fd);
void fail_with_bytes(int fd, const uint8_t *bytes, size_t len, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));
void fail_on(const struct slot *slot, int dir, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* random.c */
uint64_t random_next(void);
uint64_t random_below(uint64_t limit);
bool one_in(unsigned int n);
size_t random_size(size_t most);	/* small ones as often as large ones */
long random_value(void);		/* interesting numbers */
int random_flags(const int *flags, int nr, unsigned int chance);

/* pattern.c: what streams are made of */
void pattern_tell_origin(const uint8_t *buf, size_t len);
void pattern_fill(void *buf, size_t len, uint32_t id, int dir, uint64_t offset);
size_t pattern_check(struct slot *slot, int dir, const void *buf, size_t len,
		     uint64_t offset);
void pattern_check_somewhere(const struct slot *slot, int dir, const void *buf, size_t len,
			     uint64_t from, bool one_piece);
void pattern_check_end(const struct slot *slot, int dir);
void pattern_check_self(void);

/* slot.c: connections come and go */
void slot_init(struct slot *slot, int number);
void slot_open(struct slot *slot);
void slot_harm_begin(struct slot *slot);
void slot_harm_end(struct slot *slot);
bool slot_harmed(const struct slot *slot);
void slot_close_fd(int fd);		/* the number stays taken */
socklen_t address_of(int family, int port, struct sockaddr_storage *addr);
int new_fd_number(void);
int port_at(int fd, bool peer);

/* Each does something to an end of a slot, as other threads may at the same time */
void do_send(struct slot *slot, int end);
void do_receive(struct slot *slot, int end);
void do_harm(struct slot *slot, int end);
void do_option(struct slot *slot, int end);
void do_wait(struct slot *slot, int end);
void do_file(struct slot *slot, int end);
void do_name(struct slot *slot, int end);

/* Something to this thread, or to all of the machine */
void do_self(void);
void self_start(void);
void self_end(void);
void self_catch_signals(void);

/* stray.c */
void stray_init(void);
void do_stray(void);
void option_any(int fd, int on, bool stray);

/* uring.c; each returns as the call it stands for, or -1 with ENOSYS if there is no io_uring */
struct uring *uring_new(void);
long uring_transfer(int fd, bool send, void *buf, size_t len, int flags);
long uring_send_zerocopy(int fd, const void *buf, size_t len);
long uring_shutdown(int fd, int how);
long uring_connect(int fd, const void *addr, socklen_t len);
long uring_accept(int fd);
long uring_poll(int fd, short events);

#endif /* SOCKFUZZ_H */

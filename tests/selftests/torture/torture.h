/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Torture: many connections at once, each between two processes with a reader and
 * a writer thread, which use all ways to move data at random, and end at random.
 *
 * The byte at each place of a stream is known, so a reader sees at once when one
 * is wrong, missing or doubled. What each side has done is in shared memory, so
 * the other side knows what it must have received when the stream ends.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif
/* Only sockets that are not TCP ones know this level */
#ifndef SOL_SMC
#define SOL_SMC		286
#endif
#ifndef SMC_LIMIT_HS
#define SMC_LIMIT_HS	1
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

/* How a side ends its connection */
enum ending {
	END_POLITE,	/* shutdown for writing, read to the end, close */
	END_CLOSE,	/* exit, whatever is unread */
	END_RESET,	/* SO_LINGER 0, exit */
	END_BOTH,	/* shutdown both ways, read to the end, close */
	END_KILL,	/* killed by the parent at some time */
	ENDINGS
};

/**
 * struct side - one end of a connection, in shared memory
 * @ending: enum ending
 * @seed: of its random numbers
 * @total: bytes to send
 * @rcvbuf: SO_RCVBUF, 0: leave it
 * @idle_at: after so many bytes it sends nothing for a while, 0: it always sends
 * @urgent: it sends urgent data; its peer does not splice then, which stops at the mark
 * @sending: bytes given to system calls; written before the call
 * @sent: bytes accepted by system calls; written after the call
 * @received: bytes received and found right
 * @done: it has shut down writing, or begun to close
 * @refused: the writing thread was told that the connection was reset. As over TCP, the reading one
 *	sees the end of the stream then
 * @gone: it closed, was killed, or reads no more: data sent to it leads to a reset
 * @doing: what the two threads are at, for messages
 */
struct side {
	int ending;
	uint64_t seed;
	uint64_t total;
	int rcvbuf;
	uint64_t idle_at;
	bool urgent;
	uint64_t sending;
	uint64_t sent;
	uint64_t received;
	bool done;
	bool refused;
	bool gone;
	const char *doing[2];
};

/**
 * struct connection - a connection, in shared memory
 * @number: its number, for messages and for the pattern
 * @kind: index into kinds[]
 * @may_break: the way between the two may end at any time
 * @side: client and server
 */
struct connection {
	unsigned int number;
	int kind;
	bool may_break;
	struct side side[2];
};

/**
 * struct end - what a process knows about its connection
 * @conn: the connection
 * @index: which side it is
 * @me: this side
 * @peer: the other side
 * @fd: the socket
 */
struct end {
	struct connection *conn;
	int index;
	struct side *me;
	struct side *peer;
	int fd;
};

/**
 * struct piece - a piece of a stream
 * @bytes: where it is
 * @len: how long it is
 * @place: offset in pattern_file()
 */
struct piece {
	const uint8_t *bytes;
	size_t len;
	off_t place;
};

/* pattern.c: what the streams are made of */
void pattern_init(uint64_t seed);
int pattern_file(void);
struct piece pattern_piece(const struct end *end, int side, uint64_t offset, size_t most);
void pattern_check(const struct end *end, const void *buf, size_t len, uint64_t offset);

/* Random numbers, per thread */
void random_seed(uint64_t seed);
uint64_t random_below(uint64_t limit);
bool one_in(unsigned int n);
size_t random_size(size_t most);	/* small ones as often as large ones */

/* reader.c, writer.c: return when it is over */
void reader_run(struct end *end);
void writer_run(struct end *end);

/* Ends this process with a message about its connection */
void fail(const struct end *end, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
bool is_gone(const struct end *end);
bool may_be_reset(const struct end *end);
void wait_ready(const struct end *end, short events);

#endif /* TORTURE_H */

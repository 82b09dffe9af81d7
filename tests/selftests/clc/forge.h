/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An SMC-D peer in user space: both DMBs of a connection are mapped here, by the help of
 * tests/modules/smc_forge. What is in the control blocks is up to the test.
 */
#ifndef CLC_FORGE_H
#define CLC_FORGE_H

#include "peer.h"

#define BLOCK_LEN	32	/* the control block at the start of a DMB */

/* Flags of the producer word */
#define BLOCKED		0x80
#define URGENT_PENDING	0x40
#define URGENT_PRESENT	0x20
#define UPDATE_WANTED	0x10
/* Flags of the state byte */
#define DONE		0x80
#define CLOSED		0x40
#define ABORTED		0x20

/**
 * struct position - a cursor
 * @wrap: turns of the ring
 * @count: offset in the ring
 */
struct position {
	uint16_t wrap;
	uint32_t count;
};

/**
 * struct window - a DMB, mapped
 * @fd: its descriptor
 * @token: its name
 * @bytes: its size
 * @area: a guard page, the DMB, a guard page
 * @dmb: the DMB
 * @ring: behind the control block
 * @size: of the ring
 */
struct window {
	int fd;
	uint64_t token;
	uint32_t bytes;
	uint8_t *area;
	uint8_t *dmb;
	uint8_t *ring;
	uint32_t size;
};

/**
 * struct forge - the connection of an attacker
 * @listener: the application's
 * @app: the application's socket
 * @tcp: the attacker's end of the TCP connection
 * @out: the application's DMB, which the attacker writes to
 * @in: the attacker's DMB, which the module writes to
 * @prod: how far the attacker has written into @out
 * @cons: how far it has read from @in
 * @producer_flags: goes out with the next control block
 * @state_flags: goes out with the next control block
 */
struct forge {
	int listener;
	int app;
	int tcp;
	struct window out;
	struct window in;
	struct position prod;
	struct position cons;
	uint8_t producer_flags;
	uint8_t state_flags;
};

void forge_open(struct forge *f);
void forge_close(struct forge *f);
void forge_device(struct device *dev);
struct window window_make(uint32_t bytes);
struct window window_open(uint64_t token);
bool window_attached(const struct window *w);	/* does the module under test write to it? */
bool window_owned(const struct window *w);	/* does the module under test read from it? */

struct position forward(const struct window *w, struct position p, uint32_t bytes);
void forge_post(struct forge *f);	/* writes the control block and signals */
void forge_post_as(struct forge *f, uint8_t type);
void forge_write(struct forge *f, const void *data, size_t len);	/* data, not the cursor */
void forge_send(struct forge *f, const char *text);
struct position their_producer(const struct forge *f);
struct position their_consumer(const struct forge *f);
uint8_t their_producer_flags(const struct forge *f);
uint8_t their_state_flags(const struct forge *f);
uint32_t available(const struct forge *f);	/* bytes from the module that were not read */
void forge_receive(struct forge *f, void *buf, size_t len);	/* waits for them */

void check_guards(const struct forge *f);
void expect_aborted(struct forge *f);		/* as a violation, counted, memory untouched */

#endif /* CLC_FORGE_H */

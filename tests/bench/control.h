/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control channel: one line of text per message, on a stream socket that is
 * not under test. Whoever must wait for the other end waits for its line.
 */
#ifndef SMCBENCH_CONTROL_H
#define SMCBENCH_CONTROL_H

#include "bench.h"

struct control {
	int fd;
	bool remote;	/* the other end may be another kernel */
	size_t used;	/* bytes in buf, read ahead */
	char buf[1024];
};

/* Two connected ends for two processes of one command. */
void control_pair(struct control *a, struct control *b);

/* @addr is unix:PATH or tcp:ADDRESS:PORT (IPv4). */
int control_listen(const char *addr);
void control_accept(int listener, const char *addr, struct control *control);
/* Waits until the other end listens. */
void control_connect(const char *addr, struct control *control);

void control_send(struct control *control, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Wait for the next line, which must begin with the word @word. Returns what
 * follows that word, valid until the next call; dies on anything else. With
 * @word NULL, returns the whole line, or NULL if the other end has closed.
 */
const char *control_expect(struct control *control, const char *word);

#endif

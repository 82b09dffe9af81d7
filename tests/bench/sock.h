/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets of the family under test, and whole-message reads and writes. */
#ifndef SMCBENCH_SOCK_H
#define SMCBENCH_SOCK_H

#include <sys/socket.h>
#include <sys/types.h>

#include "bench.h"

#ifndef SOL_SMC
#define SOL_SMC 286
#endif
#ifndef SMC_LIMIT_HS
#define SMC_LIMIT_HS 1
#endif
#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

#define SOCK_WHERE_MAX 32

/* Where a server listens: filled from its answer, used by every connect. */
struct sock_target {
	struct sockaddr_storage addr;
	socklen_t len;
};

/* Listen; @where becomes the text from which the client makes its target. */
int sock_listen(const struct spec *spec, char where[SOCK_WHERE_MAX]);
void sock_target(const struct spec *spec, const char *where, struct sock_target *target);

/* Which family the sockets of one end have. */
enum family sock_family(const struct spec *spec, enum end end);
/* A socket of one end, with the options of the specification. */
int sock_open(const struct spec *spec, enum end end, int flags);
int sock_connect(const struct spec *spec, const struct sock_target *target);
int sock_accept(const struct spec *spec, int listener);
/* Options that connections do not inherit from their listener in every family. */
void sock_prepare(const struct spec *spec, int fd);

/* True unless it is an AF_SMC socket that has not become a TCP one. */
bool sock_is_plain(int fd);

void sock_set_nonblocking(int fd);

void sock_send_all(int fd, const void *data, size_t len);
/*
 * Receive one byte or the end of the stream (@len 1 or 0). Returns false if the
 * socket is non-blocking and has neither.
 */
bool sock_recv_ready(int fd, char *byte, size_t *len);
/* Dies if the peer closes first. */
size_t sock_recv_some(int fd, void *buf, size_t len);
void sock_recv_all(int fd, void *buf, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* io_uring by hand: a ring for one request */
#ifndef URING_H
#define URING_H

#include <linux/io_uring.h>

/**
 * struct uring - a ring of requests, and one of answers
 * @fd: of both
 * @sq: ring of requests
 * @cq: ring of answers
 * @sqe: the request, zero but for what the caller writes
 * @params: where everything is in them
 */
struct uring {
	int fd;
	char *sq;
	char *cq;
	struct io_uring_sqe *sqe;
	struct io_uring_params params;
};

void uring_open(struct uring *ring);
void uring_submit(struct uring *ring);
unsigned int uring_count(struct uring *ring);	/* how many answers have come */
const struct io_uring_cqe *uring_result(struct uring *ring, unsigned int nr);	/* waits for it */

#endif /* URING_H */

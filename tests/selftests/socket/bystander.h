/* SPDX-License-Identifier: GPL-2.0-only */
/* A process of another user, whose sockets have nothing to do with those of the test */
#ifndef BYSTANDER_H
#define BYSTANDER_H

/**
 * struct bystander - the process
 * @orders: each byte is one
 * @results: a long for each order
 */
struct bystander {
	int orders;
	int results;
};

struct bystander bystander_start(long (*task)(void));	/* before the test has threads */
long bystander_run(const struct bystander *bystander);	/* runs the task there; its result */

/* Two sockets connect, talk and part. The work queue takes the steps on both sides. */
long converse(void);

#endif /* BYSTANDER_H */

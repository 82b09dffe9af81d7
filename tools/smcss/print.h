/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMCSS_PRINT_H
#define SMCSS_PRINT_H

#include <stdbool.h>

#include "json.h"
#include "netns.h"
#include "process.h"
#include "sock.h"

/**
 * struct view - which columns to show
 * @debug: buffers and cursors
 * @smcd: SMC-D details
 * @smcr: SMC-R details
 * @wide: full addresses
 * @explain: fallback reasons with description
 * @netns: the network namespace of each socket
 * @processes: the processes that have it open
 */
struct view {
	bool	debug;
	bool	smcd;
	bool	smcr;
	bool	wide;
	bool	explain;
	bool	netns;
	bool	processes;
};

/**
 * struct owner - whose sockets are shown
 * @netns: their network namespace, or NULL if it is not shown
 * @processes: the processes that have them open, or NULL if they are not shown
 */
struct owner {
	const struct netns		*netns;
	const struct process_list	*processes;
};

void print_header(const struct view *view);
void print_sock(const struct view *view, const struct owner *owner, const struct sock *sk);

/* Prints all fields, independent of the view */
void print_sock_json(struct json *j, const struct owner *owner, const struct sock *sk);

#endif /* SMCSS_PRINT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMCSS_PRINT_H
#define SMCSS_PRINT_H

#include <stdbool.h>

#include "json.h"
#include "sock.h"

/**
 * struct view - which columns to show
 * @debug: buffers and cursors
 * @smcd: SMC-D details
 * @smcr: SMC-R details
 * @wide: addresses in full length
 * @explain: fallback reasons also in words
 */
struct view {
	bool	debug;
	bool	smcd;
	bool	smcr;
	bool	wide;
	bool	explain;
};

void print_header(const struct view *view);
void print_sock(const struct view *view, const struct sock *sk);

/* All that is known, whatever the view. */
void print_sock_json(struct json *j, const struct sock *sk);

#endif /* SMCSS_PRINT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network namespaces: their cookies, and what AF_SMC sockets do in them.
 */
#ifndef SMC_POLICY_NAMESPACE_H
#define SMC_POLICY_NAMESPACE_H

#include <linux/types.h>
#include <stdbool.h>

/**
 * struct sockets_now - connections of AF_SMC sockets
 * @namespaces: where they were looked for
 * @smcd: over SMC-D
 * @smcr: over SMC-R
 * @tcp: over TCP
 * @listening: sockets that wait for connections
 * @unknown: namespaces where the kernel did not tell
 */
struct sockets_now {
	unsigned int	namespaces;
	unsigned int	smcd;
	unsigned int	smcr;
	unsigned int	tcp;
	unsigned int	listening;
	unsigned int	unknown;
};

/**
 * namespace_cookie() - the number of a namespace, which is never used twice
 * @fd: the namespace
 * @cookie: filled in
 *
 * Returns: 0 or a negative errno, -EINVAL if it is something else.
 */
int namespace_cookie(int fd, __u64 *cookie);

/**
 * namespace_read_cookie() - the same, for the namespace that the caller is in
 * @cookie: filled in
 *
 * Returns: 0 or a negative errno.
 */
int namespace_read_cookie(__u64 *cookie);

/**
 * namespace_count_sockets() - look into all namespaces that a process or a name has
 * @now: filled in
 */
void namespace_count_sockets(struct sockets_now *now);

#endif /* SMC_POLICY_NAMESPACE_H */

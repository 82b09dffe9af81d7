/* SPDX-License-Identifier: GPL-2.0-only */
/* Network namespaces: cookies, and counts of AF_SMC sockets */
#ifndef SMC_POLICY_NAMESPACE_H
#define SMC_POLICY_NAMESPACE_H

#include <linux/types.h>
#include <stdbool.h>

/**
 * struct sockets_now - connections of AF_SMC sockets
 * @namespaces: number of namespaces that were searched
 * @smcd: over SMC-D
 * @smcr: over SMC-R
 * @tcp: over TCP
 * @listening: listening sockets
 * @unknown: number of namespaces whose sockets the kernel did not list
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
 * namespace_cookie() - the cookie of a namespace, which is never reused
 * @fd: the namespace
 * @cookie: filled in
 *
 * Returns: 0 or a negative errno, -EINVAL if @fd is not a network namespace.
 */
int namespace_cookie(int fd, __u64 *cookie);

/**
 * namespace_read_cookie() - the cookie of the caller's namespace
 * @cookie: filled in
 *
 * Returns: 0 or a negative errno.
 */
int namespace_read_cookie(__u64 *cookie);

/**
 * namespace_count_sockets() - count in all namespaces that a process or a name refers to
 * @now: filled in
 */
void namespace_count_sockets(struct sockets_now *now);

#endif /* SMC_POLICY_NAMESPACE_H */

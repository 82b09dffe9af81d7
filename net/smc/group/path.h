/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failed paths of SMC-R, on which connections use TCP for some time.
 */
#ifndef _NET_SMC_GROUP_PATH_H
#define _NET_SMC_GROUP_PATH_H

#include <linux/in6.h>

#include "../wire/clc.h"

struct net;
struct smc_group;

/**
 * struct smc_path - from a local port to a port of a peer
 * @local: local GID
 * @peer: the peer's GID, from its CLC message; not verified
 * @remote: the peer's address of the TCP connection, IPv4 as ::ffff:a.b.c.d. With it in the key, a
 *	peer that names the GID of another host blocks only its own path
 */
struct smc_path {
	struct smc_gid local;
	struct smc_gid peer;
	struct in6_addr remote;
};

/**
 * enum smc_path_failure - what failed
 * @SMC_PATH_BROKE: a link that had worked. Perhaps only large packets are lost; a second failure
 *	before the first one expires makes the path bad
 * @SMC_PATH_NEVER_WORKED: the link of a first contact; makes the path bad at once
 */
enum smc_path_failure {
	SMC_PATH_BROKE = 1,
	SMC_PATH_NEVER_WORKED = 2,
};

void smc_path_failed(const struct smc_group *group, enum smc_path_failure failure);
bool smc_path_is_bad(struct net *net, const struct smc_path *path);
unsigned int smc_path_count_bad(struct net *net);

int smc_path_init(void);
void smc_path_exit(void);

#endif /* _NET_SMC_GROUP_PATH_H */

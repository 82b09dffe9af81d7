/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths of SMC-R that did not work: TCP takes their place for a while.
 */
#ifndef _NET_SMC_GROUP_PATH_H
#define _NET_SMC_GROUP_PATH_H

#include <linux/in6.h>

#include "../wire/clc.h"

struct net;
struct smc_group;

/**
 * struct smc_path - from one of our ports to a peer's
 * @local: our GID
 * @peer: the peer's GID, as it said
 * @remote: its address of the TCP connection, IPv4 as ::ffff:a.b.c.d. So a peer that names
 *	the GID of another one spoils only its own path
 */
struct smc_path {
	struct smc_gid local;
	struct smc_gid peer;
	struct in6_addr remote;
};

/**
 * enum smc_path_failure - what did not work
 * @SMC_PATH_BROKE: a link that had worked: the second time in a row, the path is given up. There
 *	may be nothing wrong with it but that large packets do not get through
 * @SMC_PATH_NEVER_WORKED: a first contact
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

/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of net/smc/group/group.h: a link group, which does not end before the test */
#ifndef _TESTS_UNIT_LLC_GROUP_H
#define _TESTS_UNIT_LLC_GROUP_H

#include "transport.h"

struct smc_group {
	int references;
};

static inline void smc_group_put(struct smc_group *group)
{
	group->references--;
}

#endif /* _TESTS_UNIT_LLC_GROUP_H */

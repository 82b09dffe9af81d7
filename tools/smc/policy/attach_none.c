// SPDX-License-Identifier: GPL-2.0-only
/* For tools that were built without libbpf or clang */
#include <errno.h>

#include "attach.h"
#include "problem.h"

#define MISSING	"this tool was built without BPF: clang or libbpf-dev was missing then"

const char *policy_obstacle(void)
{
	return MISSING;
}

bool policy_attach(struct policy *policy)
{
	return problem(MISSING);
}

bool policy_open(struct policy *policy)
{
	return problem(MISSING);
}

void policy_close(struct policy *policy)
{
}

bool policy_get_rule(const struct policy *policy, const struct policy_key *key,
		     struct policy_rule *rule)
{
	return false;
}

int policy_add_rule(const struct policy *policy, const struct policy_key *key,
		    const struct policy_rule *rule)
{
	return -ENOSYS;
}

bool policy_delete_rule(const struct policy *policy, const struct policy_key *key)
{
	return false;
}

bool policy_next_rule(const struct policy *policy, struct policy_key *key, bool begin)
{
	return false;
}

bool policy_get_state(const struct policy *policy, struct policy_state *state)
{
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy in the kernel. There are two implementations: one for tools that were built with
 * libbpf, and one that has nothing to say but that.
 */
#ifndef SMC_POLICY_ATTACH_H
#define SMC_POLICY_ATTACH_H

#include <stdbool.h>

#include "map.h"

/**
 * struct policy - a policy that is on
 * @rules: descriptor of the map of rules
 * @state: descriptor of the map of struct policy_state
 */
struct policy {
	int	rules;
	int	state;
};

/**
 * policy_obstacle() - why sockets cannot be changed by BPF here
 *
 * Looks at what is there, without loading anything.
 *
 * Returns: the rest of a sentence, or NULL if nothing is known to be in the way.
 */
const char *policy_obstacle(void);

/**
 * policy_attach() - switch the policy on, without any rule
 * @policy: filled in
 *
 * Either all of it is there afterwards, or nothing.
 *
 * Returns: false if it cannot be; the user has been told.
 */
bool policy_attach(struct policy *policy);

/**
 * policy_open() - use the policy that is on
 * @policy: filled in
 *
 * Returns: false if it is of another version; the user has been told.
 */
bool policy_open(struct policy *policy);

void policy_close(struct policy *policy);

/**
 * policy_get_rule() - look up a rule
 * @policy: the policy
 * @key: which
 * @rule: filled in
 *
 * Returns: false if there is none.
 */
bool policy_get_rule(const struct policy *policy, const struct policy_key *key,
		     struct policy_rule *rule);

/**
 * policy_add_rule() - add a rule that is not there
 * @policy: the policy
 * @key: which sockets
 * @rule: what becomes of them
 *
 * Returns: 0 or a negative errno.
 */
int policy_add_rule(const struct policy *policy, const struct policy_key *key,
		    const struct policy_rule *rule);

/**
 * policy_delete_rule() - take a rule away
 * @policy: the policy
 * @key: which
 *
 * Returns: false if there was none.
 */
bool policy_delete_rule(const struct policy *policy, const struct policy_key *key);

/**
 * policy_next_rule() - go through the rules
 * @policy: the policy
 * @key: the last one, replaced by the next
 * @begin: start with the first one
 *
 * Returns: false if there are no more.
 */
bool policy_next_rule(const struct policy *policy, struct policy_key *key, bool begin);

/**
 * policy_get_state() - the policy as a whole
 * @policy: the policy
 * @state: filled in
 *
 * Returns: false if that cannot be read.
 */
bool policy_get_state(const struct policy *policy, struct policy_state *state);

#endif /* SMC_POLICY_ATTACH_H */

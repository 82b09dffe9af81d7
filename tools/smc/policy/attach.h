/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy in the kernel. There are two implementations: one for tools that were built with
 * libbpf, and one that only reports that libbpf is missing.
 */
#ifndef SMC_POLICY_ATTACH_H
#define SMC_POLICY_ATTACH_H

#include <stdbool.h>

#include "map.h"

/**
 * struct policy - an active policy
 * @rules: descriptor of the map of rules
 * @state: descriptor of the map of struct policy_state
 */
struct policy {
	int	rules;
	int	state;
};

/**
 * policy_obstacle() - why can BPF not change sockets here?
 *
 * Only tests the system, without loading anything.
 *
 * Returns: the rest of a sentence, or NULL if no obstacle is known.
 */
const char *policy_obstacle(void);

/**
 * policy_attach() - activate the policy, without any rule
 * @policy: filled in
 *
 * On failure nothing stays in the kernel.
 *
 * Returns: false on failure, after an error message.
 */
bool policy_attach(struct policy *policy);

/**
 * policy_open() - open the active policy
 * @policy: filled in
 *
 * Returns: false if it has another version, after an error message.
 */
bool policy_open(struct policy *policy);

void policy_close(struct policy *policy);

/**
 * policy_get_rule() - look up a rule
 * @policy: the policy
 * @key: key of the rule
 * @rule: filled in
 *
 * Returns: false if the rule does not exist.
 */
bool policy_get_rule(const struct policy *policy, const struct policy_key *key,
		     struct policy_rule *rule);

/**
 * policy_add_rule() - add a new rule
 * @policy: the policy
 * @key: to which sockets it applies
 * @rule: what it does
 *
 * Returns: 0 or a negative errno.
 */
int policy_add_rule(const struct policy *policy, const struct policy_key *key,
		    const struct policy_rule *rule);

/**
 * policy_delete_rule() - delete a rule
 * @policy: the policy
 * @key: key of the rule
 *
 * Returns: false if the rule does not exist.
 */
bool policy_delete_rule(const struct policy *policy, const struct policy_key *key);

/**
 * policy_next_rule() - iterate over the rules
 * @policy: the policy
 * @key: the previous key, replaced by the next
 * @begin: start with the first rule
 *
 * Returns: false at the end.
 */
bool policy_next_rule(const struct policy *policy, struct policy_key *key, bool begin);

/**
 * policy_get_state() - read the state of the policy
 * @policy: the policy
 * @state: filled in
 *
 * Returns: false on failure.
 */
bool policy_get_state(const struct policy *policy, struct policy_state *state);

#endif /* SMC_POLICY_ATTACH_H */

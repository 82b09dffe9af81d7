/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert arguments of the user to keys of rules, and back */
#ifndef SMC_POLICY_SCOPE_H
#define SMC_POLICY_SCOPE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "map.h"

/**
 * struct scope - to which sockets a rule applies
 * @key: key in the map
 * @except: these sockets stay TCP
 * @was_there: the rule existed before
 * @missing: the object does not exist; only an old rule can match
 * @label: text for the user
 */
struct scope {
	struct policy_key	key;
	bool			except;
	bool			was_there;
	bool			missing;
	char			label[POLICY_LABEL_LEN];
};

/**
 * scope_find() - parse an argument
 * @scope: filled in, except for @except
 * @kind: kind of the object
 * @word: path, name or number; not used for the host
 * @may_be_gone: a namespace, cgroup or user that does not exist gets a label only
 *
 * Returns: false if the object does not exist, after an error message.
 */
bool scope_find(struct scope *scope, enum policy_kind kind, const char *word,
		bool may_be_gone);

/**
 * scope_kind() - name of a kind, as in the options
 * @kind: the kind, also from the maps of another version
 *
 * Returns: the name.
 */
const char *scope_kind(unsigned int kind);

/**
 * scope_is_gone() - can the rule never apply again?
 * @key: the key of the rule
 *
 * Returns: true for a removed cgroup: IDs are not reused.
 */
bool scope_is_gone(const struct policy_key *key);

/**
 * scope_has_process() - is a process in a cgroup or below it?
 * @label: the label of the cgroup's rule
 * @pid: process ID
 *
 * Returns: false also if the process has ended.
 */
bool scope_has_process(const char *label, pid_t pid);

#endif /* SMC_POLICY_SCOPE_H */

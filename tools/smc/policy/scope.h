/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the words of a user to the key of a rule, and back.
 */
#ifndef SMC_POLICY_SCOPE_H
#define SMC_POLICY_SCOPE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "map.h"

/**
 * struct scope - which sockets are meant
 * @key: for the map
 * @except: these are to stay TCP
 * @was_there: a rule for it was there before
 * @missing: there is no such thing; only a rule from before can be meant
 * @label: the same for people
 */
struct scope {
	struct policy_key	key;
	bool			except;
	bool			was_there;
	bool			missing;
	char			label[POLICY_LABEL_LEN];
};

/**
 * scope_find() - find out what a word means
 * @scope: filled in, but for @except
 * @kind: the kind of thing
 * @word: path, name or number; not used for the host
 * @may_be_gone: a namespace, cgroup or user that is not there any more has its label only
 *
 * Returns: false if there is no such thing; the user has been told.
 */
bool scope_find(struct scope *scope, enum policy_kind kind, const char *word,
		bool may_be_gone);

/**
 * scope_kind() - name of a kind, as the options have it
 * @kind: the kind, also of the maps of another version
 *
 * Returns: the name.
 */
const char *scope_kind(unsigned int kind);

/**
 * scope_is_gone() - can the rule never apply again?
 * @key: the key of the rule
 *
 * Returns: true for a cgroup that was removed: ids are not used twice.
 */
bool scope_is_gone(const struct policy_key *key);

/**
 * scope_has_process() - is a process in a cgroup or below it?
 * @label: the label of the cgroup's rule
 * @pid: number of the process
 *
 * Returns: false also if the process has ended.
 */
bool scope_has_process(const char *label, pid_t pid);

#endif /* SMC_POLICY_SCOPE_H */

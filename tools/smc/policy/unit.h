/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units of systemd. Each start of one makes a new cgroup, so that a drop-in has to ask for SMC
 * anew.
 */
#ifndef SMC_POLICY_UNIT_H
#define SMC_POLICY_UNIT_H

#include <stdbool.h>

#define UNIT_NAME_LEN	256
#define UNIT_PATH_LEN	4096

/**
 * struct unit - a unit that systemd knows
 * @name: its first name, with the suffix
 * @cgroup: from below the mount point, or empty if it does not run
 */
struct unit {
	char	name[UNIT_NAME_LEN];
	char	cgroup[UNIT_PATH_LEN];
};

/**
 * enum unit_way - how a unit gets SMC sockets
 * @UNIT_BY_POLICY: each start asks for it for its cgroup
 * @UNIT_BY_PRELOAD: each start puts a library before the program
 */
enum unit_way {
	UNIT_BY_POLICY,
	UNIT_BY_PRELOAD,
};

/**
 * unit_find() - ask systemd
 * @unit: filled in
 * @word: what the user calls it
 *
 * Returns: false if there is no such unit; the user has been told.
 */
bool unit_find(struct unit *unit, const char *word);

/* Only services start programs; slices and scopes have a cgroup and nothing else */
bool unit_is_service(const struct unit *unit);

/**
 * unit_write_drop_in() - from now on each start of it asks for SMC
 * @unit: the unit
 * @way: how
 * @persistent: also after the next boot
 * @force: the command of each start has --force
 *
 * Returns: false if it cannot be written; the user has been told.
 */
bool unit_write_drop_in(const struct unit *unit, enum unit_way way, bool persistent, bool force);

/**
 * unit_remove_drop_ins() - starts of it do not ask for SMC any more
 * @unit: the unit
 *
 * Returns: how many were removed, or a negative errno.
 */
int unit_remove_drop_ins(const struct unit *unit);

typedef void unit_found_fn(const char *unit, const char *path, void *data);

/**
 * unit_list_drop_ins() - which units have one
 * @found: called with the name of the unit and the path of the file
 * @data: for @found
 */
void unit_list_drop_ins(unit_found_fn *found, void *data);

#endif /* SMC_POLICY_UNIT_H */

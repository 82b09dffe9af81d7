/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units of systemd. Each start of a unit creates a new cgroup, so its drop-in must activate SMC on
 * each start.
 */
#ifndef SMC_POLICY_UNIT_H
#define SMC_POLICY_UNIT_H

#include <stdbool.h>

#define UNIT_NAME_LEN	256
#define UNIT_PATH_LEN	4096

/**
 * struct unit - a unit that systemd knows
 * @name: its primary name, with suffix
 * @cgroup: relative to the mount point, or empty if it does not run
 */
struct unit {
	char	name[UNIT_NAME_LEN];
	char	cgroup[UNIT_PATH_LEN];
};

/**
 * enum unit_way - how a unit gets SMC sockets
 * @UNIT_BY_POLICY: each start adds a rule for its cgroup
 * @UNIT_BY_PRELOAD: each start preloads the library
 */
enum unit_way {
	UNIT_BY_POLICY,
	UNIT_BY_PRELOAD,
};

/**
 * unit_find() - look up a unit in systemd
 * @unit: filled in
 * @word: name given by the user
 *
 * Returns: false if the unit does not exist, after an error message.
 */
bool unit_find(struct unit *unit, const char *word);

/* Only services start programs; slices and scopes have only a cgroup */
bool unit_is_service(const struct unit *unit);

/**
 * unit_write_drop_in() - make each start of the unit activate SMC
 * @unit: the unit
 * @way: how
 * @persistent: also after the next boot
 * @force: use --force on each start
 *
 * Returns: false on failure, after an error message.
 */
bool unit_write_drop_in(const struct unit *unit, enum unit_way way, bool persistent, bool force);

/**
 * unit_remove_drop_ins() - undo unit_write_drop_in()
 * @unit: the unit
 *
 * Returns: number of removed files, or a negative errno.
 */
int unit_remove_drop_ins(const struct unit *unit);

typedef void unit_found_fn(const char *unit, const char *path, void *data);

/**
 * unit_list_drop_ins() - list the units that have a drop-in
 * @found: called with the name of the unit and the path of the file
 * @data: for @found
 */
void unit_list_drop_ins(unit_found_fn *found, void *data);

#endif /* SMC_POLICY_UNIT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ISMD_DAEMON_H
#define SMC_ISMD_DAEMON_H

/**
 * daemon_run() - serve until a signal ends it
 * @policy_file: which machines may share memory
 * @state_folder: what outlives the host's boots
 * @argv: to start again with
 *
 * Return: exit status
 */
int daemon_run(const char *policy_file, const char *state_folder, char **argv);

#endif /* SMC_ISMD_DAEMON_H */

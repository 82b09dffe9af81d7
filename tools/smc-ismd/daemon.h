/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ISMD_DAEMON_H
#define SMC_ISMD_DAEMON_H

/**
 * daemon_run() - run the service until a signal ends it
 * @policy_file: defines which machines may share memory
 * @state_folder: state that survives a reboot of the host
 * @argv: arguments to execute the program again
 *
 * Return: exit status
 */
int daemon_run(const char *policy_file, const char *state_folder, char **argv);

#endif /* SMC_ISMD_DAEMON_H */

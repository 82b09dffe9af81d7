/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of the operator for policies */
#ifndef SMC_ISMD_COMMAND_H
#define SMC_ISMD_COMMAND_H

/* Output formats for the configuration of a virtual machine */
enum attach_format { ATTACH_BOTH, ATTACH_QEMU, ATTACH_XML };

/* All return an exit status */
int command_check(const char *policy_file);
int command_attach(const char *policy_file, const char *vm, const char *peer,
		   enum attach_format format);

/**
 * command_pair() - let two machines share memory: change the policy, and reload it
 * @policy_file: file to change
 * @words: names and attributes of the machines
 * @count: number of words
 */
int command_pair(const char *policy_file, char **words, int count);

#endif /* SMC_ISMD_COMMAND_H */

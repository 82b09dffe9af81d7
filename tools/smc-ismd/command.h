/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the operator does with policies
 */
#ifndef SMC_ISMD_COMMAND_H
#define SMC_ISMD_COMMAND_H

/* How to show the way to a pair. */
enum attach_format { ATTACH_BOTH, ATTACH_QEMU, ATTACH_XML };

/* Each returns an exit status. */
int command_check(const char *policy_file);
int command_attach(const char *policy_file, const char *vm, const char *peer,
		   enum attach_format format);

/**
 * command_pair() - let two machines share memory: into the policy, and reload
 * @policy_file: to change
 * @words: their names and attributes
 * @count: of words
 */
int command_pair(const char *policy_file, char **words, int count);

#endif /* SMC_ISMD_COMMAND_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy file: which virtual machines may share memory */
#ifndef SMC_ISMD_POLICY_H
#define SMC_ISMD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define POLICY_FILE	"/etc/smc-ismd.conf"

/* keeps the path of a socket below /run/smc-ism short enough */
#define VM_NAME_MAX	40
#define PAIRS_MAX	512
#define VMS_MAX		512

/* number of clients of a machine that are accepted without delay */
#define JOINS_DEFAULT	5

#define NO_USER		((uid_t)-1)

struct policy_vm {
	char	name[VM_NAME_MAX + 1];
	uid_t	user;			/* user of QEMU; NO_USER: the daemon's user */
	bool	unknown;		/* the user does not exist: the machine has no pairs */
	unsigned int pairs;
};

/* Sides are in the order of the names, independent of the order in the policy */
struct policy_pair {
	struct policy_vm *vm[2];
	uint64_t size;
	unsigned int vectors;
};

/**
 * struct policy - a policy file
 * @fabric: number of the fabric
 * @memory: limit of the memory of all pairs, 0: no limit
 * @joins: number of clients of a machine in a row, before each further one is delayed by a
 *	second
 * @vm: all machines
 * @vms: number of machines
 * @pair: all pairs, each once
 * @pairs: number of pairs
 */
struct policy {
	unsigned int fabric;
	uint64_t memory;
	unsigned int joins;
	struct policy_vm *vm[VMS_MAX];
	unsigned int vms;
	struct policy_pair *pair;
	unsigned int pairs;
};

/**
 * policy_read() - parse a policy
 * @file: to read
 * @name: name of the file, for error messages
 * @complaint: called for each error, with a line of text that includes the position
 * @lenient: an unknown user is not an error, but the machine has no pairs
 *
 * Return: the policy, or NULL after an error
 */
struct policy *policy_read(FILE *file, const char *name, void (*complaint)(const char *text),
			   bool lenient);

void policy_free(struct policy *policy);

/* The pair of these two machines, in any order, or NULL */
const struct policy_pair *policy_find(const struct policy *policy, const char *a, const char *b);

bool policy_name_ok(const char *name);
bool policy_name_char(char c);

/* "64M" for 67108864 */
#define SIZE_TEXT	16
const char *policy_size(uint64_t size, char text[SIZE_TEXT]);

#endif /* SMC_ISMD_POLICY_H */

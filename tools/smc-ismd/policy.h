/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy file: which virtual machines may share memory with which
 */
#ifndef SMC_ISMD_POLICY_H
#define SMC_ISMD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define POLICY_FILE	"/etc/smc-ismd.conf"

/* So that the path of a socket below /run/smc-ism fits. */
#define VM_NAME_MAX	40
#define PAIRS_MAX	512
#define VMS_MAX		512

/* So many clients of a machine are let in without waiting. */
#define JOINS_DEFAULT	5

#define NO_USER		((uid_t)-1)

struct policy_vm {
	char	name[VM_NAME_MAX + 1];
	uid_t	user;			/* that QEMU runs as; NO_USER: ours */
	bool	unknown;		/* there is no such user: it has no pairs */
	unsigned int pairs;
};

/* Sides are in the order of the names, however a policy says it. */
struct policy_pair {
	struct policy_vm *vm[2];
	uint64_t size;
	unsigned int vectors;
};

/**
 * struct policy - a policy file
 * @fabric: number of the fabric
 * @memory: what all pairs together may take, 0: no limit
 * @joins: how many clients in a row a machine may have, before each waits for a second
 * @vm: all of them
 * @vms: how many
 * @pair: all of them, each once
 * @pairs: how many
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
 * policy_read() - read a policy
 * @file: to read
 * @name: of the file, for what there is to complain about
 * @complaint: called for each error, with a line of text that names the place
 * @lenient: a user that is not there is no error, but the machine has no pairs
 *
 * Return: the policy, or NULL if there was an error
 */
struct policy *policy_read(FILE *file, const char *name, void (*complaint)(const char *text),
			   bool lenient);

void policy_free(struct policy *policy);

/* The pair of these two, in any order, or NULL. */
const struct policy_pair *policy_find(const struct policy *policy, const char *a, const char *b);

bool policy_name_ok(const char *name);
bool policy_name_char(char c);

/* "64M" for 67108864 */
#define SIZE_TEXT	16
const char *policy_size(uint64_t size, char text[SIZE_TEXT]);

#endif /* SMC_ISMD_POLICY_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF program and the tool say to each other in the maps.
 *
 * Whoever changes something here raises POLICY_LAYOUT: the tool does not touch the maps of another
 * version, it only takes them away.
 */
#ifndef SMC_POLICY_MAP_H
#define SMC_POLICY_MAP_H

#include <linux/types.h>

#define POLICY_LAYOUT		1
#define POLICY_MAX_RULES	1024
#define POLICY_NAME_LEN		16	/* TASK_COMM_LEN */
#define POLICY_LABEL_LEN	256

/* From wide to narrow; the narrowest rule that says "on" counts the socket */
enum policy_kind {
	POLICY_HOST,
	POLICY_NETNS,
	POLICY_CGROUP,
	POLICY_USER,
	POLICY_PROGRAM,
	POLICY_KINDS,
};

/**
 * struct policy_key - which sockets
 * @kind: enum policy_kind
 * @unused: 0
 * @id: cookie of a network namespace, id of a cgroup, number of a user, or 0
 * @name: of a program, filled up with zeros
 */
struct policy_key {
	__u32		kind;
	__u32		unused;
	union {
		__u64	id;
		char	name[POLICY_NAME_LEN];
	};
};

/**
 * struct policy_rule - what becomes of them
 * @since: seconds since 1970
 * @sockets: how many were changed, or left alone
 * @except: these stay TCP, whatever other rules say
 * @unused: 0
 * @label: what the user called it
 */
struct policy_rule {
	__u64	since;
	__u64	sockets;
	__u32	except;
	__u32	unused;
	char	label[POLICY_LABEL_LEN];
};

/**
 * struct policy_state - the policy as a whole
 * @layout: POLICY_LAYOUT
 * @unused: 0
 * @since: seconds since 1970
 * @changed: sockets that became SMC ones
 * @mptcp: those of them that were to be MPTCP
 */
struct policy_state {
	__u32	layout;
	__u32	unused;
	__u64	since;
	__u64	changed;
	__u64	mptcp;
};

#endif /* SMC_POLICY_MAP_H */

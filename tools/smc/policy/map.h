/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that BPF program and tool share.
 *
 * A change here must increment POLICY_LAYOUT: the tool does not use the maps of another version, it
 * only removes them.
 */
#ifndef SMC_POLICY_MAP_H
#define SMC_POLICY_MAP_H

#include <linux/types.h>

#define POLICY_LAYOUT		1
#define POLICY_MAX_RULES	1024
#define POLICY_NAME_LEN		16	/* TASK_COMM_LEN */
#define POLICY_LABEL_LEN	256

/* From general to specific; the most specific rule that says "on" counts the socket */
enum policy_kind {
	POLICY_HOST,
	POLICY_NETNS,
	POLICY_CGROUP,
	POLICY_USER,
	POLICY_PROGRAM,
	POLICY_KINDS,
};

/**
 * struct policy_key - to which sockets a rule applies
 * @kind: enum policy_kind
 * @unused: 0
 * @id: cookie of a network namespace, ID of a cgroup, user ID, or 0
 * @name: name of a program, padded with zeros
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
 * struct policy_rule - what a rule does
 * @since: seconds since 1970
 * @sockets: number of sockets that it changed, or left as TCP
 * @except: the sockets stay TCP, whatever other rules say
 * @unused: 0
 * @label: name given by the user
 */
struct policy_rule {
	__u64	since;
	__u64	sockets;
	__u32	except;
	__u32	unused;
	char	label[POLICY_LABEL_LEN];
};

/**
 * struct policy_state - state of the policy
 * @layout: POLICY_LAYOUT
 * @unused: 0
 * @since: seconds since 1970
 * @changed: number of sockets that became SMC sockets
 * @mptcp: number of those that were requested as MPTCP
 */
struct policy_state {
	__u32	layout;
	__u32	unused;
	__u64	since;
	__u64	changed;
	__u64	mptcp;
};

#endif /* SMC_POLICY_MAP_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy: in each socket() the kernel asks it for the protocol of the new socket.
 *
 * It needs no header of the running kernel: CO-RE finds the offsets of the few fields when the
 * program is loaded.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "map.h"

#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
#define SOCK_TYPE_MASK	0xf
#define IPPROTO_TCP	6
#define IPPROTO_SMC	256
#define IPPROTO_MPTCP	262

/* limits the search; rules of ancestors find cgroups below them */
#define MAX_DEPTH	32

struct net {
	__u64 net_cookie;
} __attribute__((preserve_access_index));

struct nsproxy {
	struct net *net_ns;
} __attribute__((preserve_access_index));

struct task_struct {
	struct nsproxy *nsproxy;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POLICY_MAX_RULES);
	__type(key, struct policy_key);
	__type(value, struct policy_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct policy_state);
} state SEC(".maps");

char _license[] SEC("license") = "GPL";

static __always_inline bool asks_for_tcp(int family, int type, int protocol)
{
	return (family == AF_INET || family == AF_INET6) &&
	       (type & SOCK_TYPE_MASK) == SOCK_STREAM &&
	       (!protocol || protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP);
}

/* Returns: false to end the search, because the rule is an exception */
static __always_inline bool apply_rule(const struct policy_key *key, struct policy_rule **on)
{
	struct policy_rule *rule = bpf_map_lookup_elem(&rules, key);

	if (!rule)
		return true;
	if (rule->except) {
		__sync_fetch_and_add(&rule->sockets, 1);
		*on = NULL;
		return false;
	}
	*on = rule;
	return true;
}

static __always_inline bool apply_id_rule(enum policy_kind kind, __u64 id, struct policy_rule **on)
{
	struct policy_key key;

	__builtin_memset(&key, 0, sizeof(key));
	key.kind = kind;
	key.id = id;
	return apply_rule(&key, on);
}

static __always_inline bool apply_netns_rule(struct policy_rule **on)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return apply_id_rule(POLICY_NETNS, task->nsproxy->net_ns->net_cookie, on);
}

static __always_inline bool apply_cgroup_rules(struct policy_rule **on)
{
	__u64 id = 0;
	int level;

	for (level = 0; level < MAX_DEPTH; level++) {
		id = bpf_get_current_ancestor_cgroup_id(level);
		if (!id)
			return true;
		if (!apply_id_rule(POLICY_CGROUP, id, on))
			return false;
	}
	return apply_id_rule(POLICY_CGROUP, bpf_get_current_cgroup_id(), on);
}

static __always_inline bool apply_program_rule(struct policy_rule **on)
{
	struct policy_key key;

	__builtin_memset(&key, 0, sizeof(key));
	key.kind = POLICY_PROGRAM;
	bpf_get_current_comm(key.name, sizeof(key.name));
	return apply_rule(&key, on);
}

static __always_inline struct policy_rule *find_rule(void)
{
	struct policy_rule *on = NULL;

	if (apply_id_rule(POLICY_HOST, 0, &on) && apply_netns_rule(&on) &&
	    apply_cgroup_rules(&on) &&
	    apply_id_rule(POLICY_USER, (__u32)bpf_get_current_uid_gid(), &on))
		apply_program_rule(&on);
	return on;
}

/* 0 makes the kernel continue as without this program */
SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(smc_policy, int family, int type, int protocol)
{
	struct policy_state *whole;
	struct policy_rule *on;
	__u32 first = 0;

	if (!asks_for_tcp(family, type, protocol))
		return 0;
	on = find_rule();
	if (!on)
		return 0;
	__sync_fetch_and_add(&on->sockets, 1);
	whole = bpf_map_lookup_elem(&state, &first);
	if (whole) {
		__sync_fetch_and_add(&whole->changed, 1);
		if (protocol == IPPROTO_MPTCP)
			__sync_fetch_and_add(&whole->mptcp, 1);
	}
	return IPPROTO_SMC;
}

/*
 * Holds a reference to the module: without a handler of protocol 256, no program could open a TCP
 * socket any more. A pinned link to an event of a module holds a reference to the module. The event
 * is a rare one and exists only in this project's module.
 */
SEC("raw_tp/smc_abort")
int smc_policy_hold(void *ctx)
{
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "module.h"
#include "pins.h"
#include "problem.h"
#include "smc_socket.h"
#include "uapi.h"

#define HOOK		"update_socket_protocol"

#define TOO_OLD	"this kernel cannot change the protocol of a new socket; Linux 6.6 is the first"
#define TAKEN	"another BPF program changes sockets already: link %u at " HOOK ", see " \
		"\"bpftool link\""
#define NO_PROTOCOL "cannot create SMC sockets for IPv%d: %s; a policy may forbid them, or " \
		"another module uses their protocol number"
#define NO_MODULE "no SMC in this kernel: the module smc is missing or cannot be loaded; " \
		"\"modprobe smc\" shows why"
#define OTHER_MODULE MODULE_IS_OTHER ": " MODULE_ADVICE
#define LOCKED_DOWN "the kernel is locked down (confidentiality): BPF programs of this kind are " \
		"forbidden"
#define NO_RIGHT "this user may not load BPF programs: that needs CAP_BPF, CAP_PERFMON and " \
		"CAP_NET_ADMIN in the first user namespace"

/* This program contains the compiled BPF program */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"policy_object: .incbin \"" POLICY_OBJECT "\"\n"
	"policy_object_end: .byte 0\n"
	".popsection\n");
extern const char policy_object[], policy_object_end[];

/* The two BPF programs of the object, loaded into the kernel */
struct links {
	struct bpf_link	*hold;
	struct bpf_link	*program;
};

/* Messages of libbpf are for developers of BPF programs */
static int print_debug(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	const char *debug = getenv("SMC_DEBUG");

	return debug && *debug == '1' ? vfprintf(stderr, fmt, ap) : 0;
}

/* Returns: the ID of a kernel function in the kernel's BTF, or 0 */
static unsigned int find_function(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);

	return id > 0 ? id : 0;
}

const char *policy_obstacle(void)
{
	const char *reason = NULL;
	struct btf *btf;

	libbpf_set_print(print_debug);
	btf = btf__load_vmlinux_btf();
	if (libbpf_get_error(btf))
		return "the kernel has no type information (CONFIG_DEBUG_INFO_BTF)";
	if (!find_function(btf, HOOK))
		reason = TOO_OLD;
	else if (btf__find_by_name_kind(btf, "mptcp_sock", BTF_KIND_STRUCT) < 0)
		reason = "this kernel was built without CONFIG_MPTCP, which has the hook";
	btf__free(btf);
	return reason;
}

static bool is_on_hook(unsigned int link, unsigned int hook)
{
	struct bpf_link_info info = { };
	__u32 len = sizeof(info);
	int fd = bpf_link_get_fd_by_id(link), err;

	if (fd < 0)
		return false;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return !err && info.type == BPF_LINK_TYPE_TRACING &&
	       info.tracing.attach_type == BPF_MODIFY_RETURN &&
	       info.tracing.target_btf_id == hook;
}

/*
 * The first program at the hook decides alone. With a second one, the result would depend on the
 * order in which they were attached.
 */
static bool is_hook_free(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	unsigned int hook, link = 0;

	if (libbpf_get_error(btf))
		return true;
	hook = find_function(btf, HOOK);
	btf__free(btf);
	while (!bpf_link_get_next_id(link, &link))
		if (is_on_hook(link, hook))
			return problem(TAKEN, link);
	return true;
}

static bool can_open(int family, int protocol)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A family without SMC sockets would lose its TCP sockets, so all families must have them */
static bool check_protocol(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (can_open(families[i], 0) && !can_open(families[i], IPPROTO_SMC))
			return problem(NO_PROTOCOL, families[i] == AF_INET ? 4 : 6,
				       strerror(errno));
	return true;
}

/* Creating a socket loads the module */
static bool hold_module(struct bpf_object *object, struct links *links)
{
	struct bpf_program *hold = bpf_object__find_program_by_name(object, "smc_policy_hold");
	int fd = smc_socket(AF_INET);

	if (fd < 0)
		return problem(NO_MODULE);
	close(fd);
	links->hold = bpf_program__attach(hold);
	if (!libbpf_get_error(links->hold))
		return check_protocol();
	links->hold = NULL;
	if (errno == ENOENT)
		return problem(OTHER_MODULE);
	return problem("cannot hold a reference to the module smc: %s", strerror(errno));
}

static bool is_locked_down(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char modes[80] = "";
	size_t len;

	if (!file)
		return false;
	len = fread(modes, 1, sizeof(modes) - 1, file);
	fclose(file);
	modes[len] = '\0';
	return strstr(modes, "[confidentiality]");
}

static bool explain_load(int err)
{
	if (err == EPERM && is_locked_down())
		return problem(LOCKED_DOWN);
	if (err == EPERM)
		return problem(NO_RIGHT);
	if (err == ENOSYS)
		return problem("this kernel was built without BPF (CONFIG_BPF_SYSCALL)");
	return problem("the kernel rejects the BPF program: %s; SMC_DEBUG=1 shows more",
		       strerror(err));
}

static bool attach_program(struct bpf_object *object, struct links *links)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object,
								       POLICY_PROGRAM_NAME);

	links->program = bpf_program__attach(program);
	if (!libbpf_get_error(links->program))
		return true;
	links->program = NULL;
	return problem("the BPF program cannot be attached: %s", strerror(errno));
}

static bool pin_map(struct bpf_object *object, const char *name, const char *path)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map && !bpf_obj_pin(bpf_map__fd(map), path);
}

/* The policy is active once its program is pinned, so that is the last step */
static bool pin_all(struct bpf_object *object, const struct links *links)
{
	if (mkdir(PINS_FOLDER, 0700) ||
	    !pin_map(object, "rules", PIN_RULES) || !pin_map(object, "state", PIN_STATE) ||
	    bpf_obj_pin(bpf_link__fd(links->hold), PIN_HOLD) ||
	    bpf_obj_pin(bpf_link__fd(links->program), PIN_PROGRAM))
		return problem("cannot keep the policy in %s: %s", PINS_FOLDER, strerror(errno));
	return true;
}

static bool begin_state(struct bpf_object *object)
{
	struct policy_state state = { .layout = POLICY_LAYOUT, .since = time(NULL) };
	struct bpf_map *map = bpf_object__find_map_by_name(object, "state");
	__u32 first = 0;

	if (map && !bpf_map_update_elem(bpf_map__fd(map), &first, &state, BPF_ANY))
		return true;
	return problem("cannot fill the map of the policy: %s", strerror(errno));
}

static bool attach_object(struct bpf_object *object, struct links *links)
{
	int err = bpf_object__load(object);

	if (err)
		return explain_load(-err);
	return begin_state(object) && hold_module(object, links) &&
	       attach_program(object, links) && pin_all(object, links);
}

bool policy_attach(struct policy *policy)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "smc_policy");
	struct links links = { };
	struct bpf_object *object;
	bool ok;

	libbpf_set_print(print_debug);
	if (!is_hook_free())
		return false;
	if (pins_are_left() && !pins_remove())
		return false;
	object = bpf_object__open_mem(policy_object, policy_object_end - policy_object, &opts);
	if (libbpf_get_error(object))
		return problem("the BPF program of this tool cannot be read: %s", strerror(errno));
	ok = attach_object(object, &links);
	if (!ok)
		pins_remove();
	/* pinned objects stay; free the program before the reference to the module */
	bpf_link__destroy(links.program);
	bpf_link__destroy(links.hold);
	bpf_object__close(object);
	return ok && policy_open(policy);
}

static bool has_layout(int fd, __u32 key, __u32 value)
{
	struct bpf_map_info info = { };
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.key_size == key &&
	       info.value_size == value;
}

bool policy_open(struct policy *policy)
{
	struct policy_state state;

	policy->rules = bpf_obj_get(PIN_RULES);
	policy->state = bpf_obj_get(PIN_STATE);
	if (policy->rules >= 0 && policy->state >= 0 &&
	    has_layout(policy->rules, sizeof(struct policy_key), sizeof(struct policy_rule)) &&
	    has_layout(policy->state, sizeof(__u32), sizeof(struct policy_state)) &&
	    policy_get_state(policy, &state) && state.layout == POLICY_LAYOUT)
		return true;
	policy_close(policy);
	return problem("another version of this tool has switched SMC on: \"smc off\" first");
}

void policy_close(struct policy *policy)
{
	if (policy->rules >= 0)
		close(policy->rules);
	if (policy->state >= 0)
		close(policy->state);
}

bool policy_get_rule(const struct policy *policy, const struct policy_key *key,
		     struct policy_rule *rule)
{
	return !bpf_map_lookup_elem(policy->rules, key, rule);
}

int policy_add_rule(const struct policy *policy, const struct policy_key *key,
		    const struct policy_rule *rule)
{
	return bpf_map_update_elem(policy->rules, key, rule, BPF_NOEXIST) ? -errno : 0;
}

bool policy_delete_rule(const struct policy *policy, const struct policy_key *key)
{
	return !bpf_map_delete_elem(policy->rules, key);
}

bool policy_next_rule(const struct policy *policy, struct policy_key *key, bool begin)
{
	return !bpf_map_get_next_key(policy->rules, begin ? NULL : key, key);
}

bool policy_get_state(const struct policy *policy, struct policy_state *state)
{
	__u32 first = 0;

	return !bpf_map_lookup_elem(policy->state, &first, state);
}

// SPDX-License-Identifier: GPL-2.0-only
/* A BPF program puts connections that come in into a sockmap, before anybody else sees them */

#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "pair.h"

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int new_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_SOCKMAP,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* On a connection that was accepted: put it there */
static int load_program(int map)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1,
		  .off = offsetof(struct bpf_sock_ops, op) },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = 7,
		  .imm = BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 2, .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 3, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 3, .imm = -4 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .imm = BPF_ANY },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_sock_map_update },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static char log[8192];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCK_OPS,
		.insns = (uintptr_t)program,
		.insn_cnt = sizeof(program) / sizeof(*program),
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		FAIL("the verifier says: %s", log);
	return fd;
}

static bool has_sockmaps(int index)
{
	int map = new_map();

	close(map);
	(void)index;
	return map >= 0 && within_host(index);
}

/**
 * struct group - a control group with this process in it, and a program attached
 * @dir: where control groups are mounted
 * @path: the group
 * @fd: the group
 * @program: the program
 * @map: its map
 */
struct group {
	char dir[32];
	char path[64];
	int fd;
	int program;
	int map;
};

static void move_to(const char *path)
{
	char procs[96];
	int fd;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	fd = OK(open(procs, O_WRONLY | O_CLOEXEC));
	EQ(OK(write(fd, "0", 1)), 1);
	close(fd);
}

static void group_enter(struct group *group)
{
	union bpf_attr attr = { .attach_type = BPF_CGROUP_SOCK_OPS };

	snprintf(group->dir, sizeof(group->dir), "/tmp/sockmap.XXXXXX");
	TRUE(mkdtemp(group->dir));
	OK(mount("none", group->dir, "cgroup2", 0, NULL));
	snprintf(group->path, sizeof(group->path), "%s/sockmap-%d", group->dir, getpid());
	OK(mkdir(group->path, 0700));
	move_to(group->path);
	group->fd = OK(open(group->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	group->map = OK(new_map());
	group->program = load_program(group->map);
	attr.target_fd = group->fd;
	attr.attach_bpf_fd = group->program;
	OK(bpf(BPF_PROG_ATTACH, &attr));
}

static void group_leave(struct group *group)
{
	union bpf_attr attr = {
		.attach_type = BPF_CGROUP_SOCK_OPS,
		.target_fd = group->fd,
		.attach_bpf_fd = group->program,
	};

	OK(bpf(BPF_PROG_DETACH, &attr));
	close(group->fd);
	close(group->program);
	close(group->map);
	move_to(group->dir);
	OK(rmdir(group->path));
	OK(umount2(group->dir, MNT_DETACH));
	OK(rmdir(group->dir));
}

static int remove_from(const struct group *group)
{
	union bpf_attr attr = { .map_fd = group->map, .key = (uintptr_t)&(uint32_t){ 0 } };

	return bpf(BPF_MAP_DELETE_ELEM, &attr);
}

static void read_four(void *arg)
{
	char four[4];

	recv_all(*(int *)arg, four, sizeof(four));
}

static void check_talk(int a, int b)
{
	struct worker worker;

	send_text(a, "to b");
	expect_text(b, "to b");
	send_text(b, "to a");
	expect_text(a, "to a");
	worker_start(&worker, read_four, &b);
	worker_asleep(&worker);
	send_text(a, "wake");
	worker_join(&worker);
}

/* Whoever is in the map is TCP from both sides, and stays alive when it is taken out */
TEST(sockmap_of_children, .applies = has_sockmaps, .alone = true)
{
	struct group group;
	int listener, client, server;

	group_enter(&group);
	listener = listen_any(2);
	client = connect_to(listener);
	server = accept_from(listener);
	TRUE(is_tcp(client) && is_tcp(server));
	check_talk(client, server);
	OK(remove_from(&group));
	check_talk(client, server);
	close(server);
	close(client);
	close(listener);
	group_leave(&group);
}

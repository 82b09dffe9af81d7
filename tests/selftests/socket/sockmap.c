// SPDX-License-Identifier: GPL-2.0-only
/* A BPF program does something to connections that come in, before anybody else sees them */

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

static int new_map(uint32_t type)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int load(const struct bpf_insn *program, unsigned int length)
{
	static char log[8192];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCK_OPS,
		.insns = (uintptr_t)program,
		.insn_cnt = length,
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

/* On a connection that was accepted: put it into the map */
static int load_mapper(int map)
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

	return load(program, sizeof(program) / sizeof(*program));
}

/* On a connection that was accepted: whenever its round trip time is measured, set SO_RCVLOWAT */
static int load_setter(int mark)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1,
		  .off = offsetof(struct bpf_sock_ops, op) },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = 3,
		  .imm = BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2,
		  .imm = BPF_SOCK_OPS_RTT_CB_FLAG },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_sock_ops_cb_flags_set },
		{ .code = BPF_JMP | BPF_JA, .off = 8 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = 7,
		  .imm = BPF_SOCK_OPS_RTT_CB },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4, .imm = mark },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = SOL_SOCKET },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = SO_RCVLOWAT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 4, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 4, .imm = -4 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 5, .imm = sizeof(mark) },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_setsockopt },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(program, sizeof(program) / sizeof(*program));
}

static bool has_sockmaps(int index)
{
	int map = new_map(BPF_MAP_TYPE_SOCKMAP);

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
 */
struct group {
	char dir[32];
	char path[64];
	int fd;
	int program;
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

static void group_enter(struct group *group, int program)
{
	union bpf_attr attr = { .attach_type = BPF_CGROUP_SOCK_OPS };

	snprintf(group->dir, sizeof(group->dir), "/tmp/sockmap.XXXXXX");
	TRUE(mkdtemp(group->dir));
	OK(mount("none", group->dir, "cgroup2", 0, NULL));
	snprintf(group->path, sizeof(group->path), "%s/sockmap-%d", group->dir, getpid());
	OK(mkdir(group->path, 0700));
	move_to(group->path);
	group->fd = OK(open(group->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	group->program = program;
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
	move_to(group->dir);
	while (rmdir(group->path))	/* threads that have ended leave it a little later */
		EQ(errno, EBUSY);
	OK(umount2(group->dir, MNT_DETACH));
	OK(rmdir(group->dir));
}

static int remove_from(int map)
{
	union bpf_attr attr = { .map_fd = map, .key = (uintptr_t)&(uint32_t){ 0 } };

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
	int listener, client, server, map = OK(new_map(BPF_MAP_TYPE_SOCKMAP));
	struct group group;

	group_enter(&group, load_mapper(map));
	listener = listen_any(2);
	client = connect_to(listener);
	server = accept_from(listener);
	TRUE(is_tcp(client) && is_tcp(server));
	check_talk(client, server);
	OK(remove_from(map));
	check_talk(client, server);
	close(server);
	close(client);
	close(listener);
	group_leave(&group);
	close(map);
}

/*
 * It does so in the midst of the handshake as well, when the socket has no program yet. Over SMC,
 * TCP measures a time only if the messages go through it.
 */
TEST(bpf_sets_mark_of_children, .applies = has_sockmaps, .alone = true)
{
	int listener, client, server, mark;
	socklen_t len = sizeof(mark);
	struct group group;

	if (variant->smc)
		set_sysctl("net/smc/handshake_in_memory", 0);
	group_enter(&group, load_setter(3));
	listener = listen_any(2);
	client = connect_to(listener);
	server = accept_from(listener);
	check_talk(client, server);
	OK(getsockopt(server, SOL_SOCKET, SO_RCVLOWAT, &mark, &len));
	TRUE(mark == 3 || is_tcp(server));
	close(server);
	close(client);
	close(listener);
	group_leave(&group);
}

static void put_into(int map, int fd)
{
	uint32_t key = 0, value = fd;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)&value,
	};

	OK(bpf(BPF_MAP_UPDATE_ELEM, &attr));
}

static void check_listener_in(uint32_t type)
{
	struct addr addr = server_bind_address();
	int fd[2], listener = new_server(), map = OK(new_map(type));

	set_int(listener, SOL_SOCKET, SO_REUSEPORT, 1);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 2));
	put_into(map, listener);
	pair_from(listener, fd);
	check_talk(fd[0], fd[1]);
	OK(listen(listener, 3));	/* the map has it still */
	pair_close(fd);
	OK(remove_from(map));
	put_into(map, listener);
	pair_from(listener, fd);
	close(listener);
	check_talk(fd[0], fd[1]);
	pair_close(fd);
	FAILS(remove_from(map), type == BPF_MAP_TYPE_SOCKMAP ? EINVAL : ENOENT);
	close(map);
}

/* Programs steer clients to listening sockets by maps of them. Their connections are as before */
TEST(listener_in_reuseport_map, .applies = has_sockmaps)
{
	check_listener_in(BPF_MAP_TYPE_REUSEPORT_SOCKARRAY);
}

TEST(listener_in_sockmap, .applies = has_sockmaps)
{
	check_listener_in(BPF_MAP_TYPE_SOCKMAP);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The parent: starts connections, kills some ends, waits for all, and counts */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "end.h"

#define MAX_SLOTS	1000

static struct {
	int connections;
	int seconds;
	int patience;
	uint64_t seed;
	uint64_t bytes;
	int first_kind;
	int nr_kinds;
	bool may_break;
	bool may_idle;
} options = { .connections = 20, .patience = 60, .bytes = 4 << 20,
	      .nr_kinds = 4 };

/* Arguments of socket() for both sides, and the address family between them */
static const struct kind {
	const char *name;
	int server[2];
	int client[2];
	int family;
	bool smc;
} kinds[] = {
	{ "smc", { AF_SMC, 0 }, { AF_SMC, 0 }, AF_INET, true },
	{ "smc6", { AF_SMC, 1 }, { AF_SMC, 1 }, AF_INET6, true },
	{ "ipproto", { AF_INET, IPPROTO_SMC }, { AF_INET, IPPROTO_SMC }, AF_INET, true },
	{ "ipproto6", { AF_INET6, IPPROTO_SMC }, { AF_SMC, 1 }, AF_INET6, true },
	{ "fallback server", { AF_SMC, 0 }, { AF_INET, 0 }, AF_INET, false },
	{ "fallback client", { AF_INET, 0 }, { AF_SMC, 0 }, AF_INET, false },
	{ "tcp", { AF_INET, 0 }, { AF_INET, 0 }, AF_INET, false },
};

#define NR_KINDS	((int)(sizeof(kinds) / sizeof(*kinds)))

/**
 * struct slot - a place for one connection after the other
 * @conn: shared with both processes
 * @pid: of both processes, 0: has ended
 * @start: when it began, in milliseconds
 * @kill_at: when the ends that are to be killed are
 */
struct slot {
	struct connection *conn;
	pid_t pid[2];
	long start;
	long kill_at;
};

static struct {
	struct slot slots[MAX_SLOTS];
	unsigned int started;
	unsigned int ended;
	unsigned int failed;
	unsigned int by_ending[ENDINGS];
	uint64_t bytes;
} state;

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: torture [-n CONNECTIONS] [-t SECONDS] [-b BYTES] [-s SEED]\n"
		"               [-p PATIENCE] [-m] [-k KIND] [-i] [-l]\n"
		"  -n  connections at the same time (20)\n"
		"  -t  how long new ones are started (10)\n"
		"  -b  most bytes in each direction of a connection (4194304)\n"
		"  -s  seed; the same one makes the same connections\n"
		"  -p  seconds after which a connection hangs (60)\n"
		"  -m  also TCP, and connections that fall back to it\n"
		"  -k  only this kind of connection: smc, smc6, ipproto, ..., tcp\n"
		"  -i  some writers are idle for a while\n"
		"  -l  links are lost meanwhile: a connection may end, or fall back\n");
	exit(2);
}

static void one_kind(const char *name)
{
	options.nr_kinds = 1;
	for (options.first_kind = 0; options.first_kind < NR_KINDS; options.first_kind++)
		if (!strcmp(kinds[options.first_kind].name, name))
			return;
	usage();
}

static void parse(int argc, char **argv)
{
	int opt;

	if (getrandom(&options.seed, sizeof(options.seed), 0) != sizeof(options.seed))
		usage();
	options.seed %= 1000000;
	while ((opt = getopt(argc, argv, "n:t:b:s:p:mk:il")) != -1) {
		switch (opt) {
		case 'n':
			options.connections = atoi(optarg);
			break;
		case 't':
			options.seconds = atoi(optarg);
			break;
		case 'b':
			options.bytes = atoll(optarg);
			break;
		case 's':
			options.seed = atoll(optarg);
			break;
		case 'p':
			options.patience = atoi(optarg);
			break;
		case 'm':
			options.nr_kinds = NR_KINDS;
			break;
		case 'i':
			options.may_idle = true;
			break;
		case 'l':
			options.may_break = true;
			break;
		case 'k':
			one_kind(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind < argc || options.connections < 1 || options.connections > MAX_SLOTS)
		usage();
}

/* As socket_test: loopback, if servers are nowhere else */
static socklen_t server_address(int family, struct sockaddr_in6 *addr)
{
	const char *host = getenv(family == AF_INET6 ? "SOCKET_TEST_HOST6" : "SOCKET_TEST_HOST");
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	bool v6 = family == AF_INET6;

	if (!host)
		host = v6 ? "::1" : "127.0.0.1";
	memset(addr, 0, sizeof(*addr));
	addr->sin6_family = family;
	if (inet_pton(family, host, v6 ? (void *)&addr->sin6_addr : &in->sin_addr) != 1)
		usage();
	return v6 ? sizeof(*addr) : sizeof(*in);
}

static int new_socket(const struct end *end, const int args[2])
{
	int fd = socket(args[0], SOCK_STREAM | SOCK_CLOEXEC, args[1]);
	int size = end->me->rcvbuf, one = 1;

	if (fd < 0)
		fail(end, "socket: %s", strerror(errno));
	/* Before the first byte can come: a child inherits it */
	if (setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one)))
		fail(end, "SO_OOBINLINE: %s", strerror(errno));
	if (size && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		fail(end, "SO_RCVBUF: %s", strerror(errno));
	return fd;
}

/* Why it is TCP, and what else smcss shows of it */
static void show_socket(const struct end *end)
{
	struct sockaddr_in6 name = {};
	socklen_t len = sizeof(name);
	char command[64];

	getsockname(end->fd, (struct sockaddr *)&name, &len);
	snprintf(command, sizeof(command), "smcss -a | grep ':%d '", ntohs(name.sin6_port));
	if (system(command))
		printf("smcss does not show the socket\n");
}

/*
 * TCP answers a SYN without the lock of the listening socket. If the server is killed meanwhile,
 * the SYN-ACK has no option. The client is TCP, and is reset.
 */
static bool may_be_tcp(const struct end *end)
{
	return end->conn->may_break || (!end->index && is_gone(end));
}

static void check_mode(const struct end *end)
{
	const struct kind *kind = &kinds[end->conn->kind];
	socklen_t len = sizeof(int);
	int value;
	bool tcp;

	tcp = getsockopt(end->fd, SOL_SMC, SMC_LIMIT_HS, &value, &len) != 0;
	if (kind->smc != tcp || (tcp && may_be_tcp(end)))
		return;
	show_socket(end);
	fail(end, "it is %san SMC connection", kind->smc ? "not " : "");
}

static void run_server(struct end *end, int listener)
{
	struct pollfd pfd = { .fd = listener, .events = POLLIN };

	end->me->doing[0] = "accept";
	while (!poll(&pfd, 1, 100))	/* it may be killed before it can connect */
		if (__atomic_load_n(&end->peer->gone, __ATOMIC_SEQ_CST))
			_exit(0);
	end->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (end->fd < 0)
		fail(end, "accept: %s", strerror(errno));
	close(listener);
	check_mode(end);
	end_run(end);
}

static void run_client(struct end *end, const struct sockaddr_in6 *addr, socklen_t len)
{
	end->me->doing[0] = "connect";
	end->fd = new_socket(end, kinds[end->conn->kind].client);
	if (connect(end->fd, (const struct sockaddr *)addr, len)) {
		if (!may_be_reset(end))	/* it may be killed before it can accept */
			fail(end, "connect: %s", strerror(errno));
		__atomic_store_n(&end->me->gone, true, __ATOMIC_SEQ_CST);
		_exit(0);
	}
	check_mode(end);
	end_run(end);
}

static pid_t start_end(struct end *end, int listener, const struct sockaddr_in6 *addr,
		       socklen_t len)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail(end, "fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (end->index)
		run_server(end, listener);
	close(listener);
	run_client(end, addr, len);
	_exit(0);
}

static void plan_side(struct side *side)
{
	memset(side, 0, sizeof(*side));
	side->ending = one_in(2) ? END_POLITE : (int)random_below(ENDINGS);
	side->seed = random_below(~0ULL);
	side->total = one_in(10) ? 0 : random_size(options.bytes);
	side->rcvbuf = one_in(2) ? 0 : 8192 << random_below(8);
	side->idle_at = options.may_idle && one_in(4) ? random_below(side->total + 1) : 0;
	side->urgent = one_in(3);
	side->doing[0] = "start";
	side->doing[1] = "start";
}

static void start_connection(struct slot *slot)
{
	struct connection *conn = slot->conn;
	struct end client = { conn, 0, &conn->side[0], &conn->side[1], -1 };
	struct end server = { conn, 1, &conn->side[1], &conn->side[0], -1 };
	struct sockaddr_in6 addr;
	socklen_t len;
	int listener;

	conn->number = state.started++;
	conn->kind = options.first_kind + random_below(options.nr_kinds);
	conn->may_break = options.may_break;
	plan_side(&conn->side[0]);
	plan_side(&conn->side[1]);
	slot->start = milliseconds();
	slot->kill_at = slot->start + random_below(2000);

	listener = new_socket(&server, kinds[conn->kind].server);
	len = server_address(kinds[conn->kind].family, &addr);
	if (bind(listener, (struct sockaddr *)&addr, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len))
		fail(&server, "listening: %s", strerror(errno));
	slot->pid[1] = start_end(&server, listener, &addr, len);
	slot->pid[0] = start_end(&client, listener, &addr, len);
	close(listener);
}

static void describe(const struct slot *slot)
{
	const struct connection *conn = slot->conn;
	int i;

	printf("# connection %u (%s)\n", conn->number, kinds[conn->kind].name);
	for (i = 0; i < 2; i++) {
		const struct side *side = &conn->side[i];

		printf("#   %s: %s, %s; ending %d; %llu of %llu sent, %llu received%s%s\n",
		       i ? "server" : "client", side->doing[0], side->doing[1], side->ending,
		       (unsigned long long)side->sent, (unsigned long long)side->total,
		       (unsigned long long)side->received, side->done ? ", done" : "",
		       side->gone ? ", gone" : "");
	}
}

static void end_failed(struct slot *slot, int side, int status)
{
	state.failed++;
	if (WIFSIGNALED(status))
		printf("# killed by signal %d\n", WTERMSIG(status));
	printf("# %s failed:\n", side ? "server" : "client");
	describe(slot);
	slot->conn->side[side].gone = true;	/* no wonder if the other one is reset */
}

static void end_over(struct slot *slot, int side, int status)
{
	struct side *me = &slot->conn->side[side];
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
		      me->ending == END_KILL;

	slot->pid[side] = 0;
	if (status && !killed)
		end_failed(slot, side, status);
	state.by_ending[me->ending]++;
	state.bytes += me->received;
	if (!slot->pid[!side])
		state.ended++;
}

static void reap(void)
{
	int status, i, side;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < options.connections; i++)
			for (side = 0; side < 2; side++)
				if (state.slots[i].pid[side] == pid)
					end_over(&state.slots[i], side, status);
}

static void look_after(struct slot *slot)
{
	long now = milliseconds();
	int side;

	for (side = 0; side < 2; side++) {
		struct side *s = &slot->conn->side[side];

		if (s->ending != END_KILL || !slot->pid[side] || now < slot->kill_at || s->gone)
			continue;
		__atomic_store_n(&s->gone, true, __ATOMIC_SEQ_CST);
		kill(slot->pid[side], SIGKILL);
	}
	if (now > slot->start + options.patience * 1000L) {
		printf("# hangs:\n");
		describe(slot);
		state.failed++;
		for (side = 0; side < 2; side++) {
			slot->conn->side[side].gone = true;
			slot->conn->side[side].ending = END_KILL;
			if (slot->pid[side])
				kill(slot->pid[side], SIGKILL);
		}
		slot->start = now;	/* told once */
	}
}

static bool busy(const struct slot *slot)
{
	return slot->pid[0] || slot->pid[1];
}

static void run_all(void)
{
	long end = milliseconds() + options.seconds * 1000L;
	bool any = true;
	int i;

	while (any || milliseconds() < end) {
		reap();
		for (i = 0, any = false; i < options.connections; i++) {
			struct slot *slot = &state.slots[i];

			if (!busy(slot) && milliseconds() < end && !state.failed)
				start_connection(slot);
			if (!busy(slot))
				continue;
			look_after(slot);
			any = true;
		}
		if (state.failed && !any)
			break;
		usleep(2000);		/* a child's end interrupts it */
	}
}

static void on_child(int signum)
{
	(void)signum;
}

int main(int argc, char **argv)
{
	struct connection *shared;
	int i;

	parse(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, on_child);
	pattern_init(options.seed);
	shared = mmap(NULL, options.connections * sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < options.connections; i++)
		state.slots[i].conn = &shared[i];

	printf("TAP version 13\n1..1\n# seed %llu\n", (unsigned long long)options.seed);
	run_all();
	printf("# %u connections, %llu MB\n", state.ended, (unsigned long long)(state.bytes >> 20));
	printf("# ends: polite %u, closed %u, reset %u, both ways %u, killed %u\n",
	       state.by_ending[END_POLITE], state.by_ending[END_CLOSE],
	       state.by_ending[END_RESET], state.by_ending[END_BOTH], state.by_ending[END_KILL]);
	printf("%s 1 - %d connections at once for %d seconds\n", state.failed ? "not ok" : "ok",
	       options.connections, options.seconds);
	return state.failed || !state.ended;
}

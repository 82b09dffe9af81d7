// SPDX-License-Identifier: GPL-2.0-only
/* What a thread does to itself, to other threads, and to the machine */

#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sockfuzz.h"

#define NOWHERE	(4 * MAX_SLOTS)		/* for CALL(): no slot */

static void change_policy(void)
{
	static const int policies[] = { SCHED_IDLE, SCHED_IDLE, SCHED_BATCH, SCHED_OTHER };
	struct sched_param param = {};
	int policy = policies[random_below(4)];

	CALL("sched_setscheduler", NOWHERE, policy, sched_setscheduler(0, policy, &param));
}

static void change_nice(void)
{
	int nice = random_below(20);

	CALL("setpriority", NOWHERE, nice, setpriority(PRIO_PROCESS, me->tid, nice));
}

static void change_processor(void)
{
	cpu_set_t set;
	int i, cpu = random_below(sysconf(_SC_NPROCESSORS_ONLN) + 1);

	CPU_ZERO(&set);
	if (cpu)
		CPU_SET(cpu - 1, &set);
	else
		for (i = 0; i < CPU_SETSIZE; i++)
			CPU_SET(i, &set);
	CALL("sched_setaffinity", NOWHERE, cpu, sched_setaffinity(0, sizeof(set), &set));
}

static void rest_briefly(void)
{
	struct timespec time = { .tv_nsec = random_size(20 * 1000 * 1000) };

	CALL("nanosleep", NOWHERE, time.tv_nsec, nanosleep(&time, NULL));
}

static void yield_processor(void)
{
	CALL("sched_yield", NOWHERE, 0, sched_yield());
}

/* To any thread of the process, with SA_RESTART or without */
static void send_signal(void)
{
	static const int signals[] = { SIGUSR1, SIGUSR2, SIGUSR2, SIGURG, SIGIO };
	int signum = signals[random_below(5)];

	CALL("kill", NOWHERE, signum, kill(getpid(), signum));
}

static void ask_diag(void)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} ask = {
		.header = { sizeof(ask), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = one_in(4) ? AF_INET : AF_SMC, .sdiag_protocol =
			     IPPROTO_TCP, .idiag_ext = random_next(), .idiag_states = ~0 },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct timeval limit = { .tv_sec = 1 };
	struct nlmsghdr *answer = (struct nlmsghdr *)me->buf;

	if (fd < 0)
		return;
	if (ask.request.sdiag_family == AF_SMC && one_in(2))
		((uint8_t *)&ask.request)[2] = random_next();
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (CALL("sock_diag dump", NOWHERE, ask.request.sdiag_family,
		 send(fd, &ask, sizeof(ask), 0)) > 0)
		while (CALL("sock_diag answer", NOWHERE, 0, recv(fd, me->buf, 32768, 0)) > 0 &&
		       answer->nlmsg_type != NLMSG_DONE && answer->nlmsg_type != NLMSG_ERROR)
			;
	close(fd);
}

static void read_file(void)
{
	static const char *const names[] = {
		"/proc/net/tcp", "/proc/net/tcp6", "/proc/net/protocols", "/proc/net/sockstat",
		"/proc/self/net/netstat", "/sys/kernel/debug/smc/objects",
	};
	const char *name = names[random_below(6)];
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	CALL("read /proc", NOWHERE, 0, read(fd, me->buf, BUFFER_BYTES));
	close(fd);
}

static void change_sysctl(void)
{
	static const struct {
		const char *name;
		int values[4];
	} knobs[] = {
		{ "rmem", { 65536, 131072, 4194304, 16384 } },
		{ "rmem_start", { 4096, 524288, 8192, 65536 } },
		{ "handshake_timeout", { 100, 2000, 6000, 6000 } },
		{ "idle_timeout", { 0, 1, 2, 3 } },
		{ "smcr_idle_timeout", { 0, 1, 2, 3 } },
		{ "limit_smc_hs", { 0, 0, 0, 1 } },
		{ "busy_poll", { 0, 0, 50, 500 } },
		{ "autocorking_size", { 0, 65536, 1024, 1 } },
		{ "smcr_buf_type", { 0, 1, 2, 0 } },
		{ "smcr_max_conns_per_lgr", { 16, 255, 32, 255 } },
	};
	int which = random_below(sizeof(knobs) / sizeof(*knobs)), fd, len;
	char path[100], text[20];

	snprintf(path, sizeof(path), "/proc/sys/net/smc/%s", knobs[which].name);
	len = snprintf(text, sizeof(text), "%d\n", knobs[which].values[random_below(4)]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	CALL("sysctl", NOWHERE, which, write(fd, text, len));
	close(fd);
}

static void raise_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
}

/* For some time this thread's sockets are in a namespace that ends with the last of them */
static void change_namespace(void)
{
	static int newest;
	static int home = -1;

	if (home < 0)
		home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (me->namespace) {
		if (!CALL("setns", NOWHERE, 0, setns(home, CLONE_NEWNET)))
			me->namespace = 0;
		return;
	}
	if (!one_in(4) || CALL("unshare", NOWHERE, 0, unshare(CLONE_NEWNET)))
		return;
	me->namespace = __atomic_add_fetch(&newest, 1, __ATOMIC_SEQ_CST);
	raise_loopback();
}

static void (*const ways[])(void) = {
	change_policy, change_nice, change_processor, change_processor, rest_briefly,
	rest_briefly, yield_processor,
	send_signal, send_signal, ask_diag, read_file, change_sysctl, change_namespace,
};

#define NR_WAYS (sizeof(ways) / sizeof(*ways))

void do_self(void)
{
	/* The last ones need rights */
	ways[random_below(options.root || me->namespace ? NR_WAYS : NR_WAYS - 2)]();
}

static void on_signal(int signum)
{
	(void)signum;
}

/* SIGUSR1 is the watchdog's */
void self_catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	static const int restarting[] = { SIGUSR2, SIGIO, SIGURG, SIGPIPE };
	int i;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	for (i = 0; i < 4; i++)
		sigaction(restarting[i], &action, NULL);
}

void self_start(void)
{
	long page = sysconf(_SC_PAGESIZE);

	me->tid = syscall(SYS_gettid);
	me->buf = malloc(BUFFER_BYTES);
	me->guard = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (!me->buf || me->guard == MAP_FAILED || mprotect(me->guard + page, page, PROT_NONE))
		fail("no memory");
	me->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (pipe2(me->pipe, O_CLOEXEC | O_NONBLOCK) || me->epoll < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, me->unix_pair))
		fail("no descriptors: %s", strerror(errno));
	me->uring = uring_new();
	if (one_in(3))		/* it runs late after it was woken */
		change_policy();
}

void self_end(void)
{
	close(me->unix_pair[0]);
	close(me->unix_pair[1]);
	close(me->epoll);
}

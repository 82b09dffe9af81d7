// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first program of a test guest, alone in a small initramfs.
 *
 * It loads the modules the root file system needs, puts a RAM overlay on top
 * of the host's files, and hands over to the agent. Everything that can be a
 * shell script is one: see agent.sh. Where time is measured in instructions it
 * stays in the initramfs, because 9p would disturb that, and runs one command.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MODULE_LIST	"/boot/order"
#define CONFIG		"/boot/config"
#define P9_OPTIONS	"trans=virtio,version=9p2000.L,cache=loose,msize=262144"

static void die(const char *fmt, ...)
{
	va_list args;

	/* The runner looks for this line when a guest never said hello. */
	fputs("smc-vm: init failed: ", stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %s\n", strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void mount_on(const char *source, const char *target, const char *type,
		     unsigned long flags, const char *data)
{
	mkdir(target, 0755);
	if (mount(source, target, type, flags, data))
		die("mount %s on %s", type ? type : source, target);
}

static void load_modules(void)
{
	FILE *list = fopen(MODULE_LIST, "re");
	char path[256];

	if (!list)
		return;
	while (fgets(path, sizeof(path), list)) {
		int fd;

		path[strcspn(path, "\n")] = '\0';
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die("%s", path);
		if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
			die("load %s", path);
		close(fd);
	}
	fclose(list);
}

/* Value of a KEY='VALUE' line of the configuration; the caller frees it. */
static char *config_get(const char *key)
{
	FILE *file = fopen(CONFIG, "re");
	size_t len = strlen(key);
	char line[4096];
	char *value = NULL;

	if (!file)
		die(CONFIG);
	while (!value && fgets(line, sizeof(line), file)) {
		char *end = strrchr(line, '\'');

		if (end > line + len + 1 && !strncmp(line, key, len) &&
		    !strncmp(line + len, "='", 2))
			value = strndup(line + len + 2, end - line - len - 2);
	}
	fclose(file);
	return value;
}

static void copy_file(const char *from, const char *to)
{
	char buf[4096];
	ssize_t n;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (in < 0 || out < 0)
		die("copy %s to %s", from, to);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			die("write %s", to);
	close(in);
	close(out);
}

static void enter_overlay(void)
{
	static const char * const moved[] = { "/dev", "/proc", "/sys" };
	char target[64];
	size_t i;

	mount_on("host", "/lower", "9p", MS_RDONLY, P9_OPTIONS);
	mount_on("overlay", "/rw", "tmpfs", 0, "mode=755,size=75%");
	if (mkdir("/rw/upper", 0755) || mkdir("/rw/work", 0755))
		die("/rw");
	mount_on("overlay", "/new", "overlay", 0,
		 "lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work");
	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		snprintf(target, sizeof(target), "/new%s", moved[i]);
		mount_on(moved[i], target, NULL, MS_MOVE, NULL);
	}
	mount_on("tmp", "/new/run", "tmpfs", 0, "mode=755");
	mkdir("/new/run/vm", 0755);
	copy_file(CONFIG, "/new/run/vm/config");
	if (chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		die("switch root");
}

/*
 * What a distribution has mounted by now. Each program that the agent does not start for it saves
 * a slow guest a second.
 */
static void mount_rest(const char *kernel, const char *release)
{
	char from[4096], to[256];

	mount_on("devpts", "/dev/pts", "devpts", 0, NULL);
	mount_on("shm", "/dev/shm", "tmpfs", 0, NULL);
	mount_on("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	/* These two are not in every kernel */
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	mkdir("/run/netns", 0755);
	snprintf(from, sizeof(from), "%s/lib/modules/%s", kernel, release);
	snprintf(to, sizeof(to), "/lib/modules/%s", release);
	mkdir("/lib/modules", 0755);
	if (symlink(from, to) && errno != EEXIST)
		die("%s", to);
}

static void refused_connect(const void *to, socklen_t len)
{
	const struct sockaddr *address = to;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || !connect(fd, address, len) || errno != ECONNREFUSED)
		die("connect, family %d", address->sa_family);
	close(fd);
}

/*
 * The first connect() of each family has the kernel patch its own code, in a kworker (DO_ONCE in
 * __inet_hash_connect(), inet_ehashfn() and inet6_ehashfn()). QEMU without KVM loses that race now
 * and then: a CPU that connects meanwhile reports a breakpoint which is gone by then, "Oops: int3".
 * Here init is the only program.
 */
static void connect_once(void)
{
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(1) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(1) };
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("lo");
	close(fd);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to6.sin6_addr = in6addr_loopback;
	refused_connect(&to, sizeof(to));
	refused_connect(&to6, sizeof(to6));
}

static void set_option(int fd, int level, int name, const void *value, socklen_t len)
{
	if (setsockopt(fd, level, name, value, len) && errno != ENOPROTOOPT)
		die("option %d of level %d", name, level);
}

/*
 * Some options of sockets have the kernel patch its code, too (static keys), some of them again
 * when the last socket with the option ends. A child process keeps sockets with all of them.
 */
static void switch_options_on(void)
{
	struct tcp_md5sig md5 = { .tcpm_keylen = 1 };
	int fd = socket(AF_INET, SOCK_STREAM, 0), fd6 = socket(AF_INET6, SOCK_STREAM, 0), one = 1;
	pid_t pid;

	if (fd < 0 || fd6 < 0)
		die("socket");
	md5.tcpm_addr.ss_family = AF_INET;
	set_option(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, sizeof(md5));
	set_option(fd, IPPROTO_TCP, TCP_TX_DELAY, &one, sizeof(one));
	set_option(fd, SOL_SOCKET, SO_TIMESTAMP, &one, sizeof(one));
	set_option(fd, IPPROTO_IP, IP_MINTTL, &one, sizeof(one));
	set_option(fd6, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &one, sizeof(one));
	pid = fork();
	if (pid < 0)
		die("fork");
	while (!pid)
		pause();
	close(fd);
	close(fd6);
}

static void make_raw(const char *tty)
{
	struct termios t;
	int fd = open(tty, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || tcgetattr(fd, &t))
		die("%s", tty);
	cfmakeraw(&t);
	cfsetspeed(&t, B115200);
	if (tcsetattr(fd, TCSANOW, &t))
		die("%s", tty);
	close(fd);
}

/*
 * Without an agent: one command, its output on ttyS1, and the end of the guest.
 * Nothing here waits for the host, so the same files take the same instructions.
 */
static void run_command(const char *command)
{
	int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int status = 0;
	pid_t pid;

	if (fd < 0)
		die("/dev/ttyS1");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		dup2(fd, 1);
		dup2(fd, 2);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		die("exec /bin/sh");
	}
	while (waitpid(-1, &status, 0) != pid)
		;
	dprintf(fd, "@exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	tcdrain(fd);
	reboot(RB_AUTOBOOT);
}

int main(void)
{
	char *root, *agent, *command, *kernel, *release;

	mount_on("dev", "/dev", "devtmpfs", 0, NULL);
	if (!freopen("/dev/console", "r+e", stdin) || !freopen("/dev/console", "we", stdout) ||
	    dup2(1, 2) < 0)
		_exit(1);
	mount_on("proc", "/proc", "proc", 0, NULL);
	mount_on("sys", "/sys", "sysfs", 0, NULL);
	root = config_get("VM_ROOT");
	agent = config_get("VM_AGENT");
	command = config_get("VM_COMMAND");
	kernel = config_get("VM_KERNEL_DIR");
	release = config_get("VM_RELEASE");
	if (!root || (!command && (!agent || !kernel || !release)))
		die(CONFIG);

	load_modules();
	if (!strcmp(root, "9p")) {
		enter_overlay();
	} else {
		mkdir("/run", 0755);
		mkdir("/run/vm", 0755);
		copy_file(CONFIG, "/run/vm/config");
	}
	clearenv();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "linux", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	make_raw("/dev/ttyS1");
	if (command)
		run_command(command);
	mount_rest(kernel, release);
	connect_once();
	switch_options_on();
	make_raw("/dev/ttyS2");

	/* Opened close-on-exec above, so that dying can still be told. */
	if (dup2(open("/dev/console", O_RDWR | O_CLOEXEC), 0) < 0 || dup2(0, 1) < 0 ||
	    dup2(0, 2) < 0)
		die("/dev/console");
	execl("/bin/sh", "sh", agent, (char *)NULL);
	die("exec %s", agent);
}

// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listener.h"
#include "namespace.h"
#include "scope.h"

/* As the kernel numbers it in /proc/net/tcp */
#define TCP_LISTEN	0x0a
#define MAX_SHOWN	32

/**
 * struct listener - a listening TCP socket
 * @inode: of the socket
 * @cookie: of its network namespace
 * @port: its port
 */
struct listener {
	unsigned long	inode;
	__u64		cookie;
	unsigned int	port;
};

/**
 * struct server - a program that listens to a port, on however many sockets
 * @program: its name
 * @port: the port
 */
struct server {
	char		program[POLICY_NAME_LEN];
	unsigned int	port;
};

/**
 * struct process - a process, as the rules see it
 * @pid: the name of its folder in /proc
 * @uid: its user
 * @program: its name
 */
struct process {
	const char	*pid;
	unsigned int	uid;
	char		program[POLICY_NAME_LEN];
};

/**
 * struct search - what has been found so far
 * @policy: the policy
 * @listeners: sockets in all namespaces
 * @listener_count: of @listeners
 * @namespaces: inodes of the namespaces that have been read
 * @namespace_count: of @namespaces
 * @servers: programs to which the policy applies
 * @server_count: of @servers
 */
struct search {
	const struct policy	*policy;
	struct listener		*listeners;
	size_t			listener_count;
	ino_t			*namespaces;
	size_t			namespace_count;
	struct server		*servers;
	size_t			server_count;
};

/* One more element at the end of an array, NULL without memory */
static void *append(void *array, size_t *count, size_t size)
{
	char **first = array;
	char *more = realloc(*first, (*count + 1) * size);

	if (!more)
		return NULL;
	*first = more;
	return memset(more + (*count)++ * size, 0, size);
}

static FILE *open_file(const char *pid, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	return fopen(path, "re");
}

/* The kernel lists listening sockets first */
static void read_sockets(struct search *search, const char *pid, const char *name, __u64 cookie)
{
	FILE *file = open_file(pid, name);
	unsigned int port, state;
	struct listener *listener;
	unsigned long inode;
	char line[256];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %*d: %*[^:]:%x %*s %x %*s %*s %*s %*u %*u %lu",
			   &port, &state, &inode) != 3)
			continue;	/* the headline */
		if (state != TCP_LISTEN)
			break;
		listener = append(&search->listeners, &search->listener_count, sizeof(*listener));
		if (listener)
			*listener = (struct listener){ inode, cookie, port };
	}
	fclose(file);
}

static bool add_namespace(struct search *search, ino_t inode)
{
	ino_t *added;
	size_t i;

	for (i = 0; i < search->namespace_count; i++)
		if (search->namespaces[i] == inode)
			return false;
	added = append(&search->namespaces, &search->namespace_count, sizeof(*added));
	if (added)
		*added = inode;
	return added;
}

/* The sockets of a network namespace, when its first process is met */
static void read_namespace(struct search *search, const char *pid)
{
	char path[PATH_MAX];
	__u64 cookie = 0;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)	/* the process has ended */
		return;
	if (!fstat(fd, &st) && add_namespace(search, st.st_ino)) {
		namespace_cookie(fd, &cookie);
		read_sockets(search, pid, "net/tcp", cookie);
		read_sockets(search, pid, "net/tcp6", cookie);
	}
	close(fd);
}

static const struct listener *find_listener(const struct search *search, unsigned long inode)
{
	size_t i;

	for (i = 0; i < search->listener_count; i++)
		if (search->listeners[i].inode == inode)
			return &search->listeners[i];
	return NULL;
}

static bool read_process(struct process *process, const char *pid)
{
	FILE *file = open_file(pid, "status");
	char line[256];
	int found = 0;

	if (!file)
		return false;
	memset(process, 0, sizeof(*process));
	process->pid = pid;
	while (found < 2 && fgets(line, sizeof(line), file))
		found += sscanf(line, "Name: %15[^\n]", process->program) == 1 ||
			 sscanf(line, "Uid: %u", &process->uid) == 1;
	fclose(file);
	return found == 2;
}

static bool applies(const struct policy_key *key, const struct policy_rule *rule,
		    const struct process *process, const struct listener *listener)
{
	switch (key->kind) {
	case POLICY_HOST:
		return true;
	case POLICY_NETNS:
		return key->id == listener->cookie;
	case POLICY_CGROUP:
		return scope_has_process(rule->label, process->pid);
	case POLICY_USER:
		return key->id == process->uid;
	case POLICY_PROGRAM:
		return !strncmp(key->name, process->program, sizeof(key->name));
	default:
		return false;
	}
}

/* What the BPF program would say if the process asked for another socket */
static bool gets_smc(const struct policy *policy, const struct process *process,
		     const struct listener *listener)
{
	struct policy_key key = { };
	struct policy_rule rule;
	bool begin, on = false;

	for (begin = true; policy_next_rule(policy, &key, begin); begin = false) {
		if (!policy_get_rule(policy, &key, &rule) ||
		    !applies(&key, &rule, process, listener))
			continue;
		if (rule.except)
			return false;
		on = true;
	}
	return on;
}

static void add_server(struct search *search, const struct process *process,
		       const struct listener *listener)
{
	struct server *server;
	size_t i;

	for (i = 0; i < search->server_count; i++)
		if (search->servers[i].port == listener->port &&
		    !strcmp(search->servers[i].program, process->program))
			return;
	if (!gets_smc(search->policy, process, listener))
		return;
	server = append(&search->servers, &search->server_count, sizeof(*server));
	if (!server)
		return;
	memcpy(server->program, process->program, sizeof(server->program));
	server->port = listener->port;
}

/* The descriptors of a process */
static void read_descriptors(struct search *search, const char *pid)
{
	char path[PATH_MAX], target[64];
	struct process process = { };
	struct dirent *entry;
	unsigned long inode;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		const struct listener *listener;

		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		if (sscanf(target, "socket:[%lu]", &inode) != 1)
			continue;
		listener = find_listener(search, inode);
		if (listener && (process.pid || read_process(&process, pid)))
			add_server(search, &process, listener);
	}
	closedir(dir);
}

typedef void visit_fn(struct search *search, const char *pid);

static void visit_processes(struct search *search, visit_fn *visit)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			visit(search, entry->d_name);
	closedir(dir);
}

static int compare_servers(const void *a, const void *b)
{
	const struct server *one = a, *two = b;
	int order = strcmp(one->program, two->program);

	return order ? order : (int)one->port - (int)two->port;
}

/* "nginx (80, 443), sshd (22)" */
static void print_servers(const struct search *search)
{
	const char *last = "";
	size_t i;

	printf("These programs listen already and stay TCP until they are restarted: ");
	for (i = 0; i < search->server_count && i < MAX_SHOWN; i++) {
		const struct server *server = &search->servers[i];

		if (!strcmp(last, server->program))
			printf(", %u", server->port);
		else
			printf("%s%s (%u", *last ? "), " : "", server->program, server->port);
		last = server->program;
	}
	putchar(')');
	if (i < search->server_count)
		printf(" and %zu more", search->server_count - i);
	putchar('\n');
}

void listener_print(const struct policy *policy)
{
	struct search search = { .policy = policy };

	visit_processes(&search, read_namespace);
	if (search.listener_count)
		visit_processes(&search, read_descriptors);
	if (search.server_count) {
		qsort(search.servers, search.server_count, sizeof(*search.servers),
		      compare_servers);
		print_servers(&search);
	}
	free(search.listeners);
	free(search.namespaces);
	free(search.servers);
}

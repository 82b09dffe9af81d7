// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <linux/netlink.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listener.h"
#include "namespace.h"
#include "netns.h"
#include "process.h"
#include "scope.h"
#include "sock.h"

/* the kernel's number in /proc/net/tcp */
#define TCP_LISTEN	0x0a
#define MAX_SHOWN	32

/**
 * struct place - a network namespace
 * @cookie: its cookie, the key of rules
 * @name: its name, empty for the namespace of this program
 */
struct place {
	__u64	cookie;
	char	name[NAME_MAX + 1];
};

/**
 * struct listener - a listening TCP socket
 * @inode: of the socket
 * @place: index of its network namespace
 * @port: its port
 */
struct listener {
	uint64_t	inode;
	size_t		place;
	unsigned int	port;
};

/**
 * struct server - a program that listens on a port, with one or more sockets
 * @program: its name
 * @place: index of the network namespace
 * @port: the port
 */
struct server {
	char		program[POLICY_NAME_LEN];
	size_t		place;
	unsigned int	port;
};

/**
 * struct search - results so far
 * @policy: the policy
 * @places: network namespaces, starting with that of this program
 * @place_count: number of @places
 * @listeners: sockets in all of them
 * @listener_count: number of @listeners
 * @servers: programs to which the policy applies
 * @server_count: number of @servers
 */
struct search {
	const struct policy	*policy;
	struct place		*places;
	size_t			place_count;
	struct listener		*listeners;
	size_t			listener_count;
	struct server		*servers;
	size_t			server_count;
};

/* Returns: a new element at the end of the array, or NULL without memory */
static void *append_element(void *array, size_t *count, size_t size)
{
	char **first = array;
	char *more = realloc(*first, (*count + 1) * size);

	if (!more)
		return NULL;
	*first = more;
	return memset(more + (*count)++ * size, 0, size);
}

/* Read the listening sockets of the current network namespace. The kernel lists them first. */
static void read_sockets(struct search *search, const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int port, state;
	struct listener *listener;
	char line[256];
	uint64_t inode;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %*d: %*[^:]:%x %*s %x %*s %*s %*s %*u %*u %" SCNu64,
			   &port, &state, &inode) != 3)
			continue;	/* the header line */
		if (state != TCP_LISTEN)
			break;
		listener = append_element(&search->listeners, &search->listener_count,
					  sizeof(*listener));
		if (listener)
			*listener = (struct listener){ inode, search->place_count - 1, port };
	}
	fclose(file);
}

static void forget_listener(struct search *search, size_t first, uint64_t inode)
{
	size_t i;

	for (i = first; i < search->listener_count; i++)
		if (search->listeners[i].inode == inode)
			search->listeners[i--] = search->listeners[--search->listener_count];
}

/* Remove SMC sockets of this network namespace, which /proc lists too: they need no restart */
static void forget_smc_listeners(struct search *search, size_t first)
{
	const struct sock_filter filter = { .states = 1 << STATE_LISTEN };
	struct netlink_list list = { 0 };
	struct netlink nl;
	struct sock sk;
	size_t i;

	if (netlink_open(&nl, NETLINK_SOCK_DIAG))
		return;
	if (!sock_dump(&nl, 0, &filter, &list))
		for (i = 0; i < list.count; i++)
			if (sock_decode(list.msg[i], &sk) && sk.base.diag_state == STATE_LISTEN)
				forget_listener(search, first, sk.base.diag_inode);
	netlink_list_free(&list);
	netlink_close(&nl);
}

/* Same names as smcss(8) */
static void name_place(struct place *place, const struct netns *ns)
{
	if (ns->name)
		snprintf(place->name, sizeof(place->name), "%s", ns->name);
	else
		snprintf(place->name, sizeof(place->name), "[%llu]",
			 (unsigned long long)ns->inode);
}

static void read_namespace(const struct netns *ns, void *data)
{
	struct search *search = data;
	struct place *place = append_element(&search->places, &search->place_count, sizeof(*place));
	size_t first = search->listener_count;

	if (!place)
		return;
	namespace_read_cookie(&place->cookie);
	if (search->place_count > 1)
		name_place(place, ns);
	read_sockets(search, "/proc/self/net/tcp");
	read_sockets(search, "/proc/self/net/tcp6");
	forget_smc_listeners(search, first);
}

static bool is_of_user(pid_t pid, uint64_t user)
{
	char path[64], line[256];
	bool found = false;
	unsigned int uid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "Uid: %u", &uid) == 1;
	fclose(file);
	return found && uid == user;
}

static bool rule_applies(const struct policy_key *key, const struct policy_rule *rule,
			 const struct process *process, __u64 cookie)
{
	switch (key->kind) {
	case POLICY_HOST:
		return true;
	case POLICY_NETNS:
		return key->id == cookie;
	case POLICY_CGROUP:
		return scope_has_process(rule->label, process->pid);
	case POLICY_USER:
		return is_of_user(process->pid, key->id);
	case POLICY_PROGRAM:
		return !strncmp(key->name, process->name, sizeof(key->name));
	default:
		return false;
	}
}

/* Would the BPF program give an SMC socket to this process now? */
static bool gets_smc(const struct policy *policy, const struct process *process, __u64 cookie)
{
	struct policy_key key = { };
	struct policy_rule rule;
	bool begin, on = false;

	for (begin = true; policy_next_rule(policy, &key, begin); begin = false) {
		if (!policy_get_rule(policy, &key, &rule) ||
		    !rule_applies(&key, &rule, process, cookie))
			continue;
		if (rule.except)
			return false;
		on = true;
	}
	return on;
}

static bool is_same_server(const struct server *a, const struct server *b)
{
	return a->port == b->port && a->place == b->place && !strcmp(a->program, b->program);
}

/* Processes that share a socket usually belong to one program */
static void add_server(struct search *search, const struct process *process,
		       const struct listener *listener)
{
	struct server server = { .place = listener->place, .port = listener->port }, *added;

	snprintf(server.program, sizeof(server.program), "%s", process->name);
	if (search->server_count &&
	    is_same_server(&search->servers[search->server_count - 1], &server))
		return;
	if (!gets_smc(search->policy, process, search->places[listener->place].cookie))
		return;
	added = append_element(&search->servers, &search->server_count, sizeof(*added));
	if (added)
		*added = server;
}

static void find_servers(struct search *search)
{
	struct process_list processes;
	size_t i, count;

	process_list_read(&processes);
	for (i = 0; i < search->listener_count; i++) {
		const struct listener *listener = &search->listeners[i];
		const struct process *process = process_list_find(&processes, listener->inode,
								  &count);

		for (; count; count--)
			add_server(search, process++, listener);
	}
	process_list_free(&processes);
}

static int compare_servers(const void *a, const void *b)
{
	const struct server *one = a, *two = b;
	int order = strcmp(one->program, two->program);

	if (order)
		return order;
	if (one->place != two->place)
		return one->place < two->place ? -1 : 1;
	return (int)one->port - (int)two->port;
}

/* Sort by program, so that duplicates are neighbours */
static void sort_servers(struct search *search)
{
	struct server *servers = search->servers;
	size_t i, left = 0;

	qsort(servers, search->server_count, sizeof(*servers), compare_servers);
	for (i = 0; i < search->server_count; i++)
		if (!left || !is_same_server(&servers[left - 1], &servers[i]))
			servers[left++] = servers[i];
	search->server_count = left;
}

/* "nginx (80, 443, 80 in netns blue), sshd (22)" */
static void print_servers(const struct search *search)
{
	const char *last = "";
	size_t i;

	printf("These programs listen already and stay TCP until they are restarted: ");
	for (i = 0; i < search->server_count && i < MAX_SHOWN; i++) {
		const struct server *server = &search->servers[i];
		const char *place = search->places[server->place].name;

		if (!strcmp(last, server->program))
			printf(", %u", server->port);
		else
			printf("%s%s (%u", *last ? "), " : "", server->program, server->port);
		if (*place)
			printf(" in netns %s", place);
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

	netns_for_each(read_namespace, &search);
	if (search.listener_count)
		find_servers(&search);
	if (search.server_count) {
		sort_servers(&search);
		print_servers(&search);
	}
	free(search.places);
	free(search.listeners);
	free(search.servers);
}

// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "netns.h"

#define NAMES	"/run/netns"

/**
 * struct walk - iteration over all namespaces
 * @visit: called in each of them
 * @data: for @visit
 * @seen: inode numbers of the namespaces visited so far
 * @count: number of entries in @seen
 * @error: negative errno of a namespace to which the caller has no access
 * @moved: the process has left its namespace
 */
struct walk {
	netns_visitor	*visit;
	void		*data;
	ino_t		*seen;
	size_t		count;
	int		error;
	bool		moved;
};

typedef void path_function(struct walk *walk, const char *path);

int netns_open_own(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int netns_enter(int fd)
{
	return setns(fd, CLONE_NEWNET) ? -errno : 0;
}

void netns_leave(int own)
{
	int err = netns_enter(own);

	if (!err)
		return;
	fprintf(stderr, "%s: cannot return to the network namespace: %s\n",
		program_invocation_short_name, strerror(-err));
	exit(EXIT_FAILURE);
}

/* Visit each entry of a folder whose name begins with a character of @first */
static void walk_folder(struct walk *walk, const char *folder, const char *first,
			const char *behind, path_function *take)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || (first && !strchr(first, entry->d_name[0])))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", folder, entry->d_name, behind);
		take(walk, path);
	}
	closedir(dir);
}

static bool is_new(struct walk *walk, ino_t inode)
{
	ino_t *more;
	size_t i;

	for (i = 0; i < walk->count; i++)
		if (walk->seen[i] == inode)
			return false;
	more = realloc(walk->seen, (walk->count + 1) * sizeof(*more));
	if (!more) {
		walk->error = -ENOMEM;
		return false;
	}
	walk->seen = more;
	walk->seen[walk->count++] = inode;
	return true;
}

/* Returns: @buf with the name of the namespace, or NULL if it has no name */
static const char *find_netns_name(ino_t inode, char *buf, size_t size)
{
	const char *found = NULL;
	DIR *dir = opendir(NAMES);
	struct dirent *entry;
	char path[PATH_MAX];
	struct stat st;

	if (!dir)
		return NULL;
	while (!found && (entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), NAMES "/%s", entry->d_name);
		if (entry->d_name[0] == '.' || stat(path, &st) || st.st_ino != inode)
			continue;
		snprintf(buf, size, "%s", entry->d_name);
		found = buf;
	}
	closedir(dir);
	return found;
}

static void visit_inode(struct walk *walk, ino_t inode)
{
	char name[NAME_MAX + 1];
	struct netns ns = {
		.inode	= inode,
		.name	= find_netns_name(inode, name, sizeof(name)),
	};

	walk->visit(&ns, walk->data);
}

static void note_denial(struct walk *walk, int err)
{
	if (err == -EACCES || err == -EPERM)
		walk->error = err;
}

static void visit_path(struct walk *walk, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0) {	/* the process may have ended */
		note_denial(walk, -errno);
		return;
	}
	if (!fstat(fd, &st) && is_new(walk, st.st_ino)) {
		err = netns_enter(fd);
		note_denial(walk, err);
		if (!err) {
			walk->moved = true;
			visit_inode(walk, st.st_ino);
		}
	}
	close(fd);
}

int netns_for_each(netns_visitor *visit, void *data)
{
	struct walk walk = { .visit = visit, .data = data };
	int own = netns_open_own();
	struct stat st;

	if (own < 0)
		return own;
	/* this needs no privilege */
	if (!fstat(own, &st) && is_new(&walk, st.st_ino))
		visit_inode(&walk, st.st_ino);
	walk_folder(&walk, "/proc", "123456789", "/ns/net", visit_path);
	walk_folder(&walk, NAMES, NULL, "", visit_path);
	if (walk.moved)
		netns_leave(own);
	close(own);
	free(walk.seen);
	return walk.error;
}

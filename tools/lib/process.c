// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

/* A process can set its own name, so control characters are removed */
static void read_name(pid_t pid, char *name, size_t size)
{
	char path[64];
	size_t len = 0, i;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file) {
		len = fread(name, 1, size - 1, file);
		fclose(file);
	}
	if (len && name[len - 1] == '\n')
		len--;
	name[len] = '\0';
	for (i = 0; i < len; i++)
		if (iscntrl((unsigned char)name[i]))
			name[i] = '?';
}

static bool add_process(struct process_list *list, const struct process *process)
{
	struct process *bigger;

	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 256;

		bigger = realloc(list->process, room * sizeof(*bigger));
		if (!bigger)
			return false;
		list->process = bigger;
		list->room = room;
	}
	list->process[list->count++] = *process;
	return true;
}

/* Does the link of this descriptor name a socket? */
static bool read_socket(int folder, const char *fd, uint64_t *inode)
{
	char link[64];
	ssize_t len = readlinkat(folder, fd, link, sizeof(link) - 1);

	if (len < 0)
		return false;
	link[len] = '\0';
	return sscanf(link, "socket:[%" SCNu64 "]", inode) == 1;
}

static bool read_process(struct process_list *list, pid_t pid)
{
	struct process process = { .pid = pid };
	struct dirent *entry;
	char path[64];
	bool ok = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)	/* it has ended, or belongs to another user */
		return true;
	while (ok && (entry = readdir(dir)) != NULL) {
		if (!read_socket(dirfd(dir), entry->d_name, &process.inode))
			continue;
		if (!*process.name)
			read_name(pid, process.name, sizeof(process.name));
		process.fd = atoi(entry->d_name);
		ok = add_process(list, &process);
	}
	closedir(dir);
	return ok;
}

static int compare_inodes(const void *key, const void *other)
{
	const struct process *a = key, *b = other;

	return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static int compare_processes(const void *one, const void *other)
{
	const struct process *a = one, *b = other;
	int order = compare_inodes(a, b);

	if (order)
		return order;
	return a->pid == b->pid ? a->fd - b->fd : a->pid - b->pid;
}

bool process_list_read(struct process_list *list)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool ok = true;

	memset(list, 0, sizeof(*list));
	if (!dir)
		return true;
	while (ok && (entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			ok = read_process(list, atoi(entry->d_name));
	closedir(dir);
	if (!ok)
		process_list_free(list);
	else if (list->count)
		qsort(list->process, list->count, sizeof(*list->process), compare_processes);
	return ok;
}

void process_list_free(struct process_list *list)
{
	free(list->process);
	memset(list, 0, sizeof(*list));
}

const struct process *process_list_find(const struct process_list *list, uint64_t inode,
					size_t *count)
{
	const struct process key = { .inode = inode }, *end = list->process + list->count;
	const struct process *first, *last;

	*count = 0;
	if (!inode || !list->count)
		return NULL;
	first = bsearch(&key, list->process, list->count, sizeof(key), compare_inodes);
	if (!first)
		return NULL;
	while (first > list->process && first[-1].inode == inode)
		first--;
	for (last = first; last < end && last->inode == inode; last++)
		;
	*count = last - first;
	return first;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which processes have a socket open.
 */
#ifndef SMC_TOOLS_PROCESS_H
#define SMC_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct process - a descriptor of a socket in a process
 * @inode: number of the socket
 * @pid: number of the process
 * @fd: number of the descriptor
 * @name: of the program, as "ps -o comm" shows it; without control characters
 */
struct process {
	uint64_t	inode;
	pid_t		pid;
	int		fd;
	char		name[16];
};

/**
 * struct process_list - all such descriptors
 * @process: sorted by socket, process and descriptor
 * @count: how many
 * @room: how many fit into the array
 */
struct process_list {
	struct process	*process;
	size_t		count;
	size_t		room;
};

/**
 * process_list_read() - look into the descriptors of all processes
 * @list: filled in, to be freed with process_list_free()
 *
 * Processes that the caller may not look into are left out.
 *
 * Returns: false without memory; the list is empty then.
 */
bool process_list_read(struct process_list *list);

void process_list_free(struct process_list *list);

/**
 * process_list_find() - find the processes that have a socket
 * @list: the list
 * @inode: number of the socket
 * @count: how many descriptors there are
 *
 * Returns: the first descriptor; the others follow.
 */
const struct process *process_list_find(const struct process_list *list, uint64_t inode,
					size_t *count);

#endif /* SMC_TOOLS_PROCESS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that have a socket open */
#ifndef SMC_TOOLS_PROCESS_H
#define SMC_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct process - a descriptor of a socket in a process
 * @inode: inode number of the socket
 * @pid: process ID
 * @fd: number of the descriptor
 * @name: name of the program, as in "ps -o comm"; without control characters
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
 * @count: number of descriptors
 * @room: size of the array
 */
struct process_list {
	struct process	*process;
	size_t		count;
	size_t		room;
};

/**
 * process_list_read() - read the descriptors of all processes
 * @list: filled in, the caller frees it with process_list_free()
 *
 * Processes to which the caller has no access are omitted.
 *
 * Returns: false if there is no memory; the list is then empty.
 */
bool process_list_read(struct process_list *list);

void process_list_free(struct process_list *list);

/**
 * process_list_find() - find the processes that have a socket
 * @list: the list
 * @inode: inode number of the socket
 * @count: result: number of descriptors
 *
 * Returns: the first descriptor; the others follow.
 */
const struct process *process_list_find(const struct process_list *list, uint64_t inode,
					size_t *count);

#endif /* SMC_TOOLS_PROCESS_H */

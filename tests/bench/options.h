/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. */
#ifndef SMCBENCH_OPTIONS_H
#define SMCBENCH_OPTIONS_H

#include "bench.h"

/**
 * struct options - what is of this process only, and not in the specification
 * @command:	name of the test, or serve, exec, settle
 * @arguments:	what follows it
 * @control:	address of the control channel, NULL to fork both ends
 * @client_netns: network namespace of the client, NULL for the present one
 * @server_netns: likewise
 * @server_cgroup: folder of the server's cgroup, NULL for the present one
 * @client_cpu:	processor to pin to, or -1
 * @server_cpu:	likewise
 * @once:	serve one client only
 * @timeout:	seconds until a process gives up
 */
struct options {
	const char *command;
	char **arguments;
	const char *control;
	const char *client_netns;
	const char *server_netns;
	const char *server_cgroup;
	int client_cpu;
	int server_cpu;
	bool once;
	unsigned int timeout;
};

void options_parse(int argc, char **argv, struct spec *spec, struct options *options);

/* Print "smcbench: COMPLAINT[: WHAT]" and the usage, exit with status 2. */
void usage(const char *complaint, const char *what) __attribute__((noreturn));

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* smc-ismd - shared memory of two virtual machines, for SMC-D between them */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "control.h"
#include "daemon.h"
#include "place.h"
#include "policy.h"
#include "version.h"

#define EXIT_USAGE	2
#define STATE_FOLDER	"/var/lib/smc-ismd"

static struct options {
	const char *policy;
	const char *run;
	const char *state;
	const char *status;
	enum attach_format format;
	char **argv;
} opts = { .policy = POLICY_FILE, .run = RUN_FOLDER, .state = STATE_FOLDER,
	   .status = "status" };

static void print_ismd_usage(FILE *out)
{
	fputs("Usage: smc-ismd [OPTIONS] COMMAND\n"
	      "\n"
	      "Give pairs of virtual machines memory that they share.\n"
	      "\n"
	      "  run                     serve QEMU, until a signal ends it\n"
	      "  check                   is the policy good?\n"
	      "  status                  show the pairs\n"
	      "  reload                  read the policy again\n"
	      "  pair VM PEER [ATTRIBUTE=VALUE...]\n"
	      "                          put a pair into the policy, and reload\n"
	      "  attach VM PEER          show how to give the two machines their device\n"
	      "\n"
	      "  -c, --config FILE       policy (default " POLICY_FILE ")\n"
	      "  -r, --run DIR           folder of the sockets (default " RUN_FOLDER ")\n"
	      "  -s, --state DIR         folder of the host's seed (default " STATE_FOLDER ")\n"
	      "  -j, --json              status in JSON\n"
	      "  -o, --openmetrics       status as OpenMetrics\n"
	      "  -q, --qemu              attach: only the options of QEMU for VM\n"
	      "  -x, --xml               attach: only the XML of libvirt for VM\n"
	      "  -h, --help              show this help\n"
	      "  -v, --version           show the version\n", out);
}

static int run_daemon(char **words, int count)
{
	return daemon_run(opts.policy, opts.state, opts.argv);
}

static int run_check(char **words, int count)
{
	return command_check(opts.policy);
}

static int run_status(char **words, int count)
{
	return control_ask(opts.status, stdout);
}

static int run_reload(char **words, int count)
{
	return control_ask("reload", stdout);
}

static int run_pair(char **words, int count)
{
	return command_pair(opts.policy, words, count);
}

static int run_attach(char **words, int count)
{
	return command_attach(opts.policy, words[0], words[1], opts.format);
}

static const struct command {
	const char *name;
	int least, most;	/* number of arguments */
	int (*function)(char **words, int count);
} commands[] = {
	{ "attach",	2, 2, run_attach },
	{ "check",	0, 0, run_check },
	{ "pair",	2, 4, run_pair },
	{ "reload",	0, 0, run_reload },
	{ "run",	0, 0, run_daemon },
	{ "status",	0, 0, run_status },
};

static int execute_words(char **words, int count)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *command = &commands[i];

		if (count && !strcmp(words[0], command->name) && count > command->least &&
		    count <= command->most + 1)
			return command->function(words + 1, count - 1);
	}
	print_ismd_usage(stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "config",	required_argument,	NULL, 'c' },
		{ "help",	no_argument,		NULL, 'h' },
		{ "json",	no_argument,		NULL, 'j' },
		{ "openmetrics", no_argument,		NULL, 'o' },
		{ "qemu",	no_argument,		NULL, 'q' },
		{ "run",	required_argument,	NULL, 'r' },
		{ "state",	required_argument,	NULL, 's' },
		{ "version",	no_argument,		NULL, 'v' },
		{ "xml",	no_argument,		NULL, 'x' },
		{ }
	};
	int opt;

	opts.argv = argv;
	while ((opt = getopt_long(argc, argv, "c:hjoqr:s:vx", long_options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			opts.policy = optarg;
			break;
		case 'h':
			print_ismd_usage(stdout);
			return EXIT_SUCCESS;
		case 'j':
			opts.status = "status json";
			break;
		case 'o':
			opts.status = "status openmetrics";
			break;
		case 'q':
			opts.format = ATTACH_QEMU;
			break;
		case 'r':
			opts.run = optarg;
			break;
		case 's':
			opts.state = optarg;
			break;
		case 'v':
			printf(SMC_TOOLS_VERSION_FORMAT "\n", "smc-ismd");
			return EXIT_SUCCESS;
		case 'x':
			opts.format = ATTACH_XML;
			break;
		default:
			print_ismd_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (!place_set(opts.run)) {
		fprintf(stderr, "smc-ismd: %.80s: not absolute, too long, or in need of quotes\n",
			opts.run);
		return EXIT_USAGE;
	}
	return execute_words(argv + optind, argc - optind);
}

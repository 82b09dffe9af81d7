// SPDX-License-Identifier: GPL-2.0-only
/* smc - commands that combine several sources of information */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"
#include "policy/policy.h"
#include "version.h"

#define EXIT_USAGE	2

static void print_smc_usage(FILE *out)
{
	fputs("Usage: smc [OPTIONS] check HOST[:PORT]\n"
	      "       smc on | off | status ...     see \"smc on --help\"\n"
	      "\n"
	      "Tell step by step whether a connection to HOST would use SMC, and what to\n"
	      "change if not. With a port, connect to it. Or choose which programs use SMC.\n"
	      "\n"
	      "  -4, --ipv4      use IPv4\n"
	      "  -6, --ipv6      use IPv6\n"
	      "  -j, --json      write JSON\n"
	      "  -h, --help      show this help\n"
	      "  -v, --version   show the version\n", out);
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "help",	no_argument,	NULL, 'h' },
		{ "ipv4",	no_argument,	NULL, '4' },
		{ "ipv6",	no_argument,	NULL, '6' },
		{ "json",	no_argument,	NULL, 'j' },
		{ "version",	no_argument,	NULL, 'v' },
		{ }
	};
	int family = AF_UNSPEC, opt;
	bool json = false;

	if (argc > 1 && policy_is_command(argv[1]))
		return policy_command(argc, argv);
	while ((opt = getopt_long(argc, argv, "46hjv", long_options, NULL)) != -1) {
		switch (opt) {
		case '4':
			family = AF_INET;
			break;
		case '6':
			family = AF_INET6;
			break;
		case 'h':
			print_smc_usage(stdout);
			return EXIT_SUCCESS;
		case 'j':
			json = true;
			break;
		case 'v':
			printf(SMC_TOOLS_VERSION_FORMAT "\n", "smc");
			return EXIT_SUCCESS;
		default:
			print_smc_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 2 || strcmp(argv[optind], "check")) {
		print_smc_usage(stderr);
		return EXIT_USAGE;
	}
	return check(argv[optind + 1], family, json);
}

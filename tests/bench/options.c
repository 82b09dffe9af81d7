// SPDX-License-Identifier: GPL-2.0-only
/* The command line; see options.h. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define DEFAULT_TIMEOUT 600

static const char usage_text[] =
"usage: smcbench TEST [OPTION]...     TEST: bulk, rr, oneway, crr, idle,\n"
"                                     socket\n"
"       smcbench serve --control ADDR [--once]\n"
"       smcbench exec [--count OPERATIONS] -- COMMAND...\n"
"       smcbench settle [--count N]     wait until the machine is idle\n"
"  -f, --family NAME     tcp, unix or smc (tcp)\n"
"      --plain END       the client or the server has TCP sockets all the same:\n"
"                        AF_SMC connections fall back (none)\n"
"  -a, --addr ADDR       server's IPv4 or IPv6 address (127.0.0.1)\n"
"  -s, --size N          bytes per write or message (1)\n"
"  -r, --rsize N         bytes per read, bulk (as --size)\n"
"  -n, --count N         work: bytes (bulk), round trips (rr), messages\n"
"                        (oneway), connections, sockets\n"
"  -w, --warm N          work before measuring (a tenth)\n"
"  -P, --parallel N      connections in flight, crr (1)\n"
"  -C, --check HOW       none, sampled or full, while measuring (sampled);\n"
"                        the warm-up is always checked in full\n"
"  -b, --bufsize N       SO_SNDBUF and SO_RCVBUF\n"
"      --busy-poll USEC  SO_BUSY_POLL\n"
"      --nodelay         TCP_NODELAY\n"
"      --by-family       SMC sockets by family, not by protocol number\n"
"      --gap USEC        between bursts of messages, oneway (300); before the\n"
"                        memory is measured, idle\n"
"      --burst N         messages in one burst, oneway (1)\n"
"      --times           time each round trip: median, 99 %, maximum (rr)\n"
"      --client-netns NAME, --server-netns NAME   as in /run/netns\n"
"      --client-cpu N, --server-cpu N             pin\n"
"      --server-cgroup DIR                        move the server there\n"
"  -c, --control ADDR    unix:PATH or tcp:ADDRESS:PORT\n"
"      --timeout SECONDS give up (600)\n"
"exec runs COMMAND and measures what it costs; --count is the number of its\n"
"operations, --client-netns where it runs.\n"
"N takes k, m and g (powers of 1024). Results are JSON lines.\n";

void usage(const char *complaint, const char *what)
{
	fprintf(stderr, "smcbench: %s%s%s\n%s", complaint, what ? ": " : "",
		what ? what : "", usage_text);
	exit(2);
}

static uint64_t number(const char *text)
{
	uint64_t value;

	if (!number_parse(text, &value))
		usage("not a number", text);
	return value;
}

enum {
	OPT_PLAIN = 256,
	OPT_BUSY_POLL,
	OPT_NODELAY,
	OPT_BY_FAMILY,
	OPT_GAP,
	OPT_BURST,
	OPT_TIMES,
	OPT_CLIENT_NETNS,
	OPT_SERVER_NETNS,
	OPT_CLIENT_CPU,
	OPT_SERVER_CPU,
	OPT_SERVER_CGROUP,
	OPT_TIMEOUT,
	OPT_ONCE,
};

static const struct option long_options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "plain", required_argument, NULL, OPT_PLAIN },
	{ "addr", required_argument, NULL, 'a' },
	{ "size", required_argument, NULL, 's' },
	{ "rsize", required_argument, NULL, 'r' },
	{ "count", required_argument, NULL, 'n' },
	{ "warm", required_argument, NULL, 'w' },
	{ "parallel", required_argument, NULL, 'P' },
	{ "check", required_argument, NULL, 'C' },
	{ "bufsize", required_argument, NULL, 'b' },
	{ "control", required_argument, NULL, 'c' },
	{ "busy-poll", required_argument, NULL, OPT_BUSY_POLL },
	{ "nodelay", no_argument, NULL, OPT_NODELAY },
	{ "by-family", no_argument, NULL, OPT_BY_FAMILY },
	{ "gap", required_argument, NULL, OPT_GAP },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "times", no_argument, NULL, OPT_TIMES },
	{ "client-netns", required_argument, NULL, OPT_CLIENT_NETNS },
	{ "server-netns", required_argument, NULL, OPT_SERVER_NETNS },
	{ "client-cpu", required_argument, NULL, OPT_CLIENT_CPU },
	{ "server-cpu", required_argument, NULL, OPT_SERVER_CPU },
	{ "server-cgroup", required_argument, NULL, OPT_SERVER_CGROUP },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "once", no_argument, NULL, OPT_ONCE },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static bool spec_option(struct spec *spec, int option, const char *arg)
{
	switch (option) {
	case 'f':
		if (!family_parse(arg, &spec->family))
			usage("unknown family", arg);
		return true;
	case 'C':
		if (!check_parse(arg, &spec->check))
			usage("unknown check", arg);
		return true;
	case OPT_PLAIN:
		if (!end_parse(arg, &spec->plain))
			usage("unknown end", arg);
		return true;
	case 'a':
		if (strlen(arg) >= sizeof(spec->addr))
			usage("address too long", arg);
		strcpy(spec->addr, arg);
		return true;
	case 's':
		spec->size = number(arg);
		return true;
	case 'r':
		spec->rsize = number(arg);
		return true;
	case 'n':
		spec->count = number(arg);
		return true;
	case 'w':
		spec->warm = number(arg);
		return true;
	case 'P':
		spec->parallel = number(arg);
		return true;
	case 'b':
		spec->bufsize = number(arg);
		return true;
	case OPT_BUSY_POLL:
		spec->busy_poll = number(arg);
		return true;
	case OPT_NODELAY:
		spec->nodelay = 1;
		return true;
	case OPT_BY_FAMILY:
		spec->by_family = 1;
		return true;
	case OPT_GAP:
		spec->gap = number(arg);
		return true;
	case OPT_BURST:
		spec->burst = number(arg);
		return true;
	case OPT_TIMES:
		spec->times = 1;
		return true;
	}
	return false;
}

static void process_option(struct options *options, int option, const char *arg)
{
	switch (option) {
	case 'c':
		options->control = arg;
		break;
	case OPT_CLIENT_NETNS:
		options->client_netns = arg;
		break;
	case OPT_SERVER_NETNS:
		options->server_netns = arg;
		break;
	case OPT_SERVER_CGROUP:
		options->server_cgroup = arg;
		break;
	case OPT_CLIENT_CPU:
		options->client_cpu = (int)number(arg);
		break;
	case OPT_SERVER_CPU:
		options->server_cpu = (int)number(arg);
		break;
	case OPT_TIMEOUT:
		options->timeout = (unsigned int)number(arg);
		break;
	case OPT_ONCE:
		options->once = true;
		break;
	case 'h':
		fputs(usage_text, stdout);
		exit(0);
	default:
		usage("bad option", NULL);
	}
}

void options_parse(int argc, char **argv, struct spec *spec, struct options *options)
{
	int option;

	*options = (struct options){ .client_cpu = -1, .server_cpu = -1,
				     .timeout = DEFAULT_TIMEOUT };
	*spec = (struct spec){ .addr = "127.0.0.1", .check = CHECK_SAMPLED, .size = 1,
			       .count = 1000, .warm = UINT64_MAX, .parallel = 1, .gap = 300,
			       .burst = 1 };
	while ((option = getopt_long(argc, argv, "f:a:s:r:n:w:P:C:b:c:h",
				     long_options, NULL)) != -1) {
		if (!spec_option(spec, option, optarg))
			process_option(options, option, optarg);
	}
	if (optind == argc)
		usage("expected a test", NULL);
	options->command = argv[optind];
	options->arguments = argv + optind + 1;
	if (*options->arguments && strcmp(options->command, "exec"))
		usage("more than one test", *options->arguments);
}

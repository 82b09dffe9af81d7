// SPDX-License-Identifier: GPL-2.0-only
/* smcss - show AF_SMC sockets: which of them use SMC, which use TCP, and why */
#include <errno.h>
#include <getopt.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "print.h"
#include "smc_socket.h"
#include "version.h"

#define EXT(type)	(1 << (SMC_DIAG_##type - 1))

static struct options {
	struct view	view;
	bool		all;
	bool		listening;
	bool		json;
	double		interval;	/* 0: once */
} opts;

static const struct option long_options[] = {
	{ "all",	no_argument,		NULL, 'a' },
	{ "all-netns",	no_argument,		NULL, 'N' },
	{ "debug",	no_argument,		NULL, 'd' },
	{ "explain",	no_argument,		NULL, 'e' },
	{ "help",	no_argument,		NULL, 'h' },
	{ "json",	no_argument,		NULL, 'j' },
	{ "listening",	no_argument,		NULL, 'l' },
	{ "processes",	no_argument,		NULL, 'p' },
	{ "smcd",	no_argument,		NULL, 'D' },
	{ "smcr",	no_argument,		NULL, 'R' },
	{ "version",	no_argument,		NULL, 'v' },
	{ "watch",	optional_argument,	NULL, 'w' },
	{ "wide",	no_argument,		NULL, 'W' },
	{ }
};

static void print_smcss_usage(FILE *out)
{
	fputs("Usage: smcss [OPTIONS]\n"
	      "\n"
	      "Show AF_SMC sockets; without options, all but new and listening ones.\n"
	      "\n"
	      "  -a, --all           sockets in every state\n"
	      "  -l, --listening     listening sockets only\n"
	      "  -d, --debug         show buffers and cursors\n"
	      "  -D, --smcd          SMC-D connections only, with details\n"
	      "  -R, --smcr          SMC-R connections only, with details\n"
	      "  -p, --processes     show which processes have the socket\n"
	      "  -N, --all-netns     sockets of all network namespaces\n"
	      "  -W, --wide          do not cut addresses\n"
	      "  -e, --explain       say in words why a connection uses TCP\n"
	      "                      (always done when writing to a terminal)\n"
	      "  -j, --json          write JSON\n"
	      "  -w, --watch[=SEC]   show again every SEC seconds (default 1)\n"
	      "  -h, --help          show this help\n"
	      "  -v, --version       show the version\n", out);
}

static void __attribute__((noreturn)) refuse(const char *one, const char *other)
{
	fprintf(stderr, "%s together with %s is not supported\n", one, other);
	print_smcss_usage(stderr);
	exit(EXIT_FAILURE);
}

static void check_smcss_options(void)
{
	if (opts.listening && opts.all)
		refuse("--listening", "--all");
	if (opts.listening && opts.view.debug)
		refuse("--listening", "--debug");
	if (opts.listening && opts.view.smcd)
		refuse("--listening", "--smcd");
	if (opts.listening && opts.view.smcr)
		refuse("--listening", "--smcr");
	if (opts.view.smcd && opts.view.smcr)
		refuse("--smcd", "--smcr");
}

static double parse_interval(const char *text)
{
	char *end;
	double seconds;

	if (!text)
		return 1;
	seconds = strtod(text, &end);
	if (end == text || *end || !(seconds >= 0.1 && seconds <= 86400)) {
		fprintf(stderr, "smcss: invalid interval: %s\n", text);
		exit(EXIT_FAILURE);
	}
	return seconds;
}

static void parse_smcss_options(int argc, char **argv)
{
	int opt;

	opts.view.explain = isatty(STDOUT_FILENO);
	while ((opt = getopt_long(argc, argv, "adehjlDNpRvw::W", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'a':
			opts.all = true;
			break;
		case 'd':
			opts.view.debug = true;
			break;
		case 'e':
			opts.view.explain = true;
			break;
		case 'h':
			print_smcss_usage(stdout);
			exit(EXIT_SUCCESS);
		case 'j':
			opts.json = true;
			break;
		case 'l':
			opts.listening = true;
			break;
		case 'D':
			opts.view.smcd = true;
			break;
		case 'N':
			opts.view.netns = true;
			break;
		case 'p':
			opts.view.processes = true;
			break;
		case 'R':
			opts.view.smcr = true;
			break;
		case 'v':
			printf(SMC_TOOLS_VERSION_FORMAT "\n", "smcss");
			exit(EXIT_SUCCESS);
		case 'w':
			opts.interval = parse_interval(optarg);
			break;
		case 'W':
			opts.view.wide = true;
			break;
		default:
			print_smcss_usage(stderr);
			exit(EXIT_FAILURE);
		}
	}
	check_smcss_options();
	if (optind < argc) {
		fprintf(stderr, "smcss: unexpected argument: %s\n", argv[optind]);
		print_smcss_usage(stderr);
		exit(EXIT_FAILURE);
	}
}

static uint8_t get_extensions(void)
{
	uint8_t ext = 0;

	if (opts.view.debug || opts.json)
		ext |= EXT(CONNINFO);
	if (opts.view.smcr || opts.json)
		ext |= EXT(LGRINFO);
	if (opts.view.smcd || opts.json)
		ext |= EXT(DMBINFO);
	return ext;
}

static bool is_wanted(const struct sock *sk)
{
	if (opts.listening)
		return sk->base.diag_state == STATE_LISTEN;
	if (!sock_is_open(sk))
		/* these have no mode yet */
		return opts.all && !opts.view.smcd && !opts.view.smcr;
	if (opts.view.smcr)
		return sk->base.diag_mode == SMC_DIAG_MODE_SMCR;
	if (opts.view.smcd)
		return sk->base.diag_mode == SMC_DIAG_MODE_SMCD;
	return true;
}

/**
 * struct picture - one listing of all sockets
 * @json: output for programs
 * @owner: owner of the sockets shown next
 * @error: the kernel rejected a request
 * @is_blurred: sockets were created or closed while the kernel listed them
 * @is_partial: the caller has no access to some network namespaces
 */
struct picture {
	struct json	json;
	struct owner	owner;
	bool		error;
	bool		is_blurred;
	bool		is_partial;
};

static void begin_picture(struct picture *picture)
{
	picture->json.out = stdout;
	if (opts.json)
		json_array(&picture->json, NULL);
	else
		print_header(&opts.view);
}

static void end_picture(struct picture *picture)
{
	if (opts.json)
		json_array_end(&picture->json);
	fflush(stdout);
}

static void print_socks(struct picture *picture, const struct netlink_list *list)
{
	struct sock sk;
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!sock_decode(list->msg[i], &sk) || !is_wanted(&sk))
			continue;
		if (opts.json)
			print_sock_json(&picture->json, &picture->owner, &sk);
		else
			print_sock(&opts.view, &picture->owner, &sk);
	}
}

/*
 * The kernel loads the sock_diag module of a family only if the family is registered. Creating an
 * SMC socket registers it.
 */
static bool load_family(void)
{
	int fd = smc_socket(AF_INET);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Lets the kernel skip sockets that is_wanted() would reject */
static struct sock_filter build_filter(void)
{
	struct sock_filter filter = { };

	if (opts.listening)
		filter.states = 1 << STATE_LISTEN;
	if (opts.view.smcd)
		filter.modes = 1 << SMC_DIAG_MODE_SMCD;
	if (opts.view.smcr)
		filter.modes = 1 << SMC_DIAG_MODE_SMCR;
	return filter;
}

static int dump_socks(struct netlink *nl, struct netlink_list *list)
{
	struct sock_filter which = build_filter();
	int ret = sock_dump(nl, get_extensions(), &which, list);

	if (ret == -ENOENT && load_family())
		ret = sock_dump(nl, get_extensions(), &which, list);
	return ret;
}

static void print_request_error(const struct netlink *nl)
{
	if (nl->trouble) {
		fprintf(stderr, "Error: %s\n", nl->trouble);
		return;
	}
	/* "No such file" is less helpful than the name of the module */
	if (nl->error == ENOENT && !nl->text[0]) {
		fprintf(stderr, "smcss: %s not loaded\n",
			load_family() ? "module smc_diag is" : "SMC module");
		return;
	}
	fprintf(stderr, "RTNETLINK answers: %s\n", strerror(nl->error));
	if (nl->text[0])
		fprintf(stderr, "smcss: %s\n", nl->text);
}

static void show_list(struct picture *picture, struct netlink *nl)
{
	struct netlink_list list;

	if (dump_socks(nl, &list)) {
		fflush(stdout);
		print_request_error(nl);
		picture->error = true;
	}
	print_socks(picture, &list);
	picture->is_blurred |= list.interrupted;
	netlink_list_free(&list);
}

/* Show the sockets of the current network namespace. @ns: its name, or NULL */
static void show_netns(const struct netns *ns, void *data)
{
	struct picture *picture = data;
	struct netlink nl;
	int err;

	if (picture->error)	/* the other namespaces would fail in the same way */
		return;
	picture->owner.netns = ns;
	err = netlink_open(&nl, NETLINK_SOCK_DIAG);
	if (err) {
		fprintf(stderr, "smcss: cannot open netlink socket: %s\n", strerror(-err));
		picture->error = true;
		return;
	}
	show_list(picture, &nl);
	netlink_close(&nl);
}

static void show_all_netns(struct picture *picture)
{
	int err = netns_for_each(show_netns, picture);

	if (!err || picture->error)
		return;
	fflush(stdout);
	fprintf(stderr, "smcss: cannot see all network namespaces: %s\n", strerror(-err));
	picture->is_partial = true;
}

/* Returns: the exit status */
static int show_picture(struct picture *picture)
{
	struct process_list processes = { };

	memset(picture, 0, sizeof(*picture));
	if (opts.view.processes) {
		if (!process_list_read(&processes))
			fputs("smcss: out of memory: no processes\n", stderr);
		picture->owner.processes = &processes;
	}
	begin_picture(picture);
	if (opts.view.netns)
		show_all_netns(picture);
	else
		show_netns(NULL, picture);
	end_picture(picture);
	process_list_free(&processes);
	if (picture->is_blurred)
		fputs("Error: Dump interrupted\n", stderr);
	return picture->error || picture->is_blurred || picture->is_partial ? EXIT_FAILURE :
									      EXIT_SUCCESS;
}

static void print_time(void)
{
	time_t now = time(NULL);
	char text[32];

	/* on a terminal, each listing replaces the one before; in a file, they follow each other */
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime(&now));
	printf("%s\n", text);
}

static int watch_socks(void)
{
	struct timespec pause = {
		.tv_sec = opts.interval,
		.tv_nsec = (opts.interval - (time_t)opts.interval) * 1e9,
	};
	struct picture picture;
	int ret;

	for (;;) {
		if (!opts.json)
			print_time();
		ret = show_picture(&picture);
		/* continue after an inconsistent or incomplete listing */
		if (picture.error || ferror(stdout))
			return ret;
		if (!opts.json && !isatty(STDOUT_FILENO))
			putchar('\n');
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	struct picture picture;

	parse_smcss_options(argc, argv);
	return opts.interval ? watch_socks() : show_picture(&picture);
}

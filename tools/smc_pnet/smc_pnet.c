// SPDX-License-Identifier: GPL-2.0-only
/*
 * smc_pnet - configure which interfaces and devices share a physical network, for hardware that
 * does not report it.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "attr.h"
#include "genl.h"
#include "json.h"
#include "uapi.h"
#include "version.h"

#define PORT_UNSET	(-1)
#define PORT_MAX	2

/* The kernel sends this if an entry has no port */
#define NO_PORT		255
#define NO_NAME		"n/a"

#define ETHNAME_LEN	16
#define IBNAME_LEN	IB_DEVICE_NAME_MAX

enum action { SHOW, ADD, DELETE, FLUSH };

static struct options {
	enum action	action;
	bool		action_given;
	const char	*id;
	const char	*interface;
	const char	*device;
	int		port;
	bool		json;
} opts = { .port = PORT_UNSET };

static const struct option long_options[] = {
	{ "add",	required_argument,	NULL, 'a' },
	{ "delete",	required_argument,	NULL, 'd' },
	{ "flush",	no_argument,		NULL, 'f' },
	{ "help",	no_argument,		NULL, 'h' },
	{ "ibdevice",	required_argument,	NULL, 'D' },
	{ "ibport",	required_argument,	NULL, 'P' },
	{ "interface",	required_argument,	NULL, 'I' },
	{ "json",	no_argument,		NULL, 'j' },
	{ "show",	optional_argument,	NULL, 's' },
	{ "version",	no_argument,		NULL, 'v' },
	{ }
};

static void print_pnet_usage(FILE *out)
{
	fputs("Usage: smc_pnet [-j] [-s [ID]]\n"
	      "       smc_pnet -a ID [-I INTERFACE] [-D DEVICE [-P PORT]]\n"
	      "       smc_pnet -d ID\n"
	      "       smc_pnet -f\n"
	      "\n"
	      "Show and change the table of physical networks (PNET ids).\n"
	      "\n"
	      "  -a, --add ID                add to physical network ID:\n"
	      "  -I, --interface INTERFACE     an Ethernet interface\n"
	      "  -D, --ibdevice DEVICE         an RDMA device port, or an ISM device\n"
	      "  -P, --ibport PORT             port of the RDMA device (default 1)\n"
	      "  -d, --delete ID             delete all entries of ID\n"
	      "  -s, --show [ID]             show all entries, or those of ID\n"
	      "  -f, --flush                 delete all entries\n"
	      "  -j, --json                  write JSON\n"
	      "  -h, --help                  show this help\n"
	      "  -v, --version               show the version\n", out);
}

static void __attribute__((noreturn)) usage_error(void)
{
	print_pnet_usage(stderr);
	exit(EXIT_FAILURE);
}

static void set_action(enum action action, const char *id)
{
	if (opts.action_given) {
		fputs("smc_pnet: more than one of -a, -d, -f, -s\n", stderr);
		usage_error();
	}
	opts.action_given = true;
	opts.action = action;
	opts.id = id;
}

static void set_port(const char *text)
{
	char *end;
	long port = strtol(text, &end, 10);

	if (end == text || *end || port < 0 || port > PORT_MAX) {
		fprintf(stderr, "smc_pnet: invalid ib port:%s\n", text);
		usage_error();
	}
	opts.port = port;
}

/* The argument of -s is optional, and may be a separate word */
static const char *optional_word(int argc, char **argv)
{
	if (optarg)
		return optarg;
	if (optind < argc && argv[optind][0] != '-')
		return argv[optind++];
	return NULL;
}

static void parse_pnet_options(int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "a:D:d:fhI:jP:s::v", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'a':
			set_action(ADD, optarg);
			break;
		case 'D':
			opts.device = optarg;
			break;
		case 'd':
			set_action(DELETE, optarg);
			break;
		case 'f':
			set_action(FLUSH, NULL);
			break;
		case 'h':
			print_pnet_usage(stdout);
			exit(EXIT_SUCCESS);
		case 'I':
			opts.interface = optarg;
			break;
		case 'j':
			opts.json = true;
			break;
		case 'P':
			set_port(optarg);
			break;
		case 's':
			set_action(SHOW, optional_word(argc, argv));
			break;
		case 'v':
			printf(SMC_TOOLS_VERSION_FORMAT "\n", "smc_pnet");
			exit(EXIT_SUCCESS);
		default:
			usage_error();
		}
	}
	if (optind < argc) {
		fprintf(stderr, "smc_pnet: unexpected argument: %s\n", argv[optind]);
		usage_error();
	}
}

static void check_pnet_options(void)
{
	if (opts.action != ADD) {
		if (opts.interface)
			fprintf(stderr, "smc_pnet: option -I %s ignored\n",
				opts.interface);
		if (opts.device)
			fprintf(stderr, "smc_pnet: option -D %s ignored\n",
				opts.device);
		if (opts.port != PORT_UNSET)
			fprintf(stderr, "smc_pnet: option -P %d ignored\n", opts.port);
		return;
	}
	if (!opts.interface && !opts.device) {
		fputs("smc_pnet: -a needs -I or -D\n", stderr);
		usage_error();
	}
	if (opts.port != PORT_UNSET && !opts.device) {
		fputs("smc_pnet: -P needs -D\n", stderr);
		usage_error();
	}
}

static const char *error_text(int error)
{
	switch (error) {
	case EEXIST:
		return "Object exists";
	case ENOENT:
		return "Object not found";
	case EINVAL:
	case ERANGE:
		return "Invalid input data or parameter";
	default:
		return strerror(error);
	}
}

static int print_pnet_error(const struct genl *g)
{
	fprintf(stderr, "smc_pnet: %s\n",
		g->nl.trouble ? g->nl.trouble : error_text(g->nl.error));
	if (g->nl.text[0])
		fprintf(stderr, "smc_pnet: %s\n", g->nl.text);
	return EXIT_FAILURE;
}

struct entry {
	char		id[SMC_MAX_PNETID_LEN + 1];
	char		interface[ETHNAME_LEN + 1];
	char		device[IBNAME_LEN + 1];
	unsigned int	port;
};

static void decode_name(char *buf, size_t size, const struct nlattr *attr)
{
	if (!*attr_string(attr, buf, size))
		strcpy(buf, NO_NAME);
}

static bool decode_entry(struct entry *entry, const struct nlmsghdr *msg)
{
	const struct nlattr *tb[SMC_PNETID_MAX + 1];

	if (genl_parse(msg, tb, SMC_PNETID_MAX) < 0 || !tb[SMC_PNETID_NAME])
		return false;
	attr_string(tb[SMC_PNETID_NAME], entry->id, sizeof(entry->id));
	decode_name(entry->interface, sizeof(entry->interface), tb[SMC_PNETID_ETHNAME]);
	decode_name(entry->device, sizeof(entry->device), tb[SMC_PNETID_IBNAME]);
	entry->port = attr_uint(tb[SMC_PNETID_IBPORT], NO_PORT);
	return true;
}

static void json_name(struct json *j, const char *key, const char *name)
{
	if (strcmp(name, NO_NAME))
		json_string(j, key, name);
	else
		json_null(j, key);
}

static void json_entry(struct json *j, const struct entry *entry)
{
	json_object(j, NULL);
	json_string(j, "id", entry->id);
	json_name(j, "interface", entry->interface);
	json_name(j, "device", entry->device);
	if (entry->port == NO_PORT)
		json_null(j, "port");
	else
		json_uint(j, "port", entry->port);
	json_object_end(j);
}

static void print_entries(const struct netlink_list *list)
{
	struct json j = { .out = stdout };
	struct entry entry;
	size_t i;

	if (opts.json)
		json_array(&j, NULL);
	for (i = 0; i < list->count; i++) {
		if (!decode_entry(&entry, list->msg[i]))
			continue;
		if (opts.json)
			json_entry(&j, &entry);
		else
			printf("%s %s %s %u\n", entry.id, entry.interface,
			       entry.device, entry.port);
	}
	if (opts.json)
		json_array_end(&j);
}

/* The kernel stores IDs in upper case and compares them case-sensitively */
static void put_id(struct nl_msg *msg, const char *id)
{
	char *copy = strdup(id);
	char *c;

	for (c = copy; c && *c; c++)
		*c = toupper((unsigned char)*c);
	nla_put_string(msg, SMC_PNETID_NAME, copy ? copy : id);
	free(copy);
}

static struct nl_msg *build_request(struct genl *g)
{
	static const int commands[] = {
		[SHOW]		= SMC_PNETID_GET,
		[ADD]		= SMC_PNETID_ADD,
		[DELETE]	= SMC_PNETID_DEL,
		[FLUSH]		= SMC_PNETID_FLUSH,
	};
	bool dump = opts.action == SHOW && !opts.id;
	struct nl_msg *msg = genl_message(g, commands[opts.action], dump);

	if (opts.id)
		put_id(msg, opts.id);
	if (opts.action != ADD)
		return msg;
	if (opts.interface)
		nla_put_string(msg, SMC_PNETID_ETHNAME, opts.interface);
	if (opts.device) {
		nla_put_string(msg, SMC_PNETID_IBNAME, opts.device);
		nla_put_u8(msg, SMC_PNETID_IBPORT,
			   opts.port == PORT_UNSET ? 1 : opts.port);
	}
	return msg;
}

static int run_action(struct genl *g)
{
	struct nl_msg *msg = build_request(g);
	struct netlink_list list = { 0 };
	int ret;

	if (opts.action == SHOW)
		ret = netlink_dump(&g->nl, msg, &list);
	else
		ret = netlink_request(&g->nl, msg);
	nlmsg_free(msg);
	if (ret)
		return print_pnet_error(g);
	if (opts.action == SHOW)
		print_entries(&list);
	netlink_list_free(&list);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct genl g;
	int ret;

	parse_pnet_options(argc, argv);
	check_pnet_options();
	ret = genl_open(&g, SMCR_GENL_FAMILY_NAME);
	if (ret) {
		fprintf(stderr, "smc_pnet: %s\n",
			ret == -ENOENT ? "SMC module not loaded" : strerror(-ret));
		return EXIT_FAILURE;
	}
	ret = run_action(&g);
	genl_close(&g);
	return ret;
}

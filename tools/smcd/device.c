// SPDX-License-Identifier: GPL-2.0-only
/* smcr|smcd device: RDMA devices and ISM devices */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "names.h"
#include "tool.h"

struct port {
	bool		valid;
	bool		pnetid_by_user;
	char		pnetid[SMC_MAX_PNETID_LEN + 1];
	uint32_t	netdev;
	bool		active;
	uint32_t	links;
};

/*
 * Implementations omit attributes that do not apply to a device, such as the PCI IDs of virtual
 * devices. They are shown as zero.
 */
struct device {
	char		name[IB_DEVICE_NAME_MAX + 1];
	uint32_t	use_count;
	bool		critical;
	uint32_t	fid;
	unsigned int	pchid;
	unsigned int	pci_vendor;
	unsigned int	pci_device;
	char		pci_id[SMC_PCI_ID_STR_LEN + 1];
	struct port	port[2];
};

struct view {
	const struct tool	*tool;
	const char		*ibdev;		/* NULL: all */
	const char		*netdev;
	bool			has_header;
	struct json		json;
};

static void decode_port(struct port *port, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_DEV_PORT_MAX + 1];

	attr_parse_nest(tb, SMC_NLA_DEV_PORT_MAX, nest);
	port->valid = attr_uint(tb[SMC_NLA_DEV_PORT_VALID], 0);
	port->pnetid_by_user = attr_uint(tb[SMC_NLA_DEV_PORT_PNET_USR], 0);
	attr_string(tb[SMC_NLA_DEV_PORT_PNETID], port->pnetid, sizeof(port->pnetid));
	port->netdev = attr_uint(tb[SMC_NLA_DEV_PORT_NETDEV], 0);
	port->active = attr_uint(tb[SMC_NLA_DEV_PORT_STATE], 0);
	port->links = attr_uint(tb[SMC_NLA_DEV_PORT_LNK_CNT], 0);
}

static void decode_device(struct device *dev, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_DEV_MAX + 1];

	attr_parse_nest(tb, SMC_NLA_DEV_MAX, nest);
	attr_string(tb[SMC_NLA_DEV_IB_NAME], dev->name, sizeof(dev->name));
	dev->use_count = attr_uint(tb[SMC_NLA_DEV_USE_CNT], 0);
	dev->critical = attr_uint(tb[SMC_NLA_DEV_IS_CRIT], 0);
	dev->fid = attr_uint(tb[SMC_NLA_DEV_PCI_FID], 0);
	dev->pchid = attr_uint(tb[SMC_NLA_DEV_PCI_CHID], 0);
	dev->pci_vendor = attr_uint(tb[SMC_NLA_DEV_PCI_VENDOR], 0);
	dev->pci_device = attr_uint(tb[SMC_NLA_DEV_PCI_DEVICE], 0);
	attr_string(tb[SMC_NLA_DEV_PCI_ID], dev->pci_id, sizeof(dev->pci_id));
	decode_port(&dev->port[0], tb[SMC_NLA_DEV_PORT]);
	decode_port(&dev->port[1], tb[SMC_NLA_DEV_PORT2]);
}

static const char *pci_id(const struct device *dev)
{
	return dev->pci_id[0] ? dev->pci_id : "n/a";
}

/* An empty table has no header */
static void print_header(struct view *view)
{
	if (view->has_header)
		return;
	view->has_header = true;
	if (view->tool->smcd) {
		puts("FID  Type  PCI-ID        PCHID  InUse  #LGs  PNET-ID  ");
		return;
	}
	fputs("Net-Dev         IB-Dev   IB-P  IB-State  Type          Crit", stdout);
	if (view->tool->details)
		fputs(" FID   PCI-ID        PCHID", stdout);
	puts("  #Links  PNET-ID  ");
}

static void print_pnetid(const struct port *port)
{
	printf("%c%-16s\n", port->pnetid_by_user ? '*' : ' ', port->pnetid);
}

static void print_smcr_port(struct view *view, const struct device *dev, int i)
{
	char netdev[IF_NAMESIZE], type[NAME_LEN];
	const struct port *port = &dev->port[i];

	print_header(view);
	printf("%-15s %-8s %4d  %8s  %-13s %4s", name_netdev(port->netdev, netdev),
	       dev->name, i + 1, port->active ? "ACTIVE" : "INACTIVE",
	       name_rdma_type(dev->pci_device, type), dev->critical ? "Yes" : "No");
	if (view->tool->details)
		printf(" %04x  %-12s  %04x ", dev->fid, pci_id(dev), dev->pchid);
	printf("  %6u  ", port->links);
	print_pnetid(port);
}

static void print_smcd(struct view *view, const struct device *dev)
{
	char type[NAME_LEN];

	print_header(view);
	printf("%04x %-4s  %-12s  %04x   %-5s  %4u  ", dev->fid,
	       name_ism_type(dev->pci_device, type), pci_id(dev), dev->pchid,
	       dev->critical ? "Yes" : "No", dev->use_count);
	print_pnetid(&dev->port[0]);
}

static void json_pnetid(struct json *j, const struct port *port)
{
	json_string(j, "pnetid", port->pnetid);
	json_bool(j, "pnetid_by_user", port->pnetid_by_user);
}

static void json_device(struct json *j, const struct device *dev, const char *type)
{
	json_string(j, "type", type);
	json_string(j, "pci_id", dev->pci_id);
	json_hex(j, "pci_vendor", dev->pci_vendor, 4);
	json_hex(j, "pci_device", dev->pci_device, 4);
	json_hex(j, "fid", dev->fid, 4);
	json_hex(j, "pchid", dev->pchid, 4);
}

static void json_smcr_port(struct json *j, const struct device *dev, int i)
{
	char netdev[IF_NAMESIZE], type[NAME_LEN];
	const struct port *port = &dev->port[i];

	json_object(j, NULL);
	json_string(j, "device", dev->name);
	json_uint(j, "port", i + 1);
	json_string(j, "netdev", name_netdev(port->netdev, netdev));
	json_bool(j, "active", port->active);
	json_bool(j, "critical", dev->critical);
	json_uint(j, "links", port->links);
	json_pnetid(j, port);
	json_device(j, dev, name_rdma_type(dev->pci_device, type));
	json_object_end(j);
}

static void json_ism_device(struct json *j, const struct device *dev)
{
	char type[NAME_LEN];

	json_object(j, NULL);
	json_bool(j, "in_use", dev->critical);
	json_uint(j, "groups", dev->use_count);
	json_pnetid(j, &dev->port[0]);
	json_device(j, dev, name_ism_type(dev->pci_device, type));
	json_object_end(j);
}

static bool port_wanted(const struct view *view, const struct device *dev,
			const struct port *port)
{
	char netdev[IF_NAMESIZE];

	if (!port->valid || (view->ibdev && strcmp(view->ibdev, dev->name)))
		return false;
	return !view->netdev ||
	       !strcmp(view->netdev, name_netdev(port->netdev, netdev));
}

static void show_smcr(struct view *view, const struct device *dev)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!port_wanted(view, dev, &dev->port[i]))
			continue;
		if (view->tool->json)
			json_smcr_port(&view->json, dev, i);
		else
			print_smcr_port(view, dev, i);
	}
}

static void show_smcd(struct view *view, const struct device *dev)
{
	if (view->tool->json)
		json_ism_device(&view->json, dev);
	else
		print_smcd(view, dev);
}

static void show_devices(struct view *view, const struct netlink_list *list)
{
	int type = view->tool->smcd ? SMC_GEN_DEV_SMCD : SMC_GEN_DEV_SMCR;
	const struct nlattr *tb[SMC_GEN_MAX + 1];
	struct device dev;
	size_t i;

	if (view->tool->json)
		json_array(&view->json, NULL);
	for (i = 0; i < list->count; i++) {
		if (genl_parse(list->msg[i], tb, SMC_GEN_MAX) < 0 || !tb[type])
			continue;
		decode_device(&dev, tb[type]);
		if (view->tool->smcd)
			show_smcd(view, &dev);
		else
			show_smcr(view, &dev);
	}
	if (view->tool->json)
		json_array_end(&view->json);
}

/* Returns: false if the arguments are invalid */
static bool parse_device_words(struct view *view, int argc, char **argv)
{
	if (argc && tool_matches(argv[0], "show")) {
		argc--;
		argv++;
	}
	for (; argc; argc--, argv++) {
		if (!strcmp(argv[0], "all"))
			continue;
		if (view->tool->smcd || argc < 2)
			return false;
		if (!strcmp(argv[0], "ibdev"))
			view->ibdev = argv[1];
		else if (!strcmp(argv[0], "netdev"))
			view->netdev = argv[1];
		else
			return false;
		argc--;
		argv++;
	}
	return true;
}

int device_main(struct tool *tool, int argc, char **argv)
{
	struct view view = { .tool = tool, .json.out = stdout };
	struct netlink_list list;

	if (!parse_device_words(&view, argc, argv))
		return tool_usage(tool);
	if (!tool_dump(tool, tool->smcd ? SMC_NETLINK_GET_DEV_SMCD :
					  SMC_NETLINK_GET_DEV_SMCR, &list))
		return EXIT_USAGE;
	show_devices(&view, &list);
	netlink_list_free(&list);
	return EXIT_SUCCESS;
}

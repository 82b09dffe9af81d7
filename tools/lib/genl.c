// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>

#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "attr.h"
#include "genl.h"

#define FAMILY_VERSION	1	/* of both families of SMC */

int genl_open(struct genl *g, const char *name)
{
	int ret = netlink_open(&g->nl, NETLINK_GENERIC);

	if (ret)
		return ret;
	g->family = genl_ctrl_resolve(g->nl.sk, name);
	if (g->family >= 0)
		return 0;
	ret = g->family == -NLE_OBJ_NOTFOUND ? -ENOENT : -EIO;
	netlink_close(&g->nl);
	return ret;
}

void genl_close(struct genl *g)
{
	netlink_close(&g->nl);
}

struct nl_msg *genl_message(struct genl *g, int command, bool dump)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, g->family, 0,
				 dump ? NLM_F_DUMP : 0, command, FAMILY_VERSION)) {
		fputs("Error: Out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return msg;
}

int genl_dump(struct genl *g, int command, struct netlink_list *list)
{
	struct nl_msg *msg = genl_message(g, command, true);
	int ret = netlink_dump(&g->nl, msg, list);

	nlmsg_free(msg);
	return ret;
}

int genl_parse(const struct nlmsghdr *msg, const struct nlattr **tb, int max)
{
	const struct genlmsghdr *genl = nlmsg_data(msg);

	if (!genlmsg_valid_hdr((struct nlmsghdr *)msg, 0)) {
		fputs("Error: Message truncated\n", stderr);
		return -1;
	}
	attr_parse(tb, max, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0));
	return genl->cmd;
}

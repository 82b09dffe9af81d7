// SPDX-License-Identifier: GPL-2.0-only
/* Parse netlink attributes of link groups and links */
#include <arpa/inet.h>
#include <string.h>

#include "attr.h"
#include "linkgroup.h"

static void decode_v2(struct group_v2 *v2, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_LGR_V2_MAX + 1];

	if (!nest)
		return;
	attr_parse_nest(tb, SMC_NLA_LGR_V2_MAX, nest);
	v2->present = true;
	v2->version = attr_uint(tb[SMC_NLA_LGR_V2_VER], 2);
	v2->release = attr_uint(tb[SMC_NLA_LGR_V2_REL], 0);
	v2->os = attr_uint(tb[SMC_NLA_LGR_V2_OS], 0);
	attr_string(tb[SMC_NLA_LGR_V2_NEG_EID], v2->eid, sizeof(v2->eid));
	attr_string(tb[SMC_NLA_LGR_V2_PEER_HOST], v2->host, sizeof(v2->host));
}

static void decode_smcr_v2(struct group *group, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_LGR_R_V2_MAX_LINKS + 1];

	attr_parse_nest(tb, SMC_NLA_LGR_R_V2_MAX_LINKS, nest);
	group->direct = attr_uint(tb[SMC_NLA_LGR_R_V2_DIRECT], 0);
	group->max_conns = attr_uint(tb[SMC_NLA_LGR_R_V2_MAX_CONNS], 0);
	group->max_links = attr_uint(tb[SMC_NLA_LGR_R_V2_MAX_LINKS], 0);
}

void group_decode_smcr(struct group *group, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_LGR_R_RMB_ALLOC + 1];

	memset(group, 0, sizeof(*group));
	attr_parse_nest(tb, SMC_NLA_LGR_R_RMB_ALLOC, nest);
	group->id = attr_uint(tb[SMC_NLA_LGR_R_ID], 0);
	group->role = attr_uint(tb[SMC_NLA_LGR_R_ROLE], 0);
	group->type = attr_uint(tb[SMC_NLA_LGR_R_TYPE], 0);
	group->vlan = attr_uint(tb[SMC_NLA_LGR_R_VLAN_ID], 0);
	group->conns = attr_uint(tb[SMC_NLA_LGR_R_CONNS_NUM], 0);
	group->buffer_type = attr_uint(tb[SMC_NLA_LGR_R_BUF_TYPE], 0);
	attr_string(tb[SMC_NLA_LGR_R_PNETID], group->pnetid, sizeof(group->pnetid));
	decode_v2(&group->v2, tb[SMC_NLA_LGR_R_V2_COMMON]);
	decode_smcr_v2(group, tb[SMC_NLA_LGR_R_V2]);
	group->has_memory = tb[SMC_NLA_LGR_R_RMB_ALLOC];
	group->sndbuf = attr_uint(tb[SMC_NLA_LGR_R_SNDBUF_ALLOC], 0);
	group->rmb = attr_uint(tb[SMC_NLA_LGR_R_RMB_ALLOC], 0);
}

void group_decode_smcd(struct group *group, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_LGR_D_DMB_ALLOC + 1];

	memset(group, 0, sizeof(*group));
	group->smcd = true;
	attr_parse_nest(tb, SMC_NLA_LGR_D_DMB_ALLOC, nest);
	group->id = attr_uint(tb[SMC_NLA_LGR_D_ID], 0);
	group->vlan = attr_uint(tb[SMC_NLA_LGR_D_VLAN_ID], 0);
	group->conns = attr_uint(tb[SMC_NLA_LGR_D_CONNS_NUM], 0);
	attr_string(tb[SMC_NLA_LGR_D_PNETID], group->pnetid, sizeof(group->pnetid));
	group->gid = attr_uint(tb[SMC_NLA_LGR_D_GID], 0);
	group->gid_ext = attr_uint(tb[SMC_NLA_LGR_D_EXT_GID], 0);
	group->peer_gid = attr_uint(tb[SMC_NLA_LGR_D_PEER_GID], 0);
	group->peer_gid_ext = attr_uint(tb[SMC_NLA_LGR_D_PEER_EXT_GID], 0);
	group->chid = attr_uint(tb[SMC_NLA_LGR_D_CHID], 0);
	decode_v2(&group->v2, tb[SMC_NLA_LGR_D_V2_COMMON]);
	group->has_memory = tb[SMC_NLA_LGR_D_DMB_ALLOC];
	group->sndbuf = attr_uint(tb[SMC_NLA_LGR_D_SNDBUF_ALLOC], 0);
	group->rmb = attr_uint(tb[SMC_NLA_LGR_D_DMB_ALLOC], 0);
}

void link_decode(struct link *link, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_LINK_MAX + 1];

	attr_parse_nest(tb, SMC_NLA_LINK_MAX, nest);
	link->id = attr_uint(tb[SMC_NLA_LINK_ID], 0);
	attr_string(tb[SMC_NLA_LINK_IB_DEV], link->device, sizeof(link->device));
	link->port = attr_uint(tb[SMC_NLA_LINK_IB_PORT], 0);
	attr_string(tb[SMC_NLA_LINK_GID], link->gid, sizeof(link->gid));
	attr_string(tb[SMC_NLA_LINK_PEER_GID], link->peer_gid, sizeof(link->peer_gid));
	link->conns = attr_uint(tb[SMC_NLA_LINK_CONN_CNT], 0);
	link->netdev = attr_uint(tb[SMC_NLA_LINK_NET_DEV], 0);
	/* the only numbers in network byte order */
	link->uid = ntohl(attr_uint(tb[SMC_NLA_LINK_UID], 0));
	link->peer_uid = ntohl(attr_uint(tb[SMC_NLA_LINK_PEER_UID], 0));
	link->state = attr_uint(tb[SMC_NLA_LINK_STATE], 0);
}

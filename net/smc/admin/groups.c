// SPDX-License-Identifier: GPL-2.0-only
/* Link groups of a namespace as netlink messages */

#include <linux/smc.h>

#include "../config/pnet.h"
#include "../group/group.h"
#include "../net.h"
#include "netlink.h"

/*
 * Types of SMC-R link groups in the user ABI. In an asymmetric group, all links use the same port,
 * that of the peer or the local one.
 */
enum lgr_type {
	LGR_NONE,
	LGR_SINGLE,
	LGR_SYMMETRIC,
	LGR_ASYMMETRIC_PEER,
	LGR_ASYMMETRIC_LOCAL,
};

/**
 * struct position - state of a dump of link groups
 * @started: @last is valid
 * @last: serial number of the last group shown
 */
struct position {
	bool started;
	u64 last;
};

typedef int (*put_messages)(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct smc_group *group);

/* Dump the groups of one mode. A group whose messages do not all fit starts the next part */
static int dump_groups(struct sk_buff *skb, struct netlink_callback *cb, enum smc_mode mode,
		       put_messages put)
{
	struct position *position = (struct position *)cb->ctx;
	struct net *net = smc_netlink_net(cb);
	struct smc_group *group;

	BUILD_BUG_ON(sizeof(*position) > sizeof(cb->ctx));
	group = position->started ? smc_group_after(net, position->last) : smc_group_first(net);
	for (; group; group = smc_group_next(net, group)) {
		void *begin = skb_tail_pointer(skb);
		int err = group->transport->mode == mode ? put(skb, cb, group) : 0;

		if (err) {
			nlmsg_trim(skb, begin);
			smc_group_put(group);
			return skb->len ?: err;
		}
		position->started = true;
		position->last = group->serial;
	}
	return skb->len;
}

static int put_pnetid(struct sk_buff *skb, int attr, const struct smc_group *group,
		      const struct smc_netlink_port *port)
{
	char text[SMC_PNETID_LEN + 1];

	smc_netlink_find_pnetid(group->net, port, text);
	return nla_put_string(skb, attr, text);
}

static int put_v2_common(struct sk_buff *skb, int attr, const struct smc_group *group)
{
	const struct smc_clc_first_contact *peer = &group->first_contact;
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_VER, 2) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_REL, peer->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_OS, peer->os) ||
	    smc_netlink_put_padded(skb, SMC_NLA_LGR_V2_PEER_HOST, peer->hostname,
				   strlen(peer->hostname)) ||
	    smc_netlink_put_padded(skb, SMC_NLA_LGR_V2_NEG_EID, group->key.eid.text,
				   SMC_EID_LEN))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, SMC_NLA_LGR_D_PAD);
}

static int put_smcd(struct sk_buff *skb, const struct smc_group *group)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_LGR_SMCD);
	const struct smc_ism_gid *own = &group->local.ism, *peer = &group->key.peer.ism;
	char name[SMC_DEVICE_NAME_LEN];
	const struct smc_netlink_port port = {
		.device = name,
		.number = SMC_PNET_ISM_PORT,
	};

	smc_group_device_name(group, name);
	if (!nest ||
	    nla_put_u32(skb, SMC_NLA_LGR_D_ID, group->id) ||
	    put_u64(skb, SMC_NLA_LGR_D_GID, own->gid) ||
	    put_u64(skb, SMC_NLA_LGR_D_EXT_GID, own->gid_ext) ||
	    put_u64(skb, SMC_NLA_LGR_D_PEER_GID, peer->gid) ||
	    put_u64(skb, SMC_NLA_LGR_D_PEER_EXT_GID, peer->gid_ext) ||
	    nla_put_u8(skb, SMC_NLA_LGR_D_VLAN_ID, 0) ||
	    nla_put_u32(skb, SMC_NLA_LGR_D_CONNS_NUM, READ_ONCE(group->conns)) ||
	    nla_put_u16(skb, SMC_NLA_LGR_D_CHID, own->chid) ||
	    put_pnetid(skb, SMC_NLA_LGR_D_PNETID, group, &port) ||
	    nla_put_uint(skb, SMC_NLA_LGR_D_SNDBUF_ALLOC, 0) ||
	    nla_put_uint(skb, SMC_NLA_LGR_D_DMB_ALLOC, atomic_long_read(&group->rx_bytes)))
		return -EMSGSIZE;
	if (group->key.variant == SMC_VARIANT_D2 &&
	    put_v2_common(skb, SMC_NLA_LGR_D_V2_COMMON, group))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Type of the group. @first is a result: its first link */
static u8 get_lgr_type(const struct smc_group *group, struct smc_link_info *first)
{
	struct smc_link_info link;

	if (!group->transport->group_link(group, 0, first)) {
		memset(first, 0, sizeof(*first));
		return LGR_NONE;
	}
	if (!group->transport->group_link(group, 1, &link))
		return LGR_SINGLE;
	if (!memcmp(&link.gid, &first->gid, sizeof(link.gid)))
		return LGR_ASYMMETRIC_LOCAL;
	if (!memcmp(&link.peer_gid, &first->peer_gid, sizeof(link.peer_gid)))
		return LGR_ASYMMETRIC_PEER;
	return LGR_SYMMETRIC;
}

static int put_smcr_v2(struct sk_buff *skb, int attr, const struct smc_group *group,
		       const struct smc_link_info *link)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	u8 max_links = group->first_contact.max_links ?: SMC_MAX_LINKS_MAX;

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_DIRECT, link->direct) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_CONNS, group->max_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_LINKS, max_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_smcr(struct sk_buff *skb, const struct smc_group *group)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_LGR_SMCR);
	struct smc_group_memory memory;
	struct smc_link_info link;
	u8 type = get_lgr_type(group, &link);
	char name[SMC_DEVICE_NAME_LEN];
	const struct smc_netlink_port port = {
		.device = name,
		.number = link.port,
		.ifindex = link.ifindex,
	};

	smc_group_device_name(group, name);
	group->transport->group_memory(group, &memory);
	if (!nest ||
	    nla_put_u32(skb, SMC_NLA_LGR_R_ID, group->id) ||
	    nla_put_u32(skb, SMC_NLA_LGR_R_CONNS_NUM, READ_ONCE(group->conns)) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_ROLE, group->key.role == SMC_SERVER) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_TYPE, type) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_BUF_TYPE, 0) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_VLAN_ID, group->local.vlan) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_R_NET_COOKIE, group->net->net_cookie,
			      SMC_NLA_LGR_R_PAD) ||
	    put_pnetid(skb, SMC_NLA_LGR_R_PNETID, group, &port) ||
	    nla_put_uint(skb, SMC_NLA_LGR_R_SNDBUF_ALLOC, memory.tx_bytes) ||
	    nla_put_uint(skb, SMC_NLA_LGR_R_RMB_ALLOC, memory.rx_bytes))
		return -EMSGSIZE;
	if (group->key.variant == SMC_VARIANT_R2 &&
	    (put_v2_common(skb, SMC_NLA_LGR_R_V2_COMMON, group) ||
	     put_smcr_v2(skb, SMC_NLA_LGR_R_V2, group, &link)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int smc_netlink_put_gid(struct sk_buff *skb, int attr, const struct smc_gid *gid)
{
	char text[40];

	snprintf(text, sizeof(text), "%pI6", gid->bytes);
	return nla_put_string(skb, attr, text);
}

/**
 * smc_netlink_put_link() - add the attributes of a link
 * @skb: message
 * @group: its group
 * @link: the link
 *
 * Process context or softirq; does not sleep.
 *
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_link(struct sk_buff *skb, const struct smc_group *group,
			 const struct smc_link_info *link)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_LINK_SMCR);
	__be32 user_id = cpu_to_be32(link->user_id);
	__be32 peer_user_id = cpu_to_be32(link->peer_user_id);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LINK_ID, link->number) ||
	    nla_put_u32(skb, SMC_NLA_LINK_STATE, link->state) ||
	    nla_put_u32(skb, SMC_NLA_LINK_CONN_CNT, link->conns) ||
	    nla_put_u8(skb, SMC_NLA_LINK_IB_PORT, link->port) ||
	    nla_put_u32(skb, SMC_NLA_LINK_NET_DEV, link->ifindex) ||
	    nla_put_string(skb, SMC_NLA_LINK_IB_DEV, link->device) ||
	    nla_put(skb, SMC_NLA_LINK_UID, sizeof(user_id), &user_id) ||
	    nla_put(skb, SMC_NLA_LINK_PEER_UID, sizeof(peer_user_id), &peer_user_id) ||
	    smc_netlink_put_gid(skb, SMC_NLA_LINK_GID, &link->gid) ||
	    smc_netlink_put_gid(skb, SMC_NLA_LINK_PEER_GID, &link->peer_gid) ||
	    nla_put_u32(skb, SMC_NLA_LINK_LGR_ID, group->id))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_put_group() - add the attributes of a link group of either mode
 * @skb: message
 * @group: the group
 *
 * Process context or softirq; does not sleep.
 *
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_group(struct sk_buff *skb, const struct smc_group *group)
{
	return group->transport->mode == SMC_MODE_R ? put_smcr(skb, group) : put_smcd(skb, group);
}

static int put_group_smcd(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct smc_group *group)
{
	void *header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_LGR_SMCD);

	return smc_netlink_end(skb, header, header ? put_smcd(skb, group) : 0);
}

static int put_group_smcr(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct smc_group *group)
{
	void *header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_LGR_SMCR);

	return smc_netlink_end(skb, header, header ? put_smcr(skb, group) : 0);
}

/* Tools assign a link to the group that precedes it */
static int put_links(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct smc_group *group)
{
	int err = put_group_smcr(skb, cb, group);
	struct smc_link_info link;
	unsigned int i;

	for (i = 0; !err && group->transport->group_link(group, i, &link); i++) {
		void *header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_LINK_SMCR);

		err = header ? smc_netlink_put_link(skb, group, &link) : 0;
		err = smc_netlink_end(skb, header, err);
	}
	return err;
}

int smc_netlink_get_lgr_smcd(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, SMC_MODE_D, put_group_smcd);
}

int smc_netlink_get_lgr_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, SMC_MODE_R, put_group_smcr);
}

/**
 * smc_netlink_get_link_smcr() - dump links of SMC-R, each group followed by its links
 * @skb: answer
 * @cb: dump
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_get_link_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_groups(skb, cb, SMC_MODE_R, put_links);
}

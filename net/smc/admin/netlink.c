// SPDX-License-Identifier: GPL-2.0-only
/* Generic netlink family SMC_GEN_NETLINK: table of commands, and common functions */

#include <linux/module.h>
#include <linux/smc.h>

#include "netlink.h"

#define MAXATTR	1	/* highest attribute of any command */

/* Commands without attributes reject all attributes, instead of ignoring them */
static const struct nla_policy no_attrs[MAXATTR + 1] = {
	[1] = { .type = NLA_REJECT },
};

static const struct nla_policy eid_attrs[MAXATTR + 1] = {
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_STRING, .len = SMC_MAX_EID_LEN },
};

#define SHOW(command, function) {			\
	.cmd	 = SMC_NETLINK_##command,		\
	.dumpit	 = smc_netlink_##function,		\
	.policy	 = no_attrs,				\
	.maxattr = MAXATTR,				\
}

#define SET(command, function, attrs) {			\
	.cmd	 = SMC_NETLINK_##command,		\
	.doit	 = smc_netlink_##function,		\
	.flags	 = GENL_UNS_ADMIN_PERM,			\
	.policy	 = (attrs),				\
	.maxattr = MAXATTR,				\
}

static const struct genl_ops ops[] = {
	SHOW(GET_SYS_INFO, get_sys_info),
	SHOW(GET_LGR_SMCR, get_lgr_smcr),
	SHOW(GET_LINK_SMCR, get_link_smcr),
	SHOW(GET_LGR_SMCD, get_lgr_smcd),
	SHOW(GET_DEV_SMCD, get_dev_smcd),
	SHOW(GET_DEV_SMCR, get_dev_smcr),
	SHOW(GET_STATS, get_stats),
	{
		.cmd	 = SMC_NETLINK_GET_FBACK_STATS,
		.start	 = smc_netlink_start_fback_stats,
		.dumpit	 = smc_netlink_get_fback_stats,
		.done	 = smc_netlink_done_fback_stats,
		.policy	 = no_attrs,
		.maxattr = MAXATTR,
	},
	SHOW(DUMP_UEID, dump_ueid),
	SET(ADD_UEID, add_ueid, eid_attrs),
	SET(REMOVE_UEID, remove_ueid, eid_attrs),
	SET(FLUSH_UEID, flush_ueid, no_attrs),
	SHOW(DUMP_SEID, dump_seid),
	SET(ENABLE_SEID, enable_seid, no_attrs),
	SET(DISABLE_SEID, disable_seid, no_attrs),
	SHOW(DUMP_HS_LIMITATION, dump_hs_limitation),
	SET(ENABLE_HS_LIMITATION, enable_hs_limitation, no_attrs),
	SET(DISABLE_HS_LIMITATION, disable_hs_limitation, no_attrs),
};

static const struct genl_multicast_group groups[] = {
	{ .name = SMC_GENL_MCGRP_EVENTS },
};

static struct genl_family family __ro_after_init = {
	.name		= SMC_GENL_FAMILY_NAME,
	.version	= SMC_GENL_FAMILY_VERSION,
	.maxattr	= MAXATTR,
	.netnsok	= true,
	.parallel_ops	= true,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.resv_start_op	= SMC_NETLINK_DISABLE_HS_LIMITATION + 1,
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
	.module		= THIS_MODULE,
};

/**
 * smc_netlink_begin() - start one message of a dump
 * @skb: the answer
 * @cb: the dump
 * @cmd: command number of the message
 *
 * Return: header for smc_netlink_end(), or NULL if @skb is full.
 */
void *smc_netlink_begin(struct sk_buff *skb, const struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family,
			   NLM_F_MULTI, cmd);
}

/**
 * smc_netlink_end() - finish one message of a dump, or remove it on error
 * @skb: the answer
 * @header: from smc_netlink_begin(); NULL is an error
 * @err: result of adding the attributes
 *
 * Return: 0 if the message is complete; -EMSGSIZE if it was removed.
 */
int smc_netlink_end(struct sk_buff *skb, void *header, int err)
{
	if (!header)
		return -EMSGSIZE;
	if (err) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/**
 * smc_netlink_put_padded() - add a name in the padded format of the protocol
 * @skb: the message
 * @attr: attribute number
 * @text: the name, not NUL-terminated
 * @len: its length; more than 32 characters are cut off
 *
 * The attribute has 32 characters, padded with blanks, and a NUL.
 *
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_padded(struct sk_buff *skb, int attr, const char *text, size_t len)
{
	char padded[SMC_MAX_EID_LEN + 1];

	memset(padded, ' ', SMC_MAX_EID_LEN);
	padded[SMC_MAX_EID_LEN] = '\0';
	memcpy(padded, text, min_t(size_t, len, SMC_MAX_EID_LEN));
	return nla_put_string(skb, attr, padded);
}

/**
 * smc_netlink_single() - reject a request that contains an attribute twice
 * @info: the request, validated
 *
 * The parser would keep only the last of them.
 *
 * Return: 0 or -EINVAL.
 */
int smc_netlink_single(const struct genl_info *info)
{
	const struct nlattr *attr;
	u32 seen = 0;
	int rest;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest) {
		u32 bit = 1U << nla_type(attr);

		if (seen & bit) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "Attribute given twice");
			return -EINVAL;
		}
		seen |= bit;
	}
	return 0;
}

/* Does any socket listen for events in this namespace? */
bool smc_event_wanted(struct net *net)
{
	return genl_has_listeners(&family, net, 0);
}

/**
 * smc_event_begin() - start an event message
 * @event: the message
 * @net: namespace of the listeners
 * @cmd: the event
 *
 * Process context or softirq; does not sleep.
 *
 * Return: false if there is no listener or no memory; else the caller must call smc_event_end().
 */
bool smc_event_begin(struct smc_event *event, struct net *net, u8 cmd)
{
	if (!smc_event_wanted(net))
		return false;
	event->net = net;
	event->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!event->skb)
		return false;
	event->header = genlmsg_put(event->skb, 0, 0, &family, 0, cmd);
	return true;
}

/**
 * smc_event_end() - send an event message to the listeners
 * @event: the message
 * @err: result of adding the attributes
 */
void smc_event_end(struct smc_event *event, int err)
{
	if (WARN_ON_ONCE(err || !event->header)) {
		nlmsg_free(event->skb);
		return;
	}
	genlmsg_end(event->skb, event->header);
	genlmsg_multicast_netns(&family, event->net, event->skb, 0, 0, GFP_ATOMIC);
}

int __init smc_netlink_init(void)
{
	return genl_register_family(&family);
}

void smc_netlink_exit(void)
{
	genl_unregister_family(&family);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Generic netlink family SMC_PNETID: show and change the PNET table */

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/smc.h>

#include "../config/pnet.h"
#include "../net.h"
#include "netlink.h"

/* What tools print for a field that does not apply to an entry */
#define NO_NAME		"n/a"
#define NO_PORT		255

/* One policy for all commands; a command ignores attributes that it does not use */
static const struct nla_policy attrs[] = {
	[SMC_PNETID_NAME]	= { .type = NLA_NUL_STRING, .len = SMC_PNETID_LEN },
	[SMC_PNETID_ETHNAME]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[SMC_PNETID_IBNAME]	= { .type = NLA_NUL_STRING, .len = SMC_PNET_NAME_LEN - 1 },
	[SMC_PNETID_IBPORT]	= { .type = NLA_U8 },
};

static struct genl_family family;

static struct smc_pnet *get_table(struct genl_info *info)
{
	return &smc_net(genl_info_net(info))->pnet;
}

static int put_pnet_attrs(struct sk_buff *skb, const struct smc_pnet_entry *entry)
{
	bool is_device = entry->port;
	char id[SMC_PNETID_LEN + 1];

	smc_pnetid_format(&entry->pnetid, id, sizeof(id));
	if (nla_put_string(skb, SMC_PNETID_NAME, id) ||
	    nla_put_string(skb, SMC_PNETID_ETHNAME, is_device ? NO_NAME : entry->name) ||
	    nla_put_string(skb, SMC_PNETID_IBNAME, is_device ? entry->name : NO_NAME) ||
	    nla_put_u8(skb, SMC_PNETID_IBPORT, is_device ? entry->port : NO_PORT))
		return -EMSGSIZE;
	return 0;
}

static int put_pnet_entry(struct sk_buff *skb, u32 portid, u32 seq,
			  const struct smc_pnet_entry *entry)
{
	void *header = genlmsg_put(skb, portid, seq, &family, NLM_F_MULTI, SMC_PNETID_GET);

	return smc_netlink_end(skb, header, header ? put_pnet_attrs(skb, entry) : 0);
}

static int dump_pnet(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_pnet *table = &smc_net(smc_netlink_net(cb))->pnet;
	u64 *serial = (u64 *)cb->ctx;
	struct smc_pnet_entry entry;

	while (smc_pnet_next(table, *serial, &entry)) {
		int err = put_pnet_entry(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
					 &entry);

		if (err)
			return skb->len ?: err;
		*serial = entry.serial;
	}
	return skb->len;
}

/**
 * struct answer - a list of entries that answers a request without dump flag
 * @info: the request
 * @skb: the message under construction, or NULL
 */
struct answer {
	struct genl_info *info;
	struct sk_buff *skb;
};

/* Send the message under construction, if there is one, and start the next one */
static int start_next_message(struct answer *answer)
{
	int err = 0;

	if (answer->skb)
		err = genlmsg_reply(answer->skb, answer->info);
	answer->skb = err ? NULL : genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	return answer->skb ? 0 : err ?: -ENOMEM;
}

static int add_answer_entry(struct answer *answer, const struct smc_pnet_entry *entry)
{
	const struct genl_info *info = answer->info;
	int err;

	if (!put_pnet_entry(answer->skb, info->snd_portid, info->snd_seq, entry))
		return 0;
	err = start_next_message(answer);
	return err ?: put_pnet_entry(answer->skb, info->snd_portid, info->snd_seq, entry);
}

static int finish_answer(struct answer *answer)
{
	const struct genl_info *info = answer->info;
	int err;

	if (!nlmsg_put(answer->skb, info->snd_portid, info->snd_seq, NLMSG_DONE, 0, NLM_F_MULTI)) {
		err = start_next_message(answer);
		if (err)
			return err;
		nlmsg_put(answer->skb, info->snd_portid, info->snd_seq, NLMSG_DONE, 0,
			  NLM_F_MULTI);
	}
	return genlmsg_reply(answer->skb, answer->info);
}

/* Read the PNET ID of a request. A look-up compares it with the case unchanged */
static int get_pnetid(const struct genl_info *info, struct smc_pnetid *out)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_NAME];
	int err = smc_netlink_single(info);

	if (err)
		return err;
	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "The PNET id is missing");
		return -EINVAL;
	}
	memset(out->text, ' ', sizeof(out->text));
	memcpy(out->text, nla_data(attr), strlen(nla_data(attr)));
	return 0;
}

static int get_pnet(struct sk_buff *skb, struct genl_info *info)
{
	struct answer answer = { .info = info };
	struct smc_pnet_entry entry = {};
	struct smc_pnetid id;
	int err = get_pnetid(info, &id);

	if (!err)
		err = start_next_message(&answer);
	while (!err && smc_pnet_next(get_table(info), entry.serial, &entry))
		if (smc_pnetid_equal(&entry.pnetid, &id))
			err = add_answer_entry(&answer, &entry);
	if (!err)
		return finish_answer(&answer);
	nlmsg_free(answer.skb);
	return err;
}

/* Return: a valid port number, or a negative errno */
static int get_port(const struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_IBPORT];
	u8 port = attr ? nla_get_u8(attr) : 1;

	if (port < 1 || port > SMC_PNET_PORTS) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "A port is a number from 1 to 6");
		return -EINVAL;
	}
	return port;
}

/* Read interface and device of an add request; NULL if absent */
static int get_names(const struct genl_info *info, const char **interface, const char **device)
{
	const struct nlattr *eth = info->attrs[SMC_PNETID_ETHNAME];
	const struct nlattr *ib = info->attrs[SMC_PNETID_IBNAME];

	*interface = eth ? nla_data(eth) : NULL;
	*device = ib ? nla_data(ib) : NULL;
	if (!eth && !ib) {
		NL_SET_ERR_MSG(info->extack, "Neither an interface nor a device is named");
		return -EINVAL;
	}
	if (eth && !dev_valid_name(*interface)) {
		NL_SET_ERR_MSG_ATTR(info->extack, eth, "No interface can have this name");
		return -EINVAL;
	}
	if (ib && !**device) {
		NL_SET_ERR_MSG_ATTR(info->extack, ib, "The name of the device is empty");
		return -EINVAL;
	}
	return 0;
}

/* Send an event with the attributes of the request to the listeners */
static void send_pnet_event(struct genl_info *info, u8 cmd, const struct smc_pnetid *id,
			    const char *interface, const char *device, u8 port)
{
	struct net *net = genl_info_net(info);
	char text[SMC_PNETID_LEN + 1];
	struct sk_buff *skb;
	void *header;
	int err = 0;

	if (!genl_has_listeners(&family, net, 0))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	header = genlmsg_put(skb, 0, 0, &family, 0, cmd);
	if (id) {
		smc_pnetid_format(id, text, sizeof(text));
		err |= nla_put_string(skb, SMC_PNETID_NAME, text);
	}
	if (interface)
		err |= nla_put_string(skb, SMC_PNETID_ETHNAME, interface);
	if (device) {
		err |= nla_put_string(skb, SMC_PNETID_IBNAME, device);
		err |= nla_put_u8(skb, SMC_PNETID_IBPORT, port);
	}
	if (WARN_ON_ONCE(err || !header)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast_netns(&family, net, skb, 0, 0, GFP_KERNEL);
}

static int add_pnet(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_NAME];
	const char *interface, *device;
	struct smc_pnetid id;
	int err, port;

	err = get_pnetid(info, &id);
	if (err)
		return err;
	err = smc_pnetid_parse(nla_data(attr), strlen(nla_data(attr)), &id);
	if (err) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "A PNET id has 1 to 16 letters and digits");
		return err;
	}
	err = get_names(info, &interface, &device);
	if (err)
		return err;
	port = get_port(info);
	if (port < 0)
		return port;
	err = smc_pnet_add(get_table(info), &id, interface, device, port);
	if (!err)
		send_pnet_event(info, SMC_PNETID_ADD, &id, interface, device, port);
	else if (err == -EEXIST)
		NL_SET_ERR_MSG(info->extack, "The interface or device has a PNET id already");
	else if (err == -ENOSPC)
		NL_SET_ERR_MSG(info->extack, "The table is full");
	return err;
}

static int delete_pnet(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_pnetid id;
	int err = get_pnetid(info, &id);

	if (err)
		return err;
	err = smc_pnet_remove(get_table(info), &id);
	if (err)
		NL_SET_ERR_MSG(info->extack, "There is no such PNET id");
	else
		send_pnet_event(info, SMC_PNETID_DEL, &id, NULL, NULL, 0);
	return err;
}

static int flush_pnet(struct sk_buff *skb, struct genl_info *info)
{
	smc_pnet_flush(get_table(info));
	send_pnet_event(info, SMC_PNETID_FLUSH, NULL, NULL, NULL, 0);
	return 0;
}

static const struct genl_ops ops[] = {
	{
		.cmd	 = SMC_PNETID_GET,
		.doit	 = get_pnet,
		.dumpit	 = dump_pnet,
	},
	{
		.cmd	 = SMC_PNETID_ADD,
		.doit	 = add_pnet,
		.flags	 = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd	 = SMC_PNETID_DEL,
		.doit	 = delete_pnet,
		.flags	 = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd	 = SMC_PNETID_FLUSH,
		.doit	 = flush_pnet,
		.flags	 = GENL_UNS_ADMIN_PERM,
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = SMC_GENL_MCGRP_EVENTS },
};

static struct genl_family family __ro_after_init = {
	.name		= SMCR_GENL_FAMILY_NAME,
	.version	= SMCR_GENL_FAMILY_VERSION,
	.maxattr	= SMC_PNETID_MAX,
	.policy		= attrs,
	.netnsok	= true,
	.parallel_ops	= true,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.resv_start_op	= SMC_PNETID_FLUSH + 1,
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
	.module		= THIS_MODULE,
};

int __init smc_pnet_netlink_init(void)
{
	return genl_register_family(&family);
}

void smc_pnet_netlink_exit(void)
{
	genl_unregister_family(&family);
}

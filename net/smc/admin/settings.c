// SPDX-License-Identifier: GPL-2.0-only
/* EIDs and the handshake limitation: show and change */

#include <linux/smc.h>

#include "../net.h"
#include "netlink.h"

static struct smc_eids *get_eids(struct genl_info *info)
{
	return &smc_net(genl_info_net(info))->eids;
}

/**
 * smc_netlink_dump_ueid() - dump the user EIDs, one message each
 * @skb: answer
 * @cb: dump; args[0] is the index of the next EID
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_eid_set eids;

	smc_eid_get(&smc_net(smc_netlink_net(cb))->eids, &eids);
	for (; cb->args[0] < eids.nr_ueids; cb->args[0]++) {
		const struct smc_eid *eid = &eids.ueids[cb->args[0]];
		void *header = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_UEID);
		int err = 0;

		if (header)
			err = smc_netlink_put_padded(skb, SMC_NLA_EID_TABLE_ENTRY, eid->text,
						     SMC_EID_LEN);
		err = smc_netlink_end(skb, header, err);
		if (err)
			return skb->len ?: err;
	}
	return skb->len;
}

/* Read the EID of a request */
static int get_ueid(const struct genl_info *info, struct smc_eid *out)
{
	const struct nlattr *attr = info->attrs[SMC_NLA_EID_TABLE_ENTRY];
	int err = smc_netlink_single(info);
	char text[SMC_MAX_EID_LEN + 1];

	if (err)
		return err;
	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "The user EID is missing");
		return -EINVAL;
	}
	if (nla_strscpy(text, attr, sizeof(text)) != SMC_MAX_EID_LEN) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "A user EID has 32 characters, padded with blanks");
		return -EINVAL;
	}
	err = smc_eid_parse(text, SMC_MAX_EID_LEN, out);
	if (err)
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "A user EID has A-Z, 0-9, '-' and '.', begins with one of the first two, has no two dots in a row");
	return err;
}

int smc_netlink_add_ueid(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_eid eid;
	int err = get_ueid(info, &eid);

	if (err)
		return err;
	err = smc_eid_add(get_eids(info), &eid);
	switch (err) {
	case 0:
		smc_event_eid(genl_info_net(info), SMC_NETLINK_ADD_UEID, &eid);
		break;
	case -EEXIST:
		NL_SET_ERR_MSG(info->extack, "This user EID is defined already");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(info->extack, "No more than 4 user EIDs can be defined");
		return -ERANGE;
	}
	return err;
}

/*
 * Return: 0 or a negative errno; -EAGAIN if this was the last user EID, so that the system EID was
 * enabled.
 */
int smc_netlink_remove_ueid(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_eid eid;
	int err = get_ueid(info, &eid);

	if (err)
		return err;
	err = smc_eid_remove(get_eids(info), &eid);
	if (!err || err == -EAGAIN)
		smc_event_eid(genl_info_net(info), SMC_NETLINK_REMOVE_UEID, &eid);
	switch (err) {
	case -ENOENT:
		NL_SET_ERR_MSG(info->extack, "There is no such user EID");
		break;
	case -EAGAIN:
		NL_SET_ERR_MSG(info->extack,
			       "Done; without user EIDs, the system EID was switched on");
		break;
	}
	return err;
}

int smc_netlink_flush_ueid(struct sk_buff *skb, struct genl_info *info)
{
	smc_eid_flush(get_eids(info));
	smc_event_eid(genl_info_net(info), SMC_NETLINK_FLUSH_UEID, NULL);
	return 0;
}

static int put_seid(struct sk_buff *skb, struct smc_eids *eids)
{
	struct smc_eid_set set;

	smc_eid_get(eids, &set);
	if (smc_netlink_put_padded(skb, SMC_NLA_SEID_ENTRY, smc_eid_system()->text,
				   SMC_EID_LEN) ||
	    nla_put_u8(skb, SMC_NLA_SEID_ENABLED, !smc_eid_is_none(&set.seid)))
		return -EMSGSIZE;
	return 0;
}

/**
 * smc_netlink_dump_seid() - dump the system EID, in one message
 * @skb: answer
 * @cb: dump
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_dump_seid(struct sk_buff *skb, struct netlink_callback *cb)
{
	void *header;
	int err;

	if (cb->args[0])
		return 0;
	header = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_SEID);
	err = header ? put_seid(skb, &smc_net(smc_netlink_net(cb))->eids) : 0;
	err = smc_netlink_end(skb, header, err);
	if (err)
		return err;
	cb->args[0] = 1;
	return skb->len;
}

/* Offer and accept the system EID */
int smc_netlink_enable_seid(struct sk_buff *skb, struct genl_info *info)
{
	smc_eid_enable_seid(get_eids(info), true);
	smc_event_eid(genl_info_net(info), SMC_NETLINK_ENABLE_SEID, NULL);
	return 0;
}

/* Use only user EIDs. Return: 0, or -ENOENT if no user EID exists */
int smc_netlink_disable_seid(struct sk_buff *skb, struct genl_info *info)
{
	int err = smc_eid_enable_seid(get_eids(info), false);

	if (err)
		NL_SET_ERR_MSG(info->extack, "No user EID is defined that could be used instead");
	else
		smc_event_eid(genl_info_net(info), SMC_NETLINK_DISABLE_SEID, NULL);
	return err;
}

/**
 * smc_netlink_dump_hs_limitation() - dump the handshake limitation, in one message
 * @skb: answer
 * @cb: dump
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_dump_hs_limitation(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct smc_knobs *knobs = &smc_net(smc_netlink_net(cb))->knobs;
	void *header;
	int err = 0;

	if (cb->args[0])
		return 0;
	header = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_HS_LIMITATION);
	if (header)
		err = nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED,
				 READ_ONCE(knobs->limit_handshake));
	err = smc_netlink_end(skb, header, err);
	if (err)
		return err;
	cb->args[0] = 1;
	return skb->len;
}

static void set_limit_handshake(struct genl_info *info, bool on)
{
	WRITE_ONCE(smc_net(genl_info_net(info))->knobs.limit_handshake, on);
}

/* Sets the same value as the sysctl limit_smc_hs */
int smc_netlink_enable_hs_limitation(struct sk_buff *skb, struct genl_info *info)
{
	set_limit_handshake(info, true);
	return 0;
}

/* Sets the same value as the sysctl limit_smc_hs */
int smc_netlink_disable_hs_limitation(struct sk_buff *skb, struct genl_info *info)
{
	set_limit_handshake(info, false);
	return 0;
}

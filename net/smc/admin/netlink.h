/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink: configuration and monitoring of AF_SMC. Documentation/netlink/specs defines the
 * ABI.
 */
#ifndef _NET_SMC_ADMIN_NETLINK_H
#define _NET_SMC_ADMIN_NETLINK_H

#include <net/genetlink.h>
#include <net/sock.h>

#include "../wire/eid.h"

struct smc_gid;
struct smc_group;
struct smc_link_info;

int smc_netlink_init(void);
void smc_netlink_exit(void);
int smc_pnet_netlink_init(void);
void smc_pnet_netlink_exit(void);

/* Common functions, netlink.c */
void *smc_netlink_begin(struct sk_buff *skb, const struct netlink_callback *cb, u8 cmd);
int smc_netlink_end(struct sk_buff *skb, void *header, int err);
int smc_netlink_put_padded(struct sk_buff *skb, int attr, const char *text, size_t len);
int smc_netlink_single(const struct genl_info *info);

/**
 * struct smc_event - an event message under construction
 * @net: namespace of the listeners
 * @skb: the message
 * @header: its generic netlink header
 */
struct smc_event {
	struct net *net;
	struct sk_buff *skb;
	void *header;
};

/**
 * struct smc_netlink_port - a port that may have a PNET ID
 * @device: name of an RDMA or ISM device
 * @number: number of the port, or 0 if unknown
 * @ifindex: its network device in the namespace of the PNET table, or 0
 */
struct smc_netlink_port {
	const char *device;
	u8 number;
	int ifindex;
};

bool smc_netlink_find_pnetid(struct net *net, const struct smc_netlink_port *port,
			     char text[SMC_PNETID_LEN + 1]);

bool smc_event_wanted(struct net *net);
bool smc_event_begin(struct smc_event *event, struct net *net, u8 cmd);
void smc_event_end(struct smc_event *event, int err);

/* events.c */
void smc_event_eid(struct net *net, u8 cmd, const struct smc_eid *eid);

static inline struct net *smc_netlink_net(const struct netlink_callback *cb)
{
	return sock_net(cb->skb->sk);
}

/* Commands, by file. All may sleep; dumps of several readers run concurrently */

/* system.c */
int smc_netlink_get_sys_info(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_get_dev_smcd(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_get_dev_smcr(struct sk_buff *skb, struct netlink_callback *cb);

/* groups.c */
int smc_netlink_get_lgr_smcr(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_get_link_smcr(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_get_lgr_smcd(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_put_group(struct sk_buff *skb, const struct smc_group *group);
int smc_netlink_put_gid(struct sk_buff *skb, int attr, const struct smc_gid *gid);
int smc_netlink_put_link(struct sk_buff *skb, const struct smc_group *group,
			 const struct smc_link_info *link);

/* counters.c */
int smc_netlink_get_stats(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_start_fback_stats(struct netlink_callback *cb);
int smc_netlink_get_fback_stats(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_done_fback_stats(struct netlink_callback *cb);

/* settings.c */
int smc_netlink_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_add_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_remove_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_flush_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_dump_seid(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_enable_seid(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_disable_seid(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_dump_hs_limitation(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_enable_hs_limitation(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_disable_hs_limitation(struct sk_buff *skb, struct genl_info *info);

#endif /* _NET_SMC_ADMIN_NETLINK_H */

// SPDX-License-Identifier: GPL-2.0-only
/* Netlink events: messages to multicast listeners */

#include <linux/smc.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#include "../event.h"
#include "../group/group.h"
#include "../group/path.h"
#include "../net.h"
#include "netlink.h"

#define FALLBACKS_PER_SECOND	20

void smc_event_group(const struct smc_group *group, bool up)
{
	u8 cmd = up ? SMC_NETLINK_EVENT_LGR_UP : SMC_NETLINK_EVENT_LGR_DOWN;
	struct smc_event event;

	if (smc_event_begin(&event, group->net, cmd))
		smc_event_end(&event, smc_netlink_put_group(event.skb, group));
}

void smc_event_link(const struct smc_group *group, const struct smc_link_info *link, bool up)
{
	u8 cmd = up ? SMC_NETLINK_EVENT_LINK_UP : SMC_NETLINK_EVENT_LINK_DOWN;
	struct smc_event event;

	if (smc_event_begin(&event, group->net, cmd))
		smc_event_end(&event, smc_netlink_put_link(event.skb, group, link));
}

static int put_path(struct sk_buff *skb, const struct smc_path *path, int seconds)
{
	const struct in6_addr *remote = &path->remote;
	bool v4 = ipv6_addr_v4mapped(remote);

	if (smc_netlink_put_gid(skb, SMC_NLA_PATH_GID, &path->local) ||
	    smc_netlink_put_gid(skb, SMC_NLA_PATH_PEER_GID, &path->peer) ||
	    nla_put(skb, SMC_NLA_PATH_PEER_ADDR, v4 ? 4 : 16, v4 ? &remote->s6_addr[12] :
								     &remote->s6_addr[0]) ||
	    nla_put_u32(skb, SMC_NLA_PATH_SECONDS, seconds))
		return -EMSGSIZE;
	return 0;
}

void smc_event_path(struct net *net, const struct smc_path *path, int seconds)
{
	struct smc_event event;

	if (smc_event_begin(&event, net, SMC_NETLINK_EVENT_PATH_DOWN))
		smc_event_end(&event, put_path(event.skb, path, seconds));
}

/**
 * smc_event_eid() - user EIDs or the system EID changed
 * @net: the namespace
 * @cmd: the command that changed it
 * @eid: the user EID, or NULL
 */
void smc_event_eid(struct net *net, u8 cmd, const struct smc_eid *eid)
{
	struct smc_event event;
	int err = 0;

	if (!smc_event_begin(&event, net, cmd))
		return;
	if (eid)
		err = smc_netlink_put_padded(event.skb, SMC_NLA_EID_TABLE_ENTRY, eid->text,
					     SMC_EID_LEN);
	smc_event_end(&event, err);
}

/*
 * Limit the rate of fallback events, because a peer can cause any number of fallbacks. Return:
 * number of events suppressed since the last one that was sent, or -1 to suppress this one too.
 */
static s64 limit_fallback_rate(struct smc_event_limit *limit)
{
	s64 lost = -1;

	spin_lock_bh(&limit->lock);
	if (!limit->sent || time_after_eq(jiffies, limit->begin + HZ)) {
		limit->begin = jiffies;
		limit->sent = 0;
	}
	if (limit->sent < FALLBACKS_PER_SECOND) {
		limit->sent++;
		lost = limit->lost;
		limit->lost = 0;
	} else {
		limit->lost++;
	}
	spin_unlock_bh(&limit->lock);
	return lost;
}

/* The event that would have reported @lost events was not sent: the next one reports it, too */
static void return_lost_fallbacks(struct smc_event_limit *limit, u32 lost)
{
	spin_lock_bh(&limit->lock);
	limit->lost += lost + 1;
	spin_unlock_bh(&limit->lock);
}

static int put_addresses(struct sk_buff *skb, const struct sock *tcp)
{
	const void *local = &tcp->sk_rcv_saddr, *peer = &tcp->sk_daddr;
	int len = sizeof(tcp->sk_daddr);

#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		local = &tcp->sk_v6_rcv_saddr;
		peer = &tcp->sk_v6_daddr;
		len = sizeof(tcp->sk_v6_daddr);
	}
#endif
	if (nla_put(skb, SMC_NLA_FALLBACK_LOCAL_ADDR, len, local) ||
	    nla_put_be16(skb, SMC_NLA_FALLBACK_LOCAL_PORT, inet_sk(tcp)->inet_sport) ||
	    nla_put(skb, SMC_NLA_FALLBACK_PEER_ADDR, len, peer) ||
	    nla_put_be16(skb, SMC_NLA_FALLBACK_PEER_PORT, tcp->sk_dport))
		return -EMSGSIZE;
	return 0;
}

void smc_event_fallback(const struct sock *tcp, enum smc_role role, u32 reason,
			u32 peer_diagnosis)
{
	struct net *net = sock_net(tcp);
	struct smc_event_limit *limit = &smc_net(net)->event_limit;
	struct smc_event event;
	int err = -EMSGSIZE;
	s64 lost;

	if (!smc_event_wanted(net))
		return;
	lost = limit_fallback_rate(limit);
	if (lost < 0)
		return;
	if (!smc_event_begin(&event, net, SMC_NETLINK_EVENT_FALLBACK)) {
		return_lost_fallbacks(limit, lost);
		return;
	}
	if (!nla_put_u8(event.skb, SMC_NLA_FALLBACK_ROLE, role) &&
	    !nla_put_u32(event.skb, SMC_NLA_FALLBACK_REASON, reason) &&
	    !nla_put_u32(event.skb, SMC_NLA_FALLBACK_PEER_DIAGNOSIS, peer_diagnosis) &&
	    !nla_put_u32(event.skb, SMC_NLA_FALLBACK_LOST, lost))
		err = put_addresses(event.skb, tcp);
	smc_event_end(&event, err);
}

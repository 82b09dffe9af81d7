// SPDX-License-Identifier: GPL-2.0-only
/* What goes wrong on command: how often, at random, and which neighbours are not heard. */

#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "memrdma.h"

const char * const memrdma_verb_names[NR_MEMRDMA_VERBS] = {
	[MEMRDMA_ALLOC_PD]	= "alloc_pd",
	[MEMRDMA_CREATE_CQ]	= "create_cq",
	[MEMRDMA_CREATE_QP]	= "create_qp",
	[MEMRDMA_MODIFY_QP]	= "modify_qp",
	[MEMRDMA_POST_SEND]	= "post_send",
	[MEMRDMA_POST_RECV]	= "post_recv",
	[MEMRDMA_ALLOC_MR]	= "alloc_mr",
	[MEMRDMA_MAP_MR]	= "map_mr",
	[MEMRDMA_QUERY_PORT]	= "query_port",
};

/* With fault_lock */
static bool is_due(struct memrdma_fault *fault)
{
	if (!fault->count)
		return false;
	if (fault->after) {
		fault->after--;
		return false;
	}
	if (fault->count > 0)
		fault->count--;
	return true;
}

/**
 * memrdma_fault_due() - does it go wrong this time?
 * @port: the port
 * @fault: one of its faults
 *
 * Return: whether.
 */
bool memrdma_fault_due(struct memrdma_port *port, struct memrdma_fault *fault)
{
	bool due;

	spin_lock_bh(&port->dev->fault_lock);
	due = is_due(fault);
	spin_unlock_bh(&port->dev->fault_lock);
	return due;
}

/**
 * memrdma_random_below() - the next random number; the device's seed chooses all of them
 * @dev: the device
 * @end: one more than the greatest
 *
 * Return: the number.
 */
u32 memrdma_random_below(struct memrdma_dev *dev, u32 end)
{
	u32 number;

	spin_lock_bh(&dev->fault_lock);
	number = prandom_u32_state(&dev->random) % end;
	spin_unlock_bh(&dev->fault_lock);
	return number;
}

/**
 * memrdma_fault_random() - is this packet lost by chance?
 * @port: the port it leaves from, or comes back to
 *
 * Return: whether.
 */
bool memrdma_fault_random(struct memrdma_port *port)
{
	int permille = READ_ONCE(port->lose_permille);

	return permille > 0 && memrdma_random_below(port->dev, 1000) < permille;
}

static bool is_command(enum memrdma_verb verb)
{
	return verb != MEMRDMA_POST_SEND && verb != MEMRDMA_POST_RECV;
}

/**
 * memrdma_verb() - a verb was called
 * @ibdev: the device
 * @verb: which one; those that are no posting may sleep
 *
 * Return: 0, or a negative errno if it is to fail.
 */
int memrdma_verb(struct ib_device *ibdev, enum memrdma_verb verb)
{
	struct memrdma_dev *dev = memrdma_dev(ibdev);
	int ms = READ_ONCE(dev->verb_ms);
	int err = 0;

	if (ms > 0 && is_command(verb))
		msleep(ms);
	if (!READ_ONCE(dev->verbs_faulty))
		return 0;
	spin_lock_bh(&dev->fault_lock);
	if (is_due(&dev->verbs[verb]))
		err = -dev->verb_errno;
	spin_unlock_bh(&dev->fault_lock);
	return err;
}

static bool is_neighbour_discovery(struct sk_buff *skb)
{
	const struct ipv6hdr *ip;
	const struct icmp6hdr *icmp;

	if (!pskb_may_pull(skb, sizeof(*ip) + sizeof(*icmp)))
		return false;
	ip = (const struct ipv6hdr *)skb->data;
	icmp = (const struct icmp6hdr *)(ip + 1);
	return ip->nexthdr == IPPROTO_ICMPV6 &&
	       (icmp->icmp6_type == NDISC_NEIGHBOUR_SOLICITATION ||
		icmp->icmp6_type == NDISC_NEIGHBOUR_ADVERTISEMENT);
}

/* Keeps back what tells of neighbours */
static rx_handler_result_t hear(struct sk_buff **pskb)
{
	struct memrdma_port *port = rcu_dereference((*pskb)->dev->rx_handler_data);
	struct sk_buff *skb = skb_share_check(*pskb, GFP_ATOMIC);

	if (!skb)
		return RX_HANDLER_CONSUMED;
	*pskb = skb;
	if (skb->protocol != htons(ETH_P_ARP) &&
	    (skb->protocol != htons(ETH_P_IPV6) || !is_neighbour_discovery(skb)))
		return RX_HANDLER_PASS;
	skb_queue_tail(&port->heard, skb);
	return RX_HANDLER_CONSUMED;
}

/**
 * memrdma_hold_neighbours() - hear nothing of neighbours, or again, also what they said before
 * @port: the port
 * @hold: whether to hold them back
 *
 * Caller holds RTNL.
 *
 * Return: 0 or a negative errno.
 */
int memrdma_hold_neighbours(struct memrdma_port *port, bool hold)
{
	struct sk_buff *skb;
	int err;

	ASSERT_RTNL();
	if (port->hears_nothing == hold)
		return 0;
	if (hold) {
		err = netdev_rx_handler_register(port->ndev, hear, port);
		port->hears_nothing = !err;
		return err;
	}
	netdev_rx_handler_unregister(port->ndev);
	port->hears_nothing = false;
	while ((skb = skb_dequeue(&port->heard)))
		netif_rx(skb);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>

#include <netlink/msg.h>

#include "attr.h"
#include "sock.h"

/* Kernels without 128-bit GIDs send only this part of the structure */
#define DMBINFO_LEAST	offsetof(struct smc_tools_dmbinfo, peer_gid_ext)

static const struct {
	uint8_t		state;
	const char	*name;
} states[] = {
	{ STATE_ACTIVE,	"ACTIVE" },
	{ STATE_INIT,	"INIT" },
	{ STATE_CLOSED,	"CLOSED" },
	{ STATE_LISTEN,	"LISTEN" },
	{ 20,		"PEERCLOSEWAIT1" },
	{ 21,		"PEERCLOSEWAIT2" },
	{ 22,		"APPCLOSEWAIT1" },
	{ 23,		"APPCLOSEWAIT2" },
	{ 24,		"APPFINCLOSEWAIT1" },
	{ 25,		"PEERFINCLOSEWAIT" },
	{ 26,		"PEERABORTWAIT" },
	{ 27,		"PROCESSABORT" },
};

const char *sock_state_name(uint8_t state, char *buf, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].state == state)
			return states[i].name;
	snprintf(buf, size, "%#x?", state);
	return buf;
}

bool sock_is_open(const struct sock *sk)
{
	return sk->base.diag_state != STATE_INIT &&
	       sk->base.diag_state != STATE_LISTEN;
}

static bool put_filter(struct nl_msg *msg, const struct sock_filter *filter)
{
	return (!filter->states ||
		nla_put_u32(msg, SMC_DIAG_REQ_STATES, filter->states) >= 0) &&
	       (!filter->modes ||
		nla_put_u8(msg, SMC_DIAG_REQ_MODES, filter->modes) >= 0) &&
	       (!filter->inode ||
		nla_put_u64(msg, SMC_DIAG_REQ_INODE, filter->inode) >= 0);
}

int sock_dump(struct netlink *nl, uint8_t extensions, const struct sock_filter *filter,
	      struct netlink_list *list)
{
	struct smc_diag_req req = {
		.diag_family	= AF_SMC,
		.diag_ext	= extensions,
	};
	struct nl_msg *msg;
	int ret = -ENOMEM;

	msg = nlmsg_alloc_simple(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_ROOT);
	if (msg && nlmsg_append(msg, &req, sizeof(req), NLMSG_ALIGNTO) >= 0 &&
	    put_filter(msg, filter))
		ret = netlink_dump(nl, msg, list);
	nlmsg_free(msg);
	return ret;
}

bool sock_decode(const struct nlmsghdr *msg, struct sock *sk)
{
	const struct nlattr *tb[SMC_DIAG_RMBE_LARGEST + 1];

	memset(sk, 0, sizeof(*sk));
	if (msg->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	if (!nlmsg_valid_hdr(msg, sizeof(sk->base))) {
		fputs("Error: Message truncated\n", stderr);
		return false;
	}
	memcpy(&sk->base, nlmsg_data(msg), sizeof(sk->base));
	attr_parse(tb, SMC_DIAG_RMBE_LARGEST, nlmsg_attrdata(msg, sizeof(sk->base)),
		   nlmsg_attrlen(msg, sizeof(sk->base)));
	sk->shutdown = attr_uint(tb[SMC_DIAG_SHUTDOWN], 0);
	sk->has_fallback = attr_copy(tb[SMC_DIAG_FALLBACK], &sk->fallback,
				     sizeof(sk->fallback), sizeof(sk->fallback));
	sk->has_conn = attr_copy(tb[SMC_DIAG_CONNINFO], &sk->conn,
				 sizeof(sk->conn), sizeof(sk->conn));
	sk->rcvbuf_max = attr_uint(tb[SMC_DIAG_RMBE_LARGEST], 0);
	sk->has_link = attr_copy(tb[SMC_DIAG_LGRINFO], &sk->link,
				 sizeof(sk->link), sizeof(sk->link));
	sk->has_dmb = attr_copy(tb[SMC_DIAG_DMBINFO], &sk->dmb, sizeof(sk->dmb),
				DMBINFO_LEAST);
	return true;
}

/* The structure has no address family; an IPv4 address has three zero words */
unsigned int sock_address(const struct inet_diag_sockid *id, bool peer, char *buf)
{
	const __be32 *addr = peer ? id->idiag_dst : id->idiag_src;
	bool ipv4 = !addr[1] && !addr[2] && !addr[3];

	inet_ntop(ipv4 ? AF_INET : AF_INET6, addr, buf, INET6_ADDRSTRLEN);
	return ntohs(peer ? id->idiag_dport : id->idiag_sport);
}

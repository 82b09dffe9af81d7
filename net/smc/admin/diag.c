// SPDX-License-Identifier: GPL-2.0-only
/*
 * sock_diag for AF_SMC: dump the sockets of a namespace, or show one of them.
 *
 * Between two sockets, a dump stores only the number of the last socket and holds no lock. A dump
 * therefore does not delay connect() or close().
 */

#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <net/netlink.h>

#include "../sock/inspect.h"

/* Values of diag_state that are not states of a connection */
enum {
	DIAG_ACTIVE	= 1,
	DIAG_INIT	= 2,
	DIAG_CLOSED	= 7,
	DIAG_LISTEN	= 10,
};

/**
 * struct query - a parsed request
 * @req: the request; zero after the end of a shorter one
 * @states: set of bits 1 << diag_state, 0 for all
 * @modes: set of bits 1 << diag_mode, 0 for all
 * @inode: inode number, 0 for all
 * @number: dump: number of the last socket that was processed
 */
struct query {
	struct smc_diag_req req;
	u32 states;
	u8 modes;
	u64 inode;
	u64 number;
};

static const struct nla_policy query_attrs[] = {
	[SMC_DIAG_REQ_STATES]	= { .type = NLA_U32 },
	[SMC_DIAG_REQ_MODES]	= { .type = NLA_U8 },
	[SMC_DIAG_REQ_INODE]	= { .type = NLA_U64 },
};

static int parse_attrs(const struct nlmsghdr *nlh, struct query *query,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[ARRAY_SIZE(query_attrs)];
	int err;

	err = nlmsg_parse(nlh, sizeof(query->req), attrs, ARRAY_SIZE(query_attrs) - 1,
			  query_attrs, extack);
	if (err)
		return err;
	if (attrs[SMC_DIAG_REQ_STATES])
		query->states = nla_get_u32(attrs[SMC_DIAG_REQ_STATES]);
	if (attrs[SMC_DIAG_REQ_MODES])
		query->modes = nla_get_u8(attrs[SMC_DIAG_REQ_MODES]);
	if (attrs[SMC_DIAG_REQ_INODE])
		query->inode = nla_get_u64(attrs[SMC_DIAG_REQ_INODE]);
	return 0;
}

/* Old tools may send a shorter request; sock_diag ensures the first two bytes */
static int parse_request(const struct nlmsghdr *nlh, struct query *query,
			 struct netlink_ext_ack *extack)
{
	size_t len = nlmsg_len(nlh);

	memset(query, 0, sizeof(*query));
	query->number = SMC_LIST_START;
	memcpy(&query->req, nlmsg_data(nlh), min(len, sizeof(query->req)));
	return len > sizeof(query->req) ? parse_attrs(nlh, query, extack) : 0;
}

static u8 fallback_state(const struct smc_sock_info *info)
{
	switch (info->tcp_state) {
	case TCP_LISTEN:
		return DIAG_LISTEN;
	case TCP_CLOSE:
		return info->peer_port ? DIAG_CLOSED : DIAG_INIT;
	default:
		return DIAG_ACTIVE;
	}
}

static u8 get_diag_state(const struct smc_sock_info *info)
{
	if (info->connected)
		return info->conn.state;
	switch (info->state) {
	case SMC_SOCK_LISTEN:
		return DIAG_LISTEN;
	case SMC_SOCK_FALLBACK:
		return fallback_state(info);
	case SMC_SOCK_ACTIVE:
	case SMC_SOCK_WAITING:
	case SMC_SOCK_ORPHANED:
	case SMC_SOCK_CLOSED:
		return DIAG_CLOSED;
	default:
		return DIAG_INIT;
	}
}

static u8 get_diag_mode(const struct smc_sock_info *info)
{
	if (info->state == SMC_SOCK_FALLBACK)
		return SMC_DIAG_MODE_FALLBACK_TCP;
	if (info->connected && info->conn.mode == SMC_MODE_D)
		return SMC_DIAG_MODE_SMCD;
	return SMC_DIAG_MODE_SMCR;	/* also used if the mode is not decided yet */
}

static void build_diag_msg(const struct smc_sock_info *info, struct user_namespace *user_ns,
			   struct smc_diag_msg *out)
{
	struct sock *sk = info->sk;

	memset(out, 0, sizeof(*out));
	out->diag_family = sk->sk_family;
	out->diag_state = get_diag_state(info);
	out->diag_mode = get_diag_mode(info);
	out->diag_shutdown = info->shutdown;
	out->id.idiag_sport = info->local_port;
	out->id.idiag_dport = info->peer_port;
	memcpy(out->id.idiag_src, &info->local, sizeof(out->id.idiag_src));
	memcpy(out->id.idiag_dst, &info->peer, sizeof(out->id.idiag_dst));
	out->id.idiag_if = info->interface;
	sock_diag_save_cookie(sk, out->id.idiag_cookie);
	out->diag_uid = from_kuid_munged(user_ns, sock_i_uid(sk));
	out->diag_inode = sock_i_ino(sk);
}

static bool is_any(const __be32 address[4])
{
	return !(address[0] | address[1] | address[2] | address[3]);
}

static bool is_unset_cookie(const __u32 cookie[2])
{
	return cookie[0] == cookie[1] && (!cookie[0] || cookie[0] == INET_DIAG_NOCOOKIE);
}

/* Zero matches everything */
static bool id_matches(const struct inet_diag_sockid *want, const struct inet_diag_sockid *is)
{
	return (!want->idiag_sport || want->idiag_sport == is->idiag_sport) &&
	       (!want->idiag_dport || want->idiag_dport == is->idiag_dport) &&
	       (is_any(want->idiag_src) ||
		!memcmp(want->idiag_src, is->idiag_src, sizeof(is->idiag_src))) &&
	       (is_any(want->idiag_dst) ||
		!memcmp(want->idiag_dst, is->idiag_dst, sizeof(is->idiag_dst))) &&
	       (!want->idiag_if || want->idiag_if == is->idiag_if) &&
	       (is_unset_cookie(want->idiag_cookie) ||
		!memcmp(want->idiag_cookie, is->idiag_cookie, sizeof(is->idiag_cookie)));
}

static bool matches_query(const struct query *query, const struct smc_diag_msg *msg)
{
	return (!query->states || query->states & BIT(msg->diag_state)) &&
	       (!query->modes || query->modes & BIT(msg->diag_mode)) &&
	       (!query->inode || query->inode == msg->diag_inode) &&
	       id_matches(&query->req.id, &msg->id);
}

static bool wants_extension(const struct query *query, int extension)
{
	return query->req.diag_ext & BIT(extension - 1);
}

static struct smc_diag_cursor convert_cursor(struct smc_cursor from)
{
	return (struct smc_diag_cursor){ .wrap = from.wrap, .count = from.count };
}

/*
 * The last three cursors are positions in the send buffer. SMC-D has no send buffer: data is in the
 * peer's ring as soon as it is written.
 */
static int put_conninfo(struct sk_buff *skb, const struct smc_conn_info *conn)
{
	const struct smc_diag_conninfo info = {
		.token		= conn->token,
		.sndbuf_size	= conn->ends.send_buffer,
		.rmbe_size	= conn->rx_bytes,
		.peer_rmbe_size	= conn->tx_bytes,
		.rx_prod	= convert_cursor(conn->rx_produced),
		.rx_cons	= convert_cursor(conn->rx_consumed),
		.tx_prod	= convert_cursor(conn->ends.tx_announced),
		.tx_cons	= convert_cursor(conn->tx_consumed),
		.rx_prod_flags	= conn->rx_producer_flags,
		.rx_conn_state_flags = conn->rx_state_flags,
		.tx_prod_flags	= conn->tx_producer_flags,
		.tx_conn_state_flags = conn->tx_state_flags,
		.tx_prep	= convert_cursor(conn->tx_produced),
		.tx_sent	= convert_cursor(conn->ends.tx_sent),
		.tx_fin		= convert_cursor(conn->ends.tx_done),
	};

	return nla_put(skb, SMC_DIAG_CONNINFO, sizeof(info), &info) ?:
	       nla_put_u32(skb, SMC_DIAG_RMBE_LARGEST, conn->rx_largest);
}

static int put_dmbinfo(struct sk_buff *skb, const struct smc_conn_info *conn)
{
	struct smcd_diag_dmbinfo info;

	memset(&info, 0, sizeof(info));		/* the padding too */
	info.linkid = conn->group;
	info.peer_gid = conn->peer.gid;
	info.my_gid = conn->local.gid;
	info.token = conn->ends.dmb_token;
	info.peer_token = conn->ends.peer_dmb_token;
	info.peer_gid_ext = conn->peer.gid_ext;
	info.my_gid_ext = conn->local.gid_ext;
	return nla_put(skb, SMC_DIAG_DMBINFO, sizeof(info), &info);
}

static int put_lgrinfo(struct sk_buff *skb, const struct smc_conn_info *conn)
{
	const struct smc_link_info *link = &conn->ends.link;
	struct smc_diag_lgrinfo info;
	struct smc_diag_linkinfo *out = &info.lnk[0];

	memset(&info, 0, sizeof(info));
	out->link_id = link->number;
	strscpy(out->ibname, link->device, sizeof(out->ibname));
	out->ibport = link->port;
	snprintf(out->gid, sizeof(out->gid), "%pI6", link->gid.bytes);
	snprintf(out->peer_gid, sizeof(out->peer_gid), "%pI6", link->peer_gid.bytes);
	info.role = conn->role == SMC_SERVER;
	return nla_put(skb, SMC_DIAG_LGRINFO, sizeof(info), &info);
}

static int put_diag_attrs(struct sk_buff *skb, const struct query *query,
			  const struct smc_sock_info *info)
{
	const struct smc_diag_fallback fallback = {
		.reason		= info->reason,
		.peer_diagnosis	= info->peer_diagnosis,
	};

	/* Tools need these two, but do not request them */
	if (nla_put_u8(skb, SMC_DIAG_SHUTDOWN, info->shutdown) ||
	    nla_put(skb, SMC_DIAG_FALLBACK, sizeof(fallback), &fallback))
		return -EMSGSIZE;
	if (!info->connected)
		return 0;
	if (wants_extension(query, SMC_DIAG_CONNINFO) && put_conninfo(skb, &info->conn))
		return -EMSGSIZE;
	if (wants_extension(query, SMC_DIAG_LGRINFO) && info->conn.mode == SMC_MODE_R &&
	    put_lgrinfo(skb, &info->conn))
		return -EMSGSIZE;
	if (wants_extension(query, SMC_DIAG_DMBINFO) && info->conn.mode == SMC_MODE_D &&
	    put_dmbinfo(skb, &info->conn))
		return -EMSGSIZE;
	return 0;
}

/* Return: 1 if @skb contains the socket, 0 if the query does not match, or -EMSGSIZE */
static int put_socket(struct sk_buff *skb, const struct sk_buff *request,
		      const struct nlmsghdr *nlh, int flags, const struct query *query,
		      const struct smc_sock_info *info)
{
	struct user_namespace *user_ns = sk_user_ns(NETLINK_CB(request).sk);
	struct smc_diag_msg msg;
	struct nlmsghdr *reply;

	build_diag_msg(info, user_ns, &msg);
	if (!matches_query(query, &msg))
		return 0;

	reply = nlmsg_put(skb, NETLINK_CB(request).portid, nlh->nlmsg_seq, nlh->nlmsg_type,
			  sizeof(msg), flags);
	if (!reply)
		return -EMSGSIZE;
	memcpy(nlmsg_data(reply), &msg, sizeof(msg));
	if (put_diag_attrs(skb, query, info)) {
		nlmsg_cancel(skb, reply);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, reply);
	return 1;
}

static int start_diag_dump(struct netlink_callback *cb)
{
	struct query *query = kmalloc(sizeof(*query), GFP_KERNEL);
	int err;

	if (!query)
		return -ENOMEM;
	err = parse_request(cb->nlh, query, cb->extack);
	if (err) {
		kfree(query);
		return err;
	}
	cb->args[0] = (long)query;
	return 0;
}

static int dump_sockets(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct query *query = (struct query *)cb->args[0];
	struct net *net = sock_net(cb->skb->sk);
	u64 number = query->number;
	struct smc_sock_info info;
	int err = 0;

	while (!err && smc_inspect_next(net, &number, &info)) {
		err = min(put_socket(skb, cb->skb, cb->nlh, NLM_F_MULTI, query, &info), 0);
		sock_put(info.sk);
		if (!err)
			query->number = number;
		cond_resched();
	}
	return skb->len ?: err;
}

static int end_diag_dump(struct netlink_callback *cb)
{
	kfree((struct query *)cb->args[0]);
	return 0;
}

/* Put the first socket that matches into @skb. Return: 0, -EMSGSIZE or -ENOENT */
static int find_one(struct sk_buff *skb, const struct sk_buff *request,
		    const struct nlmsghdr *nlh, struct query *query)
{
	struct net *net = sock_net(request->sk);
	struct smc_sock_info info;
	int found = 0;

	while (!found && smc_inspect_next(net, &query->number, &info)) {
		found = put_socket(skb, request, nlh, 0, query, &info);
		sock_put(info.sk);
		cond_resched();
	}
	return found ? min(found, 0) : -ENOENT;
}

static bool names_socket(const struct query *query)
{
	const struct inet_diag_sockid *id = &query->req.id;

	return query->inode || id->idiag_sport || id->idiag_dport ||
	       !is_unset_cookie(id->idiag_cookie);
}

/* A request without dump flags. One that names no socket gets no answer */
static int show_socket(struct sk_buff *request, const struct nlmsghdr *nlh)
{
	struct query query;
	struct sk_buff *skb;
	int err;

	err = parse_request(nlh, &query, NULL);
	if (err || !names_socket(&query))
		return err;
	skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	err = find_one(skb, request, nlh, &query);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return nlmsg_unicast(sock_net(request->sk)->diag_nlsk, skb, NETLINK_CB(request).portid);
}

static int handle_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = {
		.start	= start_diag_dump,
		.dump	= dump_sockets,
		.done	= end_diag_dump,
	};

	if (nlh->nlmsg_flags & NLM_F_DUMP)
		return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &control);
	return show_socket(skb, nlh);
}

static const struct sock_diag_handler handler = {
	.owner	= THIS_MODULE,
	.family	= AF_SMC,
	.dump	= handle_request,
};

static int __init smc_diag_init(void)
{
	return sock_diag_register(&handler);
}

static void __exit smc_diag_exit(void)
{
	sock_diag_unregister(&handler);
}

module_init(smc_diag_init);
module_exit(smc_diag_exit);

MODULE_DESCRIPTION("Monitoring of AF_SMC sockets");
MODULE_VERSION("0.1");
MODULE_LICENSE("GPL");
/* 43 is AF_SMC; the macro needs a number */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, 43);

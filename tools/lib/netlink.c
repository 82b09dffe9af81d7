// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "attr.h"
#include "netlink.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK	270
#endif

/* The kernel fills at most this many bytes per message of a dump */
#define RECEIVE_BUFFER	32768

/* After this many attempts, a list that changes each time is shown as it is */
#define DUMP_ATTEMPTS	4

struct reply {
	struct netlink		*nl;
	struct netlink_list	*list;
};

int netlink_open(struct netlink *nl, int protocol)
{
	int one = 1;
	int ret;

	memset(nl, 0, sizeof(*nl));
	nl->sk = nl_socket_alloc();
	if (!nl->sk)
		return -ENOMEM;
	ret = nl_connect(nl->sk, protocol);
	if (ret < 0) {
		netlink_close(nl);
		return ret == -NLE_NOMEM ? -ENOMEM : -EPROTONOSUPPORT;
	}
	nl_socket_set_msg_buf_size(nl->sk, RECEIVE_BUFFER);
	/* a list needs no ACK message, and sock_diag has only lists */
	if (protocol == NETLINK_SOCK_DIAG)
		nl_socket_disable_auto_ack(nl->sk);
	/* without extended ACKs, errors have no text */
	setsockopt(nl_socket_get_fd(nl->sk), SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	return 0;
}

void netlink_close(struct netlink *nl)
{
	if (nl->sk)
		nl_socket_free(nl->sk);
	nl->sk = NULL;
}

void netlink_list_free(struct netlink_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->msg[i]);
	free(list->msg);
	memset(list, 0, sizeof(*list));
}

static int list_add(struct netlink_list *list, const struct nlmsghdr *msg)
{
	struct nlmsghdr **bigger, *copy;

	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;

		bigger = realloc(list->msg, room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		list->msg = bigger;
		list->room = room;
	}
	copy = malloc(msg->nlmsg_len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, msg, msg->nlmsg_len);
	list->msg[list->count++] = copy;
	return 0;
}

/* Save the text of an extended ACK whose attributes start @offset bytes into @hdr */
static void keep_text(struct netlink *nl, const struct nlmsghdr *hdr,
		      size_t offset)
{
	const struct nlattr *tb[NLMSGERR_ATTR_MSG + 1];

	offset = NLMSG_ALIGN(offset);
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS) || offset >= hdr->nlmsg_len)
		return;
	attr_parse(tb, NLMSGERR_ATTR_MSG, (void *)((char *)hdr + offset),
		   hdr->nlmsg_len - offset);
	attr_string(tb[NLMSGERR_ATTR_MSG], nl->text, sizeof(nl->text));
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct reply *reply = arg;

	if (!reply->list)
		return NL_SKIP;
	if (list_add(reply->list, nlmsg_hdr(msg))) {
		reply->nl->error = ENOMEM;
		return NL_STOP;
	}
	return NL_OK;
}

/* The last message of a dump contains an error that occurred during the dump */
static int on_done(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct reply *reply = arg;
	int error;

	if (nlmsg_datalen(hdr) < (int)sizeof(error))
		return NL_OK;
	memcpy(&error, nlmsg_data(hdr), sizeof(error));
	if (error >= 0)
		return NL_OK;
	reply->nl->error = -error;
	keep_text(reply->nl, hdr, NLMSG_HDRLEN + sizeof(error));
	return NL_STOP;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *hdr = (void *)((char *)err - NLMSG_HDRLEN);
	size_t offset = NLMSG_HDRLEN + sizeof(*err);
	struct reply *reply = arg;

	reply->nl->error = -err->error;
	/* the rejected message comes first, unless the kernel omitted it */
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		offset += err->msg.nlmsg_len - sizeof(err->msg);
	keep_text(reply->nl, hdr, offset);
	return NL_STOP;
}

static int get_result(struct netlink *nl, int ret)
{
	if (nl->error)
		return -nl->error;
	if (ret >= 0)
		return 0;
	nl->error = EIO;
	nl->trouble = ret == -NLE_MSG_TRUNC ? "Message truncated" :
					      "Netlink receive error";
	return -EIO;
}

/* Send the request and receive all replies, into @list if it is not NULL */
static int send_and_receive(struct netlink *nl, struct nl_msg *request,
			    struct netlink_list *list)
{
	struct reply reply = { .nl = nl, .list = list };
	struct nl_cb *cb;
	int ret;

	nl->error = 0;
	nl->text[0] = '\0';
	nl->trouble = NULL;
	cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!cb) {
		nl->error = ENOMEM;
		return -ENOMEM;
	}
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, &reply);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, &reply);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &reply);

	/* a message that is sent again needs a new number */
	nlmsg_hdr(request)->nlmsg_seq = NL_AUTO_SEQ;
	ret = nl_send_auto(nl->sk, request);
	if (ret >= 0)
		ret = nl_recvmsgs(nl->sk, cb);
	nl_cb_put(cb);
	if (list)
		list->interrupted = ret == -NLE_DUMP_INTR && !nl->error;
	return get_result(nl, ret == -NLE_DUMP_INTR ? 0 : ret);
}

int netlink_dump(struct netlink *nl, struct nl_msg *request,
		 struct netlink_list *list)
{
	int attempt, ret = 0;

	memset(list, 0, sizeof(*list));
	for (attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
		netlink_list_free(list);
		ret = send_and_receive(nl, request, list);
		if (ret || !list->interrupted)
			break;
	}
	if (ret)
		netlink_list_free(list);
	return ret;
}

int netlink_request(struct netlink *nl, struct nl_msg *request)
{
	return send_and_receive(nl, request, NULL);
}

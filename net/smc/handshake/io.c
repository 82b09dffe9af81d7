// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC messages over the TCP connection: read exactly one, write one. What comes
 * behind a message stays in TCP: it may belong to the application (R-CLC-26).
 */

#include <linux/slab.h>
#include <net/tcp.h>

#include "handshake.h"

/* Room for growth of the Proposal, which is 652 bytes at most today */
#define LONGEST	2048

/* Return: bytes taken out of the segment, or a negative errno */
static int copy_bytes(struct smc_handshake *hs, struct sk_buff *skb, unsigned int offset,
		      size_t len, u16 want)
{
	int bytes, err;

	if (WARN_ON_ONCE(want < hs->have))
		return -EINVAL;
	bytes = min_t(size_t, len, want - hs->have);
	err = skb_copy_bits(skb, offset, hs->in + hs->have, bytes);
	if (err)
		return err;
	hs->have += bytes;
	return bytes;
}

/* The header says how long the message is. Return: 0, or why nothing more can be read */
static int read_header(struct smc_handshake *hs)
{
	int err = smc_clc_parse_header(hs->in, SMC_CLC_HEADER_LEN, &hs->header);

	if (!err && (hs->header.length > LONGEST || hs->header.length < SMC_CLC_HEADER_LEN))
		err = -EBADMSG;
	hs->header_error = err;
	return err;
}

/* A message that does not fit @small needs memory first */
static bool has_room(const struct smc_handshake *hs)
{
	return hs->in != hs->small || hs->header.length <= sizeof(hs->small);
}

/*
 * For tcp_read_sock(): the header, and the rest of the message behind it. TCP comes again with what
 * is left of the segment: @desc->count is 0 if nothing more is wanted.
 *
 * Return: bytes taken out of the segment, or a negative errno
 */
static int copy_segment(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
			size_t len)
{
	struct smc_handshake *hs = desc->arg.data;
	int used = 0, n;

	if (!desc->count)
		return 0;
	desc->count = 0;
	if (hs->have < SMC_CLC_HEADER_LEN) {
		used = copy_bytes(hs, skb, offset, len, SMC_CLC_HEADER_LEN);
		if (used < 0)
			return used;
		desc->count = hs->have < SMC_CLC_HEADER_LEN;
		if (desc->count || read_header(hs))
			return used;
	}
	if (!has_room(hs))
		return used;
	n = copy_bytes(hs, skb, offset + used, len - used, hs->header.length);
	if (n < 0)
		return n;
	desc->count = hs->have < hs->header.length;
	return used + n;
}

/*
 * Nothing is there to read: why? As tcp_recvmsg() finds out, but for sk_shutdown: a child may have
 * that from its parent. The socket lock is held.
 */
static int error_when_empty(struct sock *tcp)
{
	if (sock_flag(tcp, SOCK_DONE))
		return -ENODATA;
	if (tcp->sk_err)
		return sock_error(tcp);
	return tcp->sk_state == TCP_CLOSE ? -ENODATA : -EAGAIN;
}

/* Return: 0 if something was read, -EAGAIN, -ENODATA at the end of the stream, or an error */
static int read_some(struct smc_handshake *hs)
{
	read_descriptor_t desc = { .arg.data = hs, .count = 1 };
	int n = 0;

	if (!skb_queue_empty(&hs->tcp->sk_receive_queue))
		n = tcp_read_sock(hs->tcp, &desc, copy_segment);
	if (!n)
		n = error_when_empty(hs->tcp);
	return min(n, 0);
}

static int make_room(struct smc_handshake *hs)
{
	u8 *room;

	if (has_room(hs))
		return 0;
	room = kmalloc(hs->header.length, GFP_KERNEL_ACCOUNT);
	if (!room)
		return -ENOMEM;
	memcpy(room, hs->small, SMC_CLC_HEADER_LEN);
	hs->in = room;
	return 0;
}

static bool is_complete(const struct smc_handshake *hs)
{
	return hs->have >= SMC_CLC_HEADER_LEN && hs->have == hs->header.length;
}

/**
 * smc_handshake_receive() - take what TCP has of the next message
 * @hs: the handshake
 *
 * The socket lock is held. Does not wait for the peer.
 *
 * Return: 0 when hs->msg is complete; -EAGAIN if more must come; -EBADMSG or
 * -EPROTO as smc_clc_parse(); -ENODATA at the end of the stream; another negative
 * errno if the connection is broken.
 */
int smc_handshake_receive(struct smc_handshake *hs)
{
	int err;

	while (!is_complete(hs)) {
		err = hs->header_error ?: read_some(hs);
		if (!err)
			err = hs->header_error;
		if (!err && hs->have >= SMC_CLC_HEADER_LEN)
			err = make_room(hs);
		if (err)
			return err;
	}
	err = smc_clc_parse(hs->in, hs->have, &hs->msg);
	hs->have = 0;
	if (hs->in != hs->small)
		kfree(hs->in);
	hs->in = hs->small;
	return err;
}

/* Overrides SO_TIMESTAMPING of the socket: the program does not want to know about our messages */
struct no_stamps {
	struct cmsghdr header;
	u32 flags;
} __aligned(sizeof(size_t));

/**
 * smc_handshake_write() - write one message
 * @sk: TCP connection, locked
 * @buf: message
 * @len: its length
 *
 * The send buffer of a new connection takes all of it; one that does not is
 * broken. Neither Nagle nor the application's TCP_CORK hold it back: a Decline behind
 * a Confirm would wait for that to be acknowledged. Does not wait for the peer.
 *
 * Return: 0 or a negative errno.
 */
int smc_handshake_write(struct sock *sk, const void *buf, size_t len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct no_stamps no_stamps = {
		.header = {
			.cmsg_len = CMSG_LEN(sizeof(no_stamps.flags)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SO_TIMESTAMPING_OLD,
		},
	};
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	u8 nonagle;
	int n;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	if (READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_TX_RECORD_MASK) {
		msg.msg_control = &no_stamps;
		msg.msg_controllen = sizeof(no_stamps);
	}
	nonagle = tcp_sk(sk)->nonagle;
	tcp_sk(sk)->nonagle = TCP_NAGLE_OFF;
	n = tcp_sendmsg_locked(sk, &msg, len);
	tcp_sk(sk)->nonagle = nonagle;
	if (n == len)
		return 0;
	/* Without memory TCP would wait, and says EAGAIN: to a program that connects, a timeout */
	return n >= 0 || n == -EAGAIN ? -ENOBUFS : n;
}

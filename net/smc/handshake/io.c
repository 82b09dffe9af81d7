// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC messages over the TCP connection: read exactly one message, write one message. Bytes that
 * follow a message stay in TCP's receive queue: they may be application data (R-CLC-26). An end
 * whose messages come through memory reads no byte.
 */

#include <linux/slab.h>
#include <net/tcp.h>

#include "handshake.h"

/* Messages have at most SMC_CLC_BUILD_MAX bytes today; the rest is for future extensions */
#define LONGEST	2048

/*
 * Fits any Accept and Confirm (at most 292 bytes) and most Proposals. A Proposal has 180 bytes, and
 * 10 for each entry of the ISM list, 32 for each user EID and 17 for each prefix.
 */
#define USUAL	320

/* Parse the header, which contains the length */
static void read_header(struct smc_handshake *hs)
{
	int err = smc_clc_parse_header(hs->in, SMC_CLC_HEADER_LEN, &hs->header);

	if (!err && (hs->header.length > LONGEST || hs->header.length < SMC_CLC_HEADER_LEN))
		err = -EBADMSG;
	hs->header_error = err;
}

/* How many bytes may be read now, once the header is parsed? */
static u16 get_limit(const struct smc_handshake *hs)
{
	if (hs->header_error || hs->header.length > hs->room)
		return SMC_CLC_HEADER_LEN;
	return hs->header.length;
}

/*
 * tcp_read_sock() calls this for each segment. Header and body are copied at once; bytes behind the
 * message may be copied too, but they are not read. A @desc->count of 0 makes TCP stop and keep
 * the rest of the segment.
 *
 * Return: number of bytes read from the segment, or a negative errno
 */
static int copy_segment(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
			size_t len)
{
	struct smc_handshake *hs = desc->arg.data;
	u16 had = hs->have;
	int err;

	if (!desc->count)
		return 0;
	desc->count = 0;
	if (WARN_ON_ONCE(hs->room < had))
		return -EINVAL;
	len = min_t(size_t, len, hs->room - had);
	err = skb_copy_bits(skb, offset, hs->in + had, len);
	if (err)
		return err;
	hs->have += len;
	if (hs->have < SMC_CLC_HEADER_LEN) {
		desc->count = 1;
		return len;
	}
	if (had < SMC_CLC_HEADER_LEN)
		read_header(hs);
	if (hs->have > get_limit(hs))
		hs->have = get_limit(hs);
	desc->count = hs->have < get_limit(hs);
	return hs->have - had;
}

/*
 * Why is there nothing to read? As tcp_recvmsg(), but without a test of sk_shutdown: a child may
 * inherit that from its listener. The socket lock is held.
 */
static int error_when_empty(struct sock *tcp)
{
	if (sock_flag(tcp, SOCK_DONE))
		return -ENODATA;
	if (tcp->sk_err)
		return sock_error(tcp);
	return tcp->sk_state == TCP_CLOSE ? -ENODATA : -EAGAIN;
}

/* Has the server read no byte of the client? Until then TCP can go on with the stream. */
static bool is_unread(const struct smc_handshake *hs)
{
	return hs->phase == SMC_PHASE_MESSAGE && hs->expected == SMC_CLC_PROPOSAL && !hs->have;
}

/*
 * Copy the first bytes of the stream, and leave them.
 *
 * Return: how many of @len have arrived, or a negative errno for bytes in a device's memory.
 */
static int peek_stream(const struct sock *tcp, u8 *to, int len)
{
	u32 seq = tcp_sk(tcp)->copied_seq;
	struct sk_buff *skb;
	int have = 0;

	skb_queue_walk(&tcp->sk_receive_queue, skb) {
		u32 offset = seq + have - TCP_SKB_CB(skb)->seq;
		int n, err;

		if (have == len)
			break;
		if (offset >= skb->len)
			continue;
		n = min_t(u32, len - have, skb->len - offset);
		err = skb_copy_bits(skb, offset, to + have, n);
		if (err)
			return err;
		have += n;
	}
	return have;
}

/*
 * Does the client send a Proposal? Its stream is read only if it does, so that TCP can go on with
 * it otherwise.
 *
 * Return: 0 if it does, -ENOMSG if it does not, -EAGAIN if too few bytes have arrived, or another
 * negative errno.
 */
static int check_first_bytes(struct sock *tcp)
{
	u8 bytes[SMC_CLC_EYE_CATCHER_LEN];
	int n = peek_stream(tcp, bytes, sizeof(bytes));

	if (n < 0 || !smc_clc_may_begin(bytes, n))
		return -ENOMSG;
	if (n == sizeof(bytes))
		return 0;
	return sock_flag(tcp, SOCK_DONE) ? -ENOMSG : error_when_empty(tcp);
}

/* Make room for the message, as far as its length is known */
static int allocate_buffer(struct smc_handshake *hs)
{
	u16 room = hs->have < SMC_CLC_HEADER_LEN ? USUAL : hs->header.length;
	u8 *in;

	if (hs->room >= room)
		return 0;
	in = krealloc(hs->in, room, smc_handshake_gfp(hs->conn));
	if (!in)
		return -ENOMEM;
	hs->in = in;
	hs->room = room;
	return 0;
}

/* Return: 0 after any progress, -EAGAIN, -ENODATA at end of stream, or another negative errno */
static int read_segments(struct smc_handshake *hs)
{
	read_descriptor_t desc = { .arg.data = hs, .count = 1 };
	int n = 0;

	if (is_unread(hs))
		n = check_first_bytes(hs->tcp);
	if (!n && skb_queue_empty(&hs->tcp->sk_receive_queue))
		n = error_when_empty(hs->tcp);
	if (!n)
		n = allocate_buffer(hs);
	if (n)
		return n;
	n = tcp_read_sock(hs->tcp, &desc, copy_segment);
	if (!n)
		n = error_when_empty(hs->tcp);
	return min(n, 0);
}

static bool is_complete(const struct smc_handshake *hs)
{
	return hs->have >= SMC_CLC_HEADER_LEN && !hs->header_error &&
	       hs->have == hs->header.length;
}

/* The peer sends no byte through TCP. It may reset TCP, also after it has left the pair. */
static int receive_in_memory(struct smc_handshake *hs, struct smc_clc *msg)
{
	int err = smc_pair_receive(hs->pair, hs->conn->role, msg);
	int tcp_err;

	if (err != -EAGAIN && hs->is_offered)
		smc_client_note_claim(hs);
	if (!err)
		return 0;
	if (tcp_inq(hs->tcp))
		return -EBADMSG;
	tcp_err = error_when_empty(hs->tcp);
	return tcp_err == -EAGAIN ? err : tcp_err;
}

/**
 * smc_handshake_receive() - read the next message as far as it has arrived
 * @hs: the handshake
 * @msg: result, parsed; undefined if this function fails
 *
 * The socket lock is held. Does not wait for the peer. May sleep.
 *
 * Return: 0 when the message is complete; -EAGAIN if bytes are missing; -ENOMSG if the first bytes
 * of a client are no CLC message, and were left; -EBADMSG or -EPROTO from smc_clc_parse(); -ENODATA
 * at end of stream; another negative errno if the connection is broken.
 */
int smc_handshake_receive(struct smc_handshake *hs, struct smc_clc *msg)
{
	int err;

	if (hs->in_memory)
		return receive_in_memory(hs, msg);
	while (!is_complete(hs)) {
		err = hs->header_error ?: read_segments(hs);
		if (err)
			return err;
	}
	err = smc_clc_parse(&hs->header, hs->in, hs->have, msg);
	hs->have = 0;
	return err;
}

/* Disables the socket's SO_TIMESTAMPING for our messages: the application must not see them */
struct no_stamps {
	struct cmsghdr header;
	u32 flags;
} __aligned(sizeof(size_t));

/**
 * smc_handshake_write() - write one message
 * @sk: TCP connection
 * @buf: message
 * @len: its length
 *
 * The send buffer of a new connection has room for all messages of a handshake; if it has not, the
 * connection fails. Nagle and the application's TCP_CORK are disabled: a Decline after a Confirm
 * would else wait until the Confirm is acknowledged. The socket lock is held. Does not wait for the
 * peer.
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
	/* Not EAGAIN: connect() would report a timeout */
	return n >= 0 || n == -EAGAIN ? -ENOBUFS : n;
}

// SPDX-License-Identifier: GPL-2.0-only
/* All ways to send */

#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sockfuzz.h"

#ifndef MSG_PROBE
#define MSG_PROBE	0x10
#endif
#define MSGS		4
#define MOST_URGENT	3
#define PIPE_MOST	65536

/**
 * struct outgoing - a call that is to be made
 * @slot: connection
 * @fd: of the end
 * @on: for CALL()
 * @dir: of the way
 * @offset: in the way
 * @buf: what to send
 * @len: how much
 */
struct outgoing {
	struct slot *slot;
	int fd;
	int on;
	int dir;
	uint64_t offset;
	uint8_t *buf;
	size_t len;
};

static int pick_flags(void)
{
	static const int flags[] = {
		MSG_DONTWAIT, MSG_MORE, MSG_NOSIGNAL, MSG_EOR, MSG_DONTROUTE, MSG_CONFIRM,
		MSG_PROBE, MSG_FASTOPEN, MSG_TRUNC, MSG_WAITALL,
	};

	if (one_in(3))
		return 0;
	if (one_in(2))
		return one_in(2) ? MSG_DONTWAIT : MSG_MORE;
	return random_flags(flags, sizeof(flags) / sizeof(*flags), 8);
}

static long by_send(struct outgoing *o)
{
	int flags = pick_flags();

	return CALL("send", o->on, flags, send(o->fd, o->buf, o->len, flags));
}

static long by_sendto(struct outgoing *o)
{
	struct sockaddr_storage addr;
	int flags = pick_flags();
	socklen_t len = address_of(one_in(2) ? AF_INET : AF_INET6, random_below(65536), &addr);

	if (one_in(4))
		len = random_below(sizeof(addr));
	return CALL("sendto", o->on, flags,
		    sendto(o->fd, o->buf, o->len, flags, (struct sockaddr *)&addr, len));
}

static long by_write(struct outgoing *o)
{
	return CALL("write", o->on, o->len, write(o->fd, o->buf, o->len));
}

static int cut_up(struct outgoing *o, struct iovec *iov, int most)
{
	size_t done = 0;
	int i;

	for (i = 0; i < most && done < o->len; i++) {
		size_t n = i && one_in(4) ? 0 : random_size(o->len - done);

		iov[i] = (struct iovec){ o->buf + done, n };
		done += n;
	}
	return i;
}

static long by_writev(struct outgoing *o)
{
	struct iovec iov[16];
	int nr = cut_up(o, iov, 16);

	return CALL("writev", o->on, nr, writev(o->fd, iov, nr));
}

/* Ancillary data, right or wrong */
union control {
	struct cmsghdr header;
	char bytes[64];
};

static void put_control(struct msghdr *msg, union control *room)
{
	static const int types[][2] = {
		{ SOL_SOCKET, SO_TIMESTAMPING }, { SOL_SOCKET, SO_MARK }, { SOL_SOCKET, 61 },
		{ SOL_SOCKET, SCM_RIGHTS }, { SOL_SOCKET, SCM_CREDENTIALS }, { IPPROTO_IP, IP_TTL },
		{ IPPROTO_IPV6, IPV6_HOPLIMIT }, { IPPROTO_TCP, 1 },
	};
	int type = random_below(sizeof(types) / sizeof(*types));

	memset(room, 0, sizeof(*room));
	room->header.cmsg_level = types[type][0];
	room->header.cmsg_type = types[type][1];
	room->header.cmsg_len = one_in(3) ? random_below(64) : CMSG_LEN(4);
	*(int *)CMSG_DATA(&room->header) = random_value();
	msg->msg_control = room;
	msg->msg_controllen = one_in(3) ? random_below(sizeof(*room)) : CMSG_SPACE(4);
}

static long by_sendmsg(struct outgoing *o)
{
	struct iovec iov[16];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = cut_up(o, iov, 16) };
	union control control;
	int flags = pick_flags();

	if (one_in(6))
		put_control(&msg, &control);
	return CALL("sendmsg", o->on, flags, sendmsg(o->fd, &msg, flags));
}

static long by_sendmmsg(struct outgoing *o)
{
	struct mmsghdr msgs[MSGS] = {};
	struct iovec iov[MSGS];
	int nr = cut_up(o, iov, MSGS), i, flags = pick_flags();
	long n, sum = 0;

	for (i = 0; i < nr; i++)
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	n = CALL("sendmmsg", o->on, flags, sendmmsg(o->fd, msgs, nr, flags));
	for (i = 0; i < n; i++)
		sum += msgs[i].msg_len;
	return n < 0 ? n : sum;
}

static long by_uring(struct outgoing *o)
{
	int flags = random_below(3) ? 0 : MSG_DONTWAIT;

	if (!me->uring)
		return by_send(o);
	return CALL("io_uring send", o->on, flags,
		    uring_transfer(o->fd, true, o->buf, o->len, flags));
}

/* Any byte of it may become the urgent one, if the call is cut short */
static long by_urgent(struct outgoing *o)
{
	struct way *way = &o->slot->way[o->dir];
	size_t len = 1 + random_below(MOST_URGENT), i;
	int flags = MSG_OOB | (one_in(2) ? MSG_DONTWAIT : 0);

	len = len < o->len ? len : o->len;
	/* One that is not received yet must not be forgotten */
	for (i = 0; i < len; i++)
		if (way->marks[(way->nr_marks + i) % MARKS] > way->received)
			return by_send(o);
	for (i = 0; i < len; i++) {
		unsigned int mark = way->nr_marks++ % MARKS;

		__atomic_store_n(&way->marks[mark], o->offset + i + 1, __ATOMIC_SEQ_CST);
	}
	return CALL("send urgent", o->on, len, send(o->fd, o->buf, len, flags));
}

/* Memory that the kernel may keep as it is for long: nothing changes it again */
static void *lasting_copy(const struct outgoing *o, size_t len)
{
	void *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return NULL;
	memcpy(copy, o->buf, len);
	return copy;
}

static long by_zerocopy(struct outgoing *o)
{
	void *copy = lasting_copy(o, o->len);
	int flags = MSG_ZEROCOPY | (one_in(2) ? MSG_DONTWAIT : 0), one = 1;
	long n;

	if (!copy)
		return -1;
	if (one_in(2))
		setsockopt(o->fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one));
	if (me->uring && one_in(3))
		n = CALL("io_uring send zerocopy", o->on, o->len,
			 uring_send_zerocopy(o->fd, copy, o->len));
	else
		n = CALL("send zerocopy", o->on, flags, send(o->fd, copy, o->len, flags));
	munmap(copy, o->len);
	return n;
}

static long by_sendfile(struct outgoing *o)
{
	int file = memfd_create("sockfuzz", MFD_CLOEXEC);
	off_t from = 0;
	long n = -1;

	if (file >= 0 && write(file, o->buf, o->len) == (ssize_t)o->len)
		n = CALL("sendfile", o->on, o->len, sendfile(o->fd, file, &from, o->len));
	close(file);
	return n;
}

static void empty_pipe(void)
{
	while (read(me->pipe[0], me->buf, BUFFER_BYTES) > 0)
		;
}

static long fill_pipe(struct outgoing *o, size_t len)
{
	struct iovec iov = { .iov_len = len };
	long n;

	if (one_in(2))
		return write(me->pipe[1], o->buf, len);
	iov.iov_base = lasting_copy(o, len);
	if (!iov.iov_base)
		return -1;
	n = vmsplice(me->pipe[1], &iov, 1, SPLICE_F_NONBLOCK);
	munmap(iov.iov_base, len);
	return n;
}

static long by_splice(struct outgoing *o)
{
	size_t len = o->len < PIPE_MOST ? o->len : PIPE_MOST;
	unsigned int flags = random_below(8);
	long n = fill_pipe(o, len), now = 0, sum = 0;
	int error;

	/* The pipe ends where no more fits, whatever the socket takes */
	while (n > 0 && sum < n) {
		now = CALL("splice to socket", o->on, flags,
			   splice(me->pipe[0], NULL, o->fd, NULL, n - sum, flags));
		if (now <= 0)
			break;
		sum += now;
	}
	error = errno;
	empty_pipe();
	errno = error;
	return sum ? sum : now;
}

/* The second part of the memory is not there */
static long by_bad_address(struct outgoing *o)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t have = random_below(page), len = have + 1 + random_below(20000);
	int flags = MSG_DONTWAIT;

	have = have < o->len ? have : o->len;
	memcpy(me->guard + page - have, o->buf, have);
	return CALL("send bad address", o->on, have,
		    send(o->fd, me->guard + page - have, len, flags));
}

static long by_nothing(struct outgoing *o)
{
	CALL("send nothing", o->on, 0, send(o->fd, o->buf, 0, pick_flags()));
	return 0;
}

static long (*const ways[])(struct outgoing *o) = {
	by_send, by_send, by_send, by_sendto, by_write, by_writev, by_sendmsg, by_sendmmsg,
	by_uring, by_zerocopy, by_sendfile, by_splice, by_bad_address, by_urgent, by_nothing,
};

static bool has_cause(const struct slot *slot, int end, int error)
{
	switch (error) {
	case EPIPE:
		return slot_harmed(slot) || __atomic_load_n(&slot->shut[end], __ATOMIC_SEQ_CST);
	case ECONNRESET:
	case ENOTCONN:
	case ETIMEDOUT:
	case ECONNABORTED:
		return slot_harmed(slot);
	default:
		return true;
	}
}

static void check_error(struct slot *slot, int end)
{
	int error = errno;

	if (error == EAGAIN || error == EINTR || error == EFAULT || error == EINVAL)
		return;
	if (!has_cause(slot, end, error))
		fail_on(slot, end, "send: %s, but no end has ended it", strerror(error));
	slot->dead |= one_in(4);
}

static void send_locked(struct slot *slot, int end, size_t len)
{
	struct way *way = &slot->way[end];
	struct outgoing o = {
		.slot = slot, .fd = slot->fd[end], .on = 4 * slot->number + end, .dir = end,
		.offset = way->sent, .buf = me->buf, .len = len,
	};
	long n;

	pattern_fill(o.buf, len, slot->id, end, o.offset);
	__atomic_store_n(&way->sending, o.offset + len, __ATOMIC_SEQ_CST);
	errno = 0;		/* the way may fail before it comes to the socket */
	n = ways[random_below(sizeof(ways) / sizeof(*ways))](&o);
	if (n > 0) {
		__atomic_store_n(&way->sent_round, watch_rounds(), __ATOMIC_SEQ_CST);
		__atomic_store_n(&way->sent, o.offset + n, __ATOMIC_SEQ_CST);
	} else if (n < 0) {
		check_error(slot, end);
	}
}

/**
 * do_send() - send the next bytes of an end, unless another thread does
 * @slot: the slot
 * @end: the end
 */
void do_send(struct slot *slot, int end)
{
	struct way *way = &slot->way[end];
	size_t most = one_in(8) ? BUFFER_BYTES : 16384;

	if (pthread_rwlock_tryrdlock(&slot->life))
		return;
	if (!pthread_mutex_trylock(&way->tx)) {
		send_locked(slot, end, random_size(most));
		pthread_mutex_unlock(&way->tx);
	}
	pthread_rwlock_unlock(&slot->life);
}

// SPDX-License-Identifier: GPL-2.0-only
/* All ways to receive; every byte is looked at */

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sockfuzz.h"

#define ASLEEP_ROUNDS	200UL	/* nothing takes that long that does not wait for the peer */

/**
 * struct incoming - a call that is to be made
 * @slot: connection
 * @fd: of the end
 * @on: for CALL()
 * @dir: of the way
 * @len: bytes at most
 * @skip: the bytes are thrown away unseen
 */
struct incoming {
	struct slot *slot;
	int fd;
	int on;
	int dir;
	size_t len;
	bool skip;
};

static bool has_marks(const struct incoming *in)
{
	return __atomic_load_n(&in->slot->way[in->dir].nr_marks, __ATOMIC_SEQ_CST);
}

static int pick_flags(void)
{
	static const int flags[] = {
		MSG_DONTWAIT, MSG_WAITALL, MSG_NOSIGNAL, MSG_CMSG_CLOEXEC, MSG_DONTROUTE, MSG_EOR,
		MSG_CONFIRM, MSG_ZEROCOPY, MSG_FASTOPEN,
	};

	if (one_in(4))
		return 0;
	if (!one_in(3))
		return one_in(3) ? MSG_WAITALL : MSG_DONTWAIT;
	return random_flags(flags, sizeof(flags) / sizeof(*flags), 6);
}

/*
 * A signal has ended the call, but long before there was something to receive. What counts is when
 * the watchdog saw this thread sleep: it may have been awake since, and not have run.
 */
static void check_woken(struct incoming *in)
{
	const struct way *way = &in->slot->way[in->dir];
	uint64_t sent = __atomic_load_n(&way->sent, __ATOMIC_SEQ_CST);
	unsigned long since = __atomic_load_n(&way->sent_round, __ATOMIC_SEQ_CST);
	unsigned long asleep = __atomic_load_n(&me->asleep_round, __ATOMIC_SEQ_CST);
	int amount = 0;

	if (since < me->start_round)
		since = me->start_round;
	if (asleep < since + ASLEEP_ROUNDS * options.scale || sent <= way->received ||
	    in->slot->low_water || has_marks(in) || slot_harmed(in->slot))
		return;
	/* TCP's may have come late, by a probe of a closed window */
	if (!is_tcp(in->fd) && !ioctl(in->fd, FIONREAD, &amount) && amount > 0)
		fail_on(in->slot, in->dir, "asleep although %d bytes were there for %lu rounds",
			amount, asleep - since);
}

static long by_recv(struct incoming *in)
{
	int flags = pick_flags();
	long n;

	n = CALL("recv", in->on, flags, recv(in->fd, me->buf, in->len, flags));
	if (n < 0 && errno == EINTR && !(flags & MSG_WAITALL)) {
		check_woken(in);
		errno = EINTR;
	}
	return n;
}

static long by_recvfrom(struct incoming *in)
{
	struct sockaddr_storage addr;
	socklen_t len = random_below(sizeof(addr));
	int flags = pick_flags();

	return CALL("recvfrom", in->on, flags,
		    recvfrom(in->fd, me->buf, in->len, flags, (struct sockaddr *)&addr, &len));
}

static long by_read(struct incoming *in)
{
	return CALL("read", in->on, in->len, read(in->fd, me->buf, in->len));
}

static int cut_up(struct incoming *in, struct iovec *iov, int most)
{
	size_t done = 0;
	int i;

	for (i = 0; i < most && done < in->len; i++) {
		size_t n = i && one_in(4) ? 0 : random_size(in->len - done);

		iov[i] = (struct iovec){ me->buf + done, n };
		done += n;
	}
	return i;
}

static long by_recvmsg(struct incoming *in)
{
	char control[128];
	struct iovec iov[16];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = cut_up(in, iov, 16) };
	int flags = pick_flags();

	if (one_in(2)) {
		msg.msg_control = control;
		msg.msg_controllen = random_below(sizeof(control));
	}
	return CALL("recvmsg", in->on, flags, recvmsg(in->fd, &msg, flags));
}

/* Without waiting: the kernel keeps ERESTARTSYS of a second wait as the error of the socket */
static long by_recvmmsg(struct incoming *in)
{
	struct timespec limit = { .tv_nsec = random_below(20 * 1000 * 1000) };
	struct mmsghdr msgs[4] = {};
	struct iovec iov[4];
	int nr = cut_up(in, iov, 4), i, flags = pick_flags() | MSG_DONTWAIT;
	size_t sum = 0;
	long n;

	for (i = 0; i < nr; i++)
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	n = CALL("recvmmsg", in->on, flags, recvmmsg(in->fd, msgs, nr, flags, &limit));
	for (i = 0; i < n; i++) {
		memmove(me->buf + sum, iov[i].iov_base, msgs[i].msg_len);
		sum += msgs[i].msg_len;
	}
	return n <= 0 ? n : (sum ? (long)sum : -1);
}

static long by_uring(struct incoming *in)
{
	static const int flags[] = { 0, MSG_DONTWAIT, MSG_DONTWAIT, MSG_WAITALL };
	int flag = flags[random_below(4)];

	if (!me->uring)
		return by_recv(in);
	return CALL("io_uring recv", in->on, flag,
		    uring_transfer(in->fd, false, me->buf, in->len, flag));
}

static long by_trunc(struct incoming *in)
{
	int flags = MSG_TRUNC | (one_in(2) ? MSG_DONTWAIT : 0) | (one_in(4) ? MSG_WAITALL : 0);
	struct way *way = &in->slot->way[in->dir];
	long n;

	/* Whether an urgent byte among them counts, only its neighbours could tell */
	if (has_marks(in))
		return by_recv(in);
	in->skip = true;
	n = CALL("recv MSG_TRUNC", in->on, flags, recv(in->fd, NULL, in->len, flags));
	way->slack += __atomic_load_n(&way->nr_marks, __ATOMIC_SEQ_CST);
	return n;
}

static long read_pipe(int fd, long n)
{
	long done = 0;

	if (n <= 0)
		return n;
	while (done < n) {
		long got = read(fd, me->buf + done, n - done);

		if (got <= 0)
			fail("%ld bytes in a pipe instead of %ld", done, n);
		done += got;
	}
	return done;
}

static long by_splice(struct incoming *in)
{
	unsigned int flags = random_below(8);
	long n = CALL("splice from socket", in->on, flags,
		      splice(in->fd, NULL, me->pipe[1], NULL, in->len, flags));

	/* At an urgent byte, 0 need not be the end of the stream */
	if (!n && has_marks(in))
		in->len = 0;
	return read_pipe(me->pipe[0], n);
}

static long by_tee(struct incoming *in)
{
	int second[2];
	long n, seen;

	n = CALL("splice from socket", in->on, SPLICE_F_NONBLOCK,
		 splice(in->fd, NULL, me->pipe[1], NULL, in->len, SPLICE_F_NONBLOCK));
	if (!n && has_marks(in))
		in->len = 0;
	if (n <= 0 || pipe2(second, O_CLOEXEC | O_NONBLOCK))
		return read_pipe(me->pipe[0], n);
	seen = CALL("tee", in->on, n, tee(me->pipe[0], second[1], n, SPLICE_F_NONBLOCK));
	if (seen > 0) {
		read_pipe(second[0], seen);
		pattern_check_somewhere(in->slot, in->dir, me->buf, seen,
					in->slot->way[in->dir].received, false);
	}
	close(second[0]);
	close(second[1]);
	return read_pipe(me->pipe[0], n);
}

/* Not all of the memory is there */
static long by_bad_address(struct incoming *in)
{
	long page = sysconf(_SC_PAGESIZE), n;
	size_t have = random_below(page);

	n = CALL("recv bad address", in->on, have,
		 recv(in->fd, me->guard + page - have, have + 1 + in->len, MSG_DONTWAIT));
	if (n > (long)have)
		fail("%ld bytes received where %zu fit", n, have);
	if (n > 0)
		memcpy(me->buf, me->guard + page - have, n);
	return n;
}

/* What was announced can be had without waiting */
static long by_amount(struct incoming *in)
{
	int amount = 0;
	long n, err;

	err = CALL("ioctl FIONREAD", in->on, 0, ioctl(in->fd, FIONREAD, &amount));
	n = CALL("recv", in->on, MSG_DONTWAIT, recv(in->fd, me->buf, in->len, MSG_DONTWAIT));
	if (!err && amount > 0 && n <= 0 && in->len && !has_marks(in) && !slot_harmed(in->slot))
		fail("%d bytes announced, then %ld received: %s", amount, n, strerror(errno));
	return n;
}

/* Looks first: what was seen has to come again */
static long by_peek(struct incoming *in)
{
	const struct way *way = &in->slot->way[in->dir];
	int flags = MSG_PEEK | pick_flags();
	long seen;

	seen = CALL("recv MSG_PEEK", in->on, flags, recv(in->fd, me->buf, in->len, flags));
	if (seen <= 0 || !in->len)
		return -1;
	if (in->slot->peek_off || has_marks(in) || way->slack)
		pattern_check_somewhere(in->slot, in->dir, me->buf, seen, way->received, false);
	else
		pattern_check(in->slot, in->dir, me->buf, seen, way->received);
	return by_recv(in);
}

static long (*const ways[])(struct incoming *in) = {
	by_recv, by_recv, by_recv, by_recvfrom, by_read, by_recvmsg, by_recvmmsg, by_uring,
	by_trunc, by_splice, by_tee, by_bad_address, by_amount, by_peek, by_peek,
};

static void end_of_stream(struct incoming *in)
{
	bool mine_shut = __atomic_load_n(&in->slot->shut[!in->dir], __ATOMIC_SEQ_CST);

	pattern_check_end(in->slot, in->dir);
	if (mine_shut || one_in(4))
		in->slot->dead = true;
}

static void check_error(struct incoming *in)
{
	switch (errno) {
	case EAGAIN:
	case EINTR:
	case EFAULT:
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
		return;
	case ECONNRESET:
	case EPIPE:
	case ENOTCONN:
	case ETIMEDOUT:
	case ECONNABORTED:
		if (!slot_harmed(in->slot))
			fail_on(in->slot, in->dir, "%s, but no end has ended it",
				strerror(errno));
	}
	in->slot->dead |= one_in(4);
}

static void receive_locked(struct incoming *in)
{
	struct way *way = &in->slot->way[in->dir];
	long n = ways[random_below(sizeof(ways) / sizeof(*ways))](in);

	if (n > 0 && in->skip)
		way->received += n;
	else if (n > 0)
		way->received += pattern_check(in->slot, in->dir, me->buf, n, way->received);
	else if (!n && in->len)
		end_of_stream(in);
	else
		check_error(in);
	if (way->received > __atomic_load_n(&way->sending, __ATOMIC_SEQ_CST))
		fail_on(in->slot, in->dir, "%llu bytes received, more than were sent",
			(unsigned long long)way->received);
}

/* While another thread receives */
static void peek_only(struct incoming *in)
{
	uint64_t from = __atomic_load_n(&in->slot->way[in->dir].received, __ATOMIC_SEQ_CST);
	int flags = MSG_PEEK | (pick_flags() & ~MSG_WAITALL);
	long n;

	if (!one_in(10))	/* else all threads would wait */
		flags |= MSG_DONTWAIT;

	n = CALL("recv MSG_PEEK beside", in->on, flags, recv(in->fd, me->buf, in->len, flags));
	if (n > 0)
		pattern_check_somewhere(in->slot, in->dir, me->buf, n, from, flags & MSG_DONTWAIT);
}

/**
 * do_receive() - receive at an end; only look, if another thread is receiving there
 * @slot: the slot
 * @end: the end
 */
void do_receive(struct slot *slot, int end)
{
	struct way *way = &slot->way[!end];
	struct incoming in = {
		.slot = slot, .fd = slot->fd[end], .on = 4 * slot->number + end, .dir = !end,
		.len = one_in(50) ? 0 : random_size(one_in(2) ? BUFFER_BYTES - 1 : 4096),
	};

	if (pthread_rwlock_tryrdlock(&slot->life))
		return;
	if (!pthread_mutex_trylock(&way->rx)) {
		receive_locked(&in);
		pthread_mutex_unlock(&way->rx);
	} else {
		peek_only(&in);
	}
	pthread_rwlock_unlock(&slot->life);
}

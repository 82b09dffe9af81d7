// SPDX-License-Identifier: GPL-2.0-only
/* The reading thread: takes what comes, each time in another way, and looks at every byte */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "torture.h"

#define MOST	(1 << 20)

struct reader {
	struct end *end;
	uint8_t *buf;
	int pipe[2];
};

/*
 * Each way takes up to @len bytes, checks them, and returns how many they were; 0 at the end of
 * the stream, -1 with errno.
 */

static ssize_t checked(struct reader *r, ssize_t n)
{
	if (n > 0)
		pattern_check(r->end, r->buf, n, r->end->me->received);
	return n;
}

static ssize_t by_recv(struct reader *r, size_t len)
{
	return checked(r, recv(r->end->fd, r->buf, len, one_in(2) ? MSG_DONTWAIT : 0));
}

static ssize_t by_read(struct reader *r, size_t len)
{
	return checked(r, read(r->end->fd, r->buf, len));
}

static ssize_t by_waitall(struct reader *r, size_t len)
{
	return checked(r, recv(r->end->fd, r->buf, len, MSG_WAITALL));
}

static ssize_t by_recvmsg(struct reader *r, size_t len)
{
	struct iovec iov[16];
	struct msghdr msg = { .msg_iov = iov };
	size_t done = 0;
	int i;

	for (i = 0; i < 16 && done < len; i++) {
		size_t n = i && one_in(4) ? 0 : random_size(len - done);

		iov[i] = (struct iovec){ r->buf + done, n };
		done += n;
	}
	msg.msg_iovlen = i;
	return checked(r, recvmsg(r->end->fd, &msg, one_in(2) ? MSG_DONTWAIT : 0));
}

/* Looks first; what was there must come again */
static ssize_t by_peek(struct reader *r, size_t len)
{
	ssize_t seen, n;

	seen = checked(r, recv(r->end->fd, r->buf, len, MSG_PEEK));
	if (seen <= 0)
		return seen;
	n = checked(r, recv(r->end->fd, r->buf, len, MSG_DONTWAIT));
	if (n < seen)
		fail(r->end, "%zd bytes seen, then %zd received", seen, n);
	return n;
}

/* If something is there, it can be had without waiting */
static ssize_t by_amount(struct reader *r, size_t len)
{
	int amount;
	ssize_t n;

	if (ioctl(r->end->fd, FIONREAD, &amount))
		fail(r->end, "FIONREAD: %s", strerror(errno));
	n = checked(r, recv(r->end->fd, r->buf, len, MSG_DONTWAIT));
	if (amount && n <= 0)
		fail(r->end, "%d bytes announced, %zd received", amount, n);
	return n;
}

/* Thrown away unseen, but counted */
static ssize_t by_trunc(struct reader *r, size_t len)
{
	return recv(r->end->fd, NULL, len, MSG_TRUNC);
}

static ssize_t by_splice(struct reader *r, size_t len)
{
	ssize_t n = splice(r->end->fd, NULL, r->pipe[1], NULL, len, 0), done = 0;

	while (done < n) {
		ssize_t got = read(r->pipe[0], r->buf + done, n - done);

		if (got <= 0)
			fail(r->end, "reading a pipe: %zd", got);
		done += got;
	}
	return checked(r, n);
}

static const struct way {
	ssize_t (*receive)(struct reader *r, size_t len);
	const char *name;
} ways[] = {
	{ by_recv, "recv" }, { by_recv, "recv" }, { by_recv, "recv" }, { by_read, "read" },
	{ by_waitall, "recv all" }, { by_recvmsg, "recvmsg" }, { by_peek, "peek" },
	{ by_amount, "recv amount" }, { by_trunc, "recv and discard" },
	{ by_splice, "splice" },	/* the last one: not used with urgent data */
};

#define NR_WAYS	(sizeof(ways) / sizeof(*ways))

/* Was the writing thread told of a reset? It may still be on its way back from the kernel. */
static bool is_refused(const struct end *end)
{
	int patience = 1000;

	while (patience-- && !__atomic_load_n(&end->me->refused, __ATOMIC_SEQ_CST))
		usleep(1000);
	return patience >= 0;
}

/* The end of the stream: was it all? */
static void check_end(struct end *end)
{
	uint64_t sent = __atomic_load_n(&end->peer->sent, __ATOMIC_SEQ_CST);
	bool done = __atomic_load_n(&end->peer->done, __ATOMIC_SEQ_CST);

	if (is_gone(end) || (done && end->me->received == sent))
		return;
	if (end->conn->may_break && is_refused(end))
		return;
	fail(end, "end of stream after %llu bytes of %llu%s",
	     (unsigned long long)end->me->received, (unsigned long long)sent,
	     done ? "" : ", but the peer is not done");
}

static void count(struct end *end, ssize_t n)
{
	struct side *me = end->me;

	__atomic_store_n(&me->received, me->received + n, __ATOMIC_SEQ_CST);
	if (me->received > __atomic_load_n(&end->peer->sending, __ATOMIC_SEQ_CST))
		fail(end, "%llu bytes received, more than were sent",
		     (unsigned long long)me->received);
}

/* Nothing more can be read, for a good reason */
static bool is_over(struct end *end, ssize_t n, const char *way)
{
	if (!n) {
		check_end(end);
		return true;
	}
	if (errno == EAGAIN) {
		wait_ready(end, POLLIN);
		return false;
	}
	if ((errno == ECONNRESET || errno == EPIPE) && may_be_reset(end))
		return true;
	fail(end, "%s: %s", way, strerror(errno));
}

void reader_run(struct end *end)
{
	struct reader r = { .end = end, .buf = malloc(MOST) };
	const struct way *way;
	ssize_t n;

	if (!r.buf || pipe2(r.pipe, O_CLOEXEC))
		fail(end, "no memory");
	do {
		way = &ways[random_below(NR_WAYS - end->peer->urgent)];
		end->me->doing[0] = way->name;
		n = way->receive(&r, random_size(MOST));
		if (n <= 0)
			continue;
		count(end, n);
		if (one_in(50))		/* be slow for a while */
			usleep(random_below(20000));
	} while (n > 0 || !is_over(end, n, way->name));
	end->me->doing[0] = "done reading";
	free(r.buf);
	close(r.pipe[0]);
	close(r.pipe[1]);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The writing thread: sends what is to be sent, each time in another way */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "torture.h"

#define MOST		(1 << 20)
#define PIPE_MOST	65536
#define IDLE_MS		3000	/* a ring that has grown becomes small in less */

struct writer {
	struct end *end;
	int pipe[2];
};

/* Each way sends as much of a piece as it likes. Return: as send() */

static ssize_t by_send(struct writer *w, struct piece piece)
{
	static const int flags[] = { 0, 0, MSG_MORE, MSG_DONTWAIT, MSG_DONTWAIT | MSG_MORE };

	return send(w->end->fd, piece.bytes, piece.len, flags[random_below(5)]);
}

static ssize_t by_write(struct writer *w, struct piece piece)
{
	return write(w->end->fd, piece.bytes, piece.len);
}

static ssize_t by_sendmsg(struct writer *w, struct piece piece)
{
	struct iovec iov[16];
	struct msghdr msg = { .msg_iov = iov };
	size_t done = 0;
	int i;

	for (i = 0; i < 16 && done < piece.len; i++) {
		size_t n = i && one_in(4) ? 0 : random_size(piece.len - done);

		iov[i] = (struct iovec){ (void *)(piece.bytes + done), n };
		done += n;
	}
	msg.msg_iovlen = i;
	return sendmsg(w->end->fd, &msg, one_in(3) ? MSG_DONTWAIT : 0);
}

/* Readers have SO_OOBINLINE, so the byte stays in its place */
static ssize_t by_urgent(struct writer *w, struct piece piece)
{
	return send(w->end->fd, piece.bytes, piece.len < 100 ? piece.len : 100, MSG_OOB);
}

static ssize_t by_sendfile(struct writer *w, struct piece piece)
{
	return sendfile(w->end->fd, pattern_file(), &piece.place, piece.len);
}

/* What the socket did not take is lost. If it stayed, the next writer would wait for a reader. */
static void renew_pipe(struct writer *w)
{
	int error = errno;

	close(w->pipe[0]);
	close(w->pipe[1]);
	if (pipe2(w->pipe, O_CLOEXEC))
		fail(w->end, "pipe2: %s", strerror(errno));
	errno = error;
}

/* All that the pipe holds must go out, or the stream has a hole, and the next call is refused */
static ssize_t empty_pipe(struct writer *w, ssize_t have)
{
	ssize_t done = 0;

	while (done < have) {
		ssize_t n = splice(w->pipe[0], NULL, w->end->fd, NULL, have - done,
				   one_in(2) ? SPLICE_F_MORE : 0);

		if (n > 0) {
			done += n;
		} else if (n < 0 && errno == EAGAIN) {
			wait_ready(w->end, POLLOUT);
		} else {
			renew_pipe(w);
			return done ? done : n;
		}
	}
	return done;
}

static ssize_t by_splice(struct writer *w, struct piece piece)
{
	size_t len = piece.len < PIPE_MOST ? piece.len : PIPE_MOST;
	struct iovec iov = { (void *)piece.bytes, len };
	ssize_t n;

	switch (random_below(3)) {
	case 0:
		n = write(w->pipe[1], piece.bytes, len);
		break;
	case 1:
		n = vmsplice(w->pipe[1], &iov, 1, 0);
		break;
	default:
		n = splice(pattern_file(), &piece.place, w->pipe[1], NULL, len, 0);
	}
	if (n <= 0)
		fail(w->end, "cannot fill a pipe: %s", strerror(errno));
	return empty_pipe(w, n);
}

static const struct way {
	ssize_t (*send)(struct writer *w, struct piece piece);
	const char *name;
} ways[] = {
	{ by_send, "send" }, { by_send, "send" }, { by_send, "send" }, { by_write, "write" },
	{ by_sendmsg, "sendmsg" }, { by_sendfile, "sendfile" }, { by_splice, "splice" },
	{ by_urgent, "send urgent" },	/* the last one: not in all connections */
};

#define NR_WAYS	(sizeof(ways) / sizeof(*ways))

/* Once in some connections, the writer is idle until its ring has become small again */
static void be_idle(struct side *me)
{
	if (!me->idle_at || me->sent < me->idle_at)
		return;
	me->idle_at = 0;
	me->doing[1] = "idle";
	usleep(1000 * IDLE_MS);
}

/* The peer has gone, or this is a failure */
static void refused(struct end *end)
{
	int error = errno;

	if ((error != EPIPE && error != ECONNRESET) || !may_be_reset(end))
		fail(end, "%s: %s", end->me->doing[1], strerror(error));
	__atomic_store_n(&end->me->refused, true, __ATOMIC_SEQ_CST);
}

void writer_run(struct end *end)
{
	struct writer w = { .end = end };
	struct side *me = end->me;

	if (pipe2(w.pipe, O_CLOEXEC))
		fail(end, "pipe2: %s", strerror(errno));
	while (me->sent < me->total) {
		const struct way *way = &ways[random_below(NR_WAYS - !me->urgent)];
		size_t most = random_size(MOST);
		ssize_t n;

		be_idle(me);
		if (most > me->total - me->sent)
			most = me->total - me->sent;
		me->doing[1] = way->name;
		__atomic_store_n(&me->sending, me->sent + most, __ATOMIC_SEQ_CST);
		n = way->send(&w, pattern_piece(end, end->index, me->sent, most));
		if (n > 0) {
			__atomic_store_n(&me->sent, me->sent + n, __ATOMIC_SEQ_CST);
		} else if (n < 0 && errno == EAGAIN) {
			wait_ready(end, POLLOUT);
		} else {
			refused(end);
			break;
		}
	}
	me->doing[1] = "done writing";
	close(w.pipe[0]);
	close(w.pipe[1]);
}

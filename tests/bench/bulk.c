// SPDX-License-Identifier: GPL-2.0-only
/*
 * bulk: the client writes a stream in pieces of one size, the server reads it.
 * The end of each stretch is one byte back, so that the client's clock covers
 * the reading of the last byte.
 *
 * The warm-up has a connection of its own: what TCP has learnt in a stretch
 * before makes the next one cheaper or dearer by chance.
 */
#include <stdlib.h>
#include <unistd.h>

#include "pattern.h"
#include "run.h"

struct stream {
	int fd;
	uint64_t pos;
	void *buf;
};

static void send_stretch(struct run *run, struct stream *stream, uint64_t bytes)
{
	uint64_t end = stream->pos + bytes;
	char ack;

	while (stream->pos < end) {
		uint64_t len = end - stream->pos;

		if (len > run->spec.size)
			len = run->spec.size;
		sock_send_all(stream->fd, pattern_at(stream->pos), len);
		stream->pos += len;
	}
	sock_recv_all(stream->fd, &ack, 1);
}

static void receive_stretch(struct run *run, struct stream *stream, uint64_t bytes,
			    enum check check)
{
	uint64_t end = stream->pos + bytes;

	while (stream->pos < end) {
		uint64_t len = end - stream->pos;

		if (len > run->spec.rsize)
			len = run->spec.rsize;
		len = sock_recv_some(stream->fd, stream->buf, len);
		pattern_check(stream->pos, stream->buf, len, check);
		stream->pos += len;
	}
	sock_send_all(stream->fd, "", 1);
}

static void bulk_client(struct run *run)
{
	struct stream stream = { .fd = sock_connect(&run->spec, &run->target) };

	phase("warm-up");
	send_stretch(run, &stream, run->spec.warm);
	close(stream.fd);

	stream = (struct stream){ .fd = sock_connect(&run->spec, &run->target) };
	window_open(run);
	send_stretch(run, &stream, run->spec.count);
	window_close(run);
	note_fallback(run, stream.fd);
	close(stream.fd);

	report_run(run);
	report_cost(&run->cost, 0, run->spec.count);
	report_end();
}

static void bulk_server(struct run *run)
{
	void *buf = xmalloc(run->spec.rsize);
	struct stream stream = { .fd = sock_accept(&run->spec, run->listener), .buf = buf };

	phase("warm-up");
	receive_stretch(run, &stream, run->spec.warm, CHECK_FULL);
	close(stream.fd);

	stream = (struct stream){ .fd = sock_accept(&run->spec, run->listener), .buf = buf };
	note_fallback(run, stream.fd);
	window_serve(run);
	receive_stretch(run, &stream, run->spec.count, run->spec.check);
	window_served(run);
	close(stream.fd);
	free(buf);
}

const struct test bulk_test = {
	.name = "bulk",
	.needs_size = true,
	.client = bulk_client,
	.server = bulk_server,
};

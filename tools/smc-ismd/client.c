// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "alarm.h"
#include "client.h"
#include "log.h"
#include "protocol.h"

#define RING_MICROSECONDS	2000
#define DISCARD_MICROSECONDS	50

/* a message uses at least this much of the send buffer */
#define MESSAGE_MEMORY_MIN	256

void client_log(const struct end *end, int level, const char *format, ...)
{
	const struct kept_pair *kept = end->pair->kept;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_line(level, "%s of %s/%s %s", kept->name[end->side], kept->name[0], kept->name[1],
		 text);
}

/*
 * Update the record of messages sent if the last one was sent, also by an earlier process that
 * ended before it could do so.
 */
void client_settle(struct end *end)
{
	struct kept_end *kept = end->kept;

	if (!kept->sent.msg_len)
		return;
	kept->progress = kept->next;
	state_barrier();
	kept->sent.msg_len = 0;
}

/*
 * The kernel rounds 0 up to the smallest send buffer that it allows: 4608 bytes. Each message uses
 * at least 640 bytes of it, and carries at most one descriptor.
 */
void client_bound_unread(int fd)
{
	int bytes = 0;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/*
 * EPOLLHUP is not sufficient: it precedes the release of the queue, and shutdown() causes it too.
 * While the kernel frees a message, it counts one byte; the descriptor is no longer in flight then.
 */
bool client_has_unread(int fd)
{
	int bytes;

	return !ioctl(fd, SIOCOUTQ, &bytes) && bytes >= MESSAGE_MEMORY_MIN;
}

/*
 * If a client could send descriptors, the daemon would have to close whatever they are: a socket
 * that lingers, or the client's own socket, which would then stay open. The kernel closes the
 * descriptors of a message that is received without space for them.
 */
void client_close_input(int fd)
{
	char bytes[4096];

	shutdown(fd, SHUT_RD);
	alarm_start(DISCARD_MICROSECONDS);
	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	alarm_stop();
}

static int send_message(struct end *end, const struct message *message, int passed)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	int64_t number = htole64(message->number);
	struct iovec part = { .iov_base = &number, .iov_len = sizeof(number) };
	struct kept_end *kept = end->kept;
	struct msghdr *header = &kept->sent.msg_hdr;
	struct cmsghdr *rights;

	*header = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
	if (passed >= 0) {
		header->msg_control = control;
		header->msg_controllen = sizeof(control);
		rights = CMSG_FIRSTHDR(header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &passed, sizeof(int));
	}
	kept->next = kept->progress;
	protocol_sent(&kept->next, message);
	state_barrier();
	/* a message this short is sent as a whole or not at all */
	if (sendmmsg(end->client.fd, &kept->sent, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return -errno;
	client_settle(end);
	return 0;
}

static int passed_with(const struct end *end, const struct message *message)
{
	switch (message->kind) {
	case MESSAGE_MEMORY:
		return end->pair->memory;
	case MESSAGE_PEER_VECTOR:
		return end->pair->end[!end->side].vector[message->vector];
	case MESSAGE_OWN_VECTOR:
		return end->vector[message->vector];
	default:
		return -1;
	}
}

bool client_tell(struct end *end)
{
	const struct pair *pair = end->pair;
	struct kept_end *kept = end->kept;
	struct message message;
	int error;

	for (;;) {
		message = protocol_next(&kept->progress, kept->id, pair->end[!end->side].kept->id,
					pair->kept->vectors);
		if (message.kind == MESSAGE_NONE)
			return true;
		error = send_message(end, &message, passed_with(end, &message));
		if (error == -EAGAIN)
			return true;	/* an event will follow */
		if (error == -EPIPE || error == -ECONNRESET)
			return true;	/* an event will follow */
		if (error)
			return false;
	}
}

/*
 * The client has the same eventfd. It may have filled it and cleared O_NONBLOCK, so that this write
 * blocks; an alarm ends that. A full eventfd interrupts the machine anyway. If there is space, the
 * alarm changes nothing, however early it comes.
 */
void client_ring(struct end *end)
{
	if (end->client.fd < 0)
		return;
	alarm_start(RING_MICROSECONDS);
	if (eventfd_write(end->vector[0], 1) && errno != EAGAIN)
		client_log(end, LOG_WARNING, "cannot be interrupted: %s", strerror(errno));
	alarm_stop();
	end->kept->rings++;
}

void client_close_vectors(struct end *end)
{
	unsigned int i;

	for (i = 0; i < SMC_ISM_SHMEM_VECTORS_MAX; i++) {
		if (end->vector[i] >= 0)
			close(end->vector[i]);
		end->vector[i] = -1;
	}
}

bool client_make_vectors(struct end *end, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		end->vector[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (end->vector[i] < 0) {
			client_close_vectors(end);
			return false;
		}
	}
	return true;
}

void client_log_arrival(const struct end *end)
{
	struct ucred who = { .pid = -1, .uid = -1 };
	socklen_t length = sizeof(who);

	getsockopt(end->client.fd, SOL_SOCKET, SO_PEERCRED, &who, &length);
	client_log(end, LOG_INFO, "is there: number %u, process %d of user %u", end->kept->id,
		   (int)who.pid, who.uid);
}

// SPDX-License-Identifier: GPL-2.0-only
/* io_uring by its system calls: one request at a time, which a signal cancels */

#include <linux/io_uring.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sockfuzz.h"

#define ENTRIES		8
#define CANCELLING	(1ULL << 63)

/**
 * struct uring - a ring of requests, and one of answers
 * @fd: of both
 * @sqes: requests
 * @sq_head: first request that the kernel has not taken
 * @sq_tail: behind the last request
 * @sq_mask: of the ring of requests
 * @sq_array: which requests are in it
 * @cq_head: first answer
 * @cq_tail: behind the last answer
 * @cq_mask: of the ring of answers
 * @cqes: answers
 * @requests: how many there were
 */
struct uring {
	int fd;
	struct io_uring_sqe *sqes;
	unsigned int *sq_head;
	unsigned int *sq_tail;
	unsigned int sq_mask;
	unsigned int *sq_array;
	unsigned int *cq_head;
	unsigned int *cq_tail;
	unsigned int cq_mask;
	struct io_uring_cqe *cqes;
	uint64_t requests;
};

static void *map_ring(int fd, size_t bytes, off_t what)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);
}

struct uring *uring_new(void)
{
	struct io_uring_params p = {};
	int fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
	struct uring *ring = calloc(1, sizeof(*ring));
	uint8_t *sq, *cq;

	if (fd < 0 || !ring)
		return NULL;
	sq = map_ring(fd, p.sq_off.array + p.sq_entries * sizeof(unsigned int),
		      IORING_OFF_SQ_RING);
	cq = map_ring(fd, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring->sqes = map_ring(fd, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring->sqes == MAP_FAILED)
		return NULL;
	ring->fd = fd;
	ring->sq_head = (unsigned int *)(sq + p.sq_off.head);
	ring->sq_tail = (unsigned int *)(sq + p.sq_off.tail);
	ring->sq_mask = *(unsigned int *)(sq + p.sq_off.ring_mask);
	ring->sq_array = (unsigned int *)(sq + p.sq_off.array);
	ring->cq_head = (unsigned int *)(cq + p.cq_off.head);
	ring->cq_tail = (unsigned int *)(cq + p.cq_off.tail);
	ring->cq_mask = *(unsigned int *)(cq + p.cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return ring;
}

static void put_request(struct uring *ring, struct io_uring_sqe request)
{
	unsigned int tail = *ring->sq_tail, index = tail & ring->sq_mask;

	ring->sqes[index] = request;
	ring->sq_array[index] = index;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

static unsigned int has_requests(const struct uring *ring)
{
	return *ring->sq_tail - __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE);
}

static long enter_kernel(struct uring *ring)
{
	return syscall(SYS_io_uring_enter, ring->fd, has_requests(ring), 1,
		       IORING_ENTER_GETEVENTS, NULL, 0);
}

/* The answer to a request, if it is there; others are of no interest */
static bool find_answer(struct uring *ring, uint64_t request, int *result)
{
	unsigned int head = *ring->cq_head;
	bool found = false;

	while (head != __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE)) {
		const struct io_uring_cqe *cqe = &ring->cqes[head & ring->cq_mask];

		/* That memory is free again is told in a second answer, which may wait */
		if (cqe->user_data == request && !(cqe->flags & IORING_CQE_F_NOTIF)) {
			*result = cqe->res;
			found = true;
		}
		head++;
	}
	__atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
	return found;
}

static long do_request(struct io_uring_sqe request)
{
	struct uring *ring = me->uring;
	struct io_uring_sqe cancel = { .opcode = IORING_OP_ASYNC_CANCEL };
	int result;

	if (!ring) {
		errno = ENOSYS;
		return -1;
	}
	request.user_data = ++ring->requests;
	cancel.addr = request.user_data;
	cancel.user_data = CANCELLING;
	put_request(ring, request);
	while (!find_answer(ring, request.user_data, &result)) {
		if (enter_kernel(ring) >= 0 || has_requests(ring))
			continue;
		if (find_answer(ring, request.user_data, &result))
			break;
		put_request(ring, cancel);
		while (has_requests(ring))	/* a later one must not find it there */
			enter_kernel(ring);
	}
	if (result >= 0)
		return result;
	errno = result == -ECANCELED ? EINTR : -result;
	return -1;
}

long uring_transfer(int fd, bool send, void *buf, size_t len, int flags)
{
	return do_request((struct io_uring_sqe){
		.opcode = send ? IORING_OP_SEND : IORING_OP_RECV, .fd = fd,
		.addr = (uintptr_t)buf, .len = len, .msg_flags = flags,
	});
}

/* Nothing may change @buf until all of it was received */
long uring_send_zerocopy(int fd, const void *buf, size_t len)
{
	return do_request((struct io_uring_sqe){
		.opcode = IORING_OP_SEND_ZC, .fd = fd, .addr = (uintptr_t)buf, .len = len,
	});
}

long uring_shutdown(int fd, int how)
{
	return do_request((struct io_uring_sqe){
		.opcode = IORING_OP_SHUTDOWN, .fd = fd, .len = how,
	});
}

long uring_connect(int fd, const void *addr, socklen_t len)
{
	return do_request((struct io_uring_sqe){
		.opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uintptr_t)addr, .off = len,
	});
}

long uring_accept(int fd)
{
	return do_request((struct io_uring_sqe){
		.opcode = IORING_OP_ACCEPT, .fd = fd, .accept_flags = SOCK_CLOEXEC,
	});
}

long uring_poll(int fd, short events)
{
	return do_request((struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD, .fd = fd, .poll32_events = events,
	});
}

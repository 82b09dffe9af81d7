// SPDX-License-Identifier: GPL-2.0-only
/* io_uring: a ring for one request, and requests that reach a socket past its system calls */

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "pair.h"
#include "uring.h"

/* SOCKET_URING_OP_SIOCINQ and SOCKET_URING_OP_SIOCOUTQ, since Linux 6.7 */
#define HOW_MUCH_CAME	0
#define HOW_MUCH_LEAVES	1

void uring_open(struct uring *ring)
{
	struct io_uring_params *p = &ring->params;
	int prot = PROT_READ | PROT_WRITE;

	ring->fd = OK(syscall(SYS_io_uring_setup, 64, p));
	ring->sq = mmap(NULL, p->sq_off.array + p->sq_entries * 4, prot, MAP_SHARED, ring->fd,
			IORING_OFF_SQ_RING);
	ring->cq = mmap(NULL, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe), prot,
			MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
	ring->sqe = mmap(NULL, sizeof(*ring->sqe), prot, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	TRUE(ring->sq != MAP_FAILED && ring->cq != MAP_FAILED && (void *)ring->sqe != MAP_FAILED);
}

void uring_submit(struct uring *ring)
{
	unsigned int *array = (void *)(ring->sq + ring->params.sq_off.array);
	unsigned int *tail = (void *)(ring->sq + ring->params.sq_off.tail);

	*array = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	EQ(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, 0, 0), 1);
}

unsigned int uring_count(struct uring *ring)
{
	unsigned int *tail = (void *)(ring->cq + ring->params.cq_off.tail);

	return __atomic_load_n(tail, __ATOMIC_ACQUIRE);
}

const struct io_uring_cqe *uring_result(struct uring *ring, unsigned int nr)
{
	struct io_uring_cqe *cqes = (void *)(ring->cq + ring->params.cq_off.cqes);

	TRUE(nr < ring->params.cq_entries);	/* the tests take no answer out of the ring */
	while (uring_count(ring) <= nr)
		OK(syscall(SYS_io_uring_enter, ring->fd, 0, nr + 1, IORING_ENTER_GETEVENTS, 0, 0));
	return &cqes[nr];
}

static int ask_amount(int fd, unsigned int op)
{
	struct uring ring = {};
	int amount;

	uring_open(&ring);
	ring.sqe->opcode = IORING_OP_URING_CMD;
	ring.sqe->fd = fd;
	ring.sqe->cmd_op = op;
	uring_submit(&ring);
	amount = uring_result(&ring, 0)->res;
	OK(close(ring.fd));
	return amount;
}

/* The kernel asks the protocol of the sock, not the socket */
TEST(amounts_by_io_uring)
{
	int fd[2], n;

	pair_open(fd);
	if (ask_amount(OK(socket(AF_INET, SOCK_STREAM, 0)), HOW_MUCH_CAME) == -EOPNOTSUPP) {
		EQ(ask_amount(fd[0], HOW_MUCH_CAME), -EOPNOTSUPP);
		return;
	}
	EQ(ask_amount(fd[1], HOW_MUCH_CAME), 0);
	EQ(ask_amount(fd[0], HOW_MUCH_LEAVES), 0);
	send_text(fd[0], "12345");
	wait_amount(fd[1], 5);
	EQ(ask_amount(fd[1], HOW_MUCH_CAME), 5);
	expect_text(fd[1], "123");
	EQ(ask_amount(fd[1], HOW_MUCH_CAME), 2);
	expect_text(fd[1], "45");
	do	/* over SMC, 5 bytes that the peer has read may count still */
		OK(ioctl(fd[0], TIOCOUTQ, &n));
	while (ask_amount(fd[0], HOW_MUCH_LEAVES) != n);
}

TEST(amounts_of_listener_by_io_uring)
{
	int expected = ask_amount(OK(socket(AF_INET, SOCK_STREAM, 0)), HOW_MUCH_CAME);

	if (expected != -EOPNOTSUPP)
		expected = -EINVAL;
	EQ(ask_amount(listen_any(1), HOW_MUCH_CAME), expected);
}

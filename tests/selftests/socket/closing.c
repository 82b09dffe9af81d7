// SPDX-License-Identifier: GPL-2.0-only
/*
 * A listening socket is closed while a client is in its handshake. Nobody declined, so the client
 * must not become TCP just to be reset.
 */

#include <linux/filter.h>
#include <pthread.h>

#include "pair.h"

#define ROUNDS	100

struct closing {
	int listener;
	volatile unsigned int delay;
};

static void *close_soon(void *arg)
{
	struct closing *closing = arg;

	while (closing->delay)
		closing->delay--;
	close(closing->listener);
	return NULL;
}

/* Return: whether connect() worked out; if not, the error is in errno */
static bool connect_to_closing(unsigned int round, int client)
{
	struct closing closing = { listen_any(2), round * 997 % 300 * 1000 };
	struct addr to = target_of(closing.listener);
	pthread_t thread;
	bool connected;
	int error;

	EQ(pthread_create(&thread, NULL, close_soon, &closing), 0);
	connected = !connect(client, &to.sa, to.len);
	error = errno;
	EQ(pthread_join(thread, NULL), 0);
	errno = error;
	return connected;
}

TEST(close_of_listener_in_handshake, .applies = only_smc, .alone = true)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		int client = new_client();
		char byte;

		if (connect_to_closing(i, client)) {
			EQ(is_tcp(client), false);
			wait_events(client, POLLIN);
			FAILS(recv(client, &byte, 1, 0), ECONNRESET);
		} else if (errno != ECONNRESET && errno != ECONNREFUSED) {
			FAIL("connect(): %s", strerrorname_np(errno));
		}
		close(client);
	}
}

/* What comes behind the Accept: the reset of the server; not the one that refuses a SYN */
static void lose_resets(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),			/* flags of TCP */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x04, 0, 2),	/* RST */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),			/* sequence number */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, -1),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };

	OK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)));
}

/*
 * A reset may come any time later than the memory of the server went. Kernels that keep options of
 * AF_SMC to themselves lose none, and then this is the test above. Over SMC-R, a client that learns
 * of the group's end before it reads the Accept declines (R-SC-07).
 */
TEST(close_of_listener_reset_late, .applies = only_smcd, .alone = true)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		int client = new_client();

		lose_resets(client);
		set_timeout(client, SO_SNDTIMEO, 50);	/* there may be nothing more to come */
		if (!connect_to_closing(i, client))
			TRUE(errno == ECONNRESET || errno == ECONNREFUSED || errno == EINPROGRESS);
		EQ(is_tcp(client), false);
		close(client);
	}
}

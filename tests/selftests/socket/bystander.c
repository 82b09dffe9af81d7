// SPDX-License-Identifier: GPL-2.0-only
/* A process of another user, whose sockets have nothing to do with those of the test */

#include <fcntl.h>
#include <stdlib.h>

#include "bystander.h"
#include "pair.h"

#define SOMEBODY	65534	/* the other user */

static void serve(int orders, int results, long (*task)(void))
{
	char byte;

	if (!geteuid())
		OK(setresuid(SOMEBODY, SOMEBODY, SOMEBODY));
	while (read(orders, &byte, 1) == 1) {
		long result = task();

		EQ(OK(write(results, &result, sizeof(result))), sizeof(result));
	}
	exit(0);
}

struct bystander bystander_start(long (*task)(void))
{
	int orders[2], results[2];

	OK(pipe2(orders, O_CLOEXEC));
	OK(pipe2(results, O_CLOEXEC));
	if (!OK(fork())) {
		OK(close(orders[1]));
		serve(orders[0], results[1], task);
	}
	OK(close(orders[0]));
	OK(close(results[1]));
	return (struct bystander){ orders[1], results[0] };
}

long bystander_run(const struct bystander *bystander)
{
	long result;

	EQ(OK(write(bystander->orders, "", 1)), 1);
	wait_events(bystander->results, POLLIN | POLLHUP);
	EQ(OK(read(bystander->results, &result, sizeof(result))), sizeof(result));
	return result;
}

long converse(void)
{
	int client = new_client(), listener = listen_any(1), server;
	struct addr to = target_of(listener);

	nonblock(listener);
	nonblock(client);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	wait_events(listener, POLLIN);
	server = accept_from(listener);
	wait_events(client, POLLOUT);
	EQ(socket_error(client), 0);
	EQ(is_tcp(client), !variant->smc);
	send_text(client, "to the server");
	expect_text(server, "to the server");
	send_text(server, "to the client");
	expect_text(client, "to the client");
	OK(close(client));
	expect_eof(server);
	OK(close(server));
	OK(close(listener));
	return 0;
}

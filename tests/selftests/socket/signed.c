// SPDX-License-Identifier: GPL-2.0-only
/* TCP-MD5: what is signed stays TCP, because shared memory is not */

#include <netinet/tcp.h>
#include <string.h>

#include "pair.h"

static int set_key(int fd, struct addr peer)
{
	struct tcp_md5sig sig = { .tcpm_keylen = 6 };

	memcpy(sig.tcpm_key, "secret", 6);
	if (peer.sa.sa_family == AF_INET6)
		peer.in6.sin6_port = 0;
	else
		peer.in.sin_port = 0;
	memcpy(&sig.tcpm_addr, &peer.ss, sizeof(sig.tcpm_addr));
	return setsockopt(fd, SOL_TCP, TCP_MD5SIG, &sig, sizeof(sig));
}

/* Does the kernel have it? And are both addresses of one family? */
static bool can_sign(int index)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool can = !set_key(fd, loopback(AF_INET, 0));

	close(fd);
	(void)index;
	return can && within_host(index);
}

/* Else the other one's key is of a family that the listening socket has not */
static bool can_sign_same_family(int index)
{
	return can_sign(index) && same_family(index);
}

static struct addr peer_address(void)
{
	struct addr addr = client_address(0);

	if (variant->server_address != AF_INET6 || addr.sa.sa_family == AF_INET6)
		return addr;
	addr = loopback(AF_INET6, 0);	/* a server for both families knows IPv4 clients as these */
	memcpy(&addr.in6.sin6_addr, "\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1", 16);
	return addr;
}

static void check_tcp(int client, int server)
{
	TRUE(is_tcp(client));
	TRUE(is_tcp(server));
	send_text(client, "to the server");
	expect_text(server, "to the server");
	send_text(server, "to the client");
	expect_text(client, "to the client");
}

TEST(signed_by_both, .applies = can_sign)
{
	int listener = listen_any(2), client = new_client();
	struct addr to = target_of(listener);

	OK(set_key(listener, peer_address()));
	OK(set_key(client, client_address(0)));
	OK(connect(client, &to.sa, to.len));
	check_tcp(client, accept_from(listener));
}

/* A key for somebody else: this connection is not signed, and may be anything */
TEST(signed_for_others, .applies = can_sign_same_family)
{
	struct addr other = nowhere();
	int listener = listen_any(2), client, server;

	OK(set_key(listener, other));
	client = connect_to(listener);
	server = accept_from(listener);
	EQ(is_tcp(client), !variant->smc);
	EQ(is_tcp(server), !variant->smc);
}

/* The key comes when the connection is under way, and when it is there */
TEST(signed_later, .applies = can_sign)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "before");
	expect_text(fd[1], "before");
	OK(set_key(fd[0], peer_of(fd[0])));
	OK(set_key(fd[1], peer_of(fd[1])));
	EQ(is_tcp(fd[0]), !variant->smc);
	send_text(fd[0], "after");
	expect_text(fd[1], "after");
}

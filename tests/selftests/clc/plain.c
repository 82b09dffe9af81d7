// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client whose SYN had the option sends no Proposal: a middlebox has removed the option from the
 * SYN-ACK. The program gets a TCP connection with all that the client sends.
 */

#include <string.h>

#include "peer.h"

#define HOSTILE		.applies = client_attacks

TEST(first_bytes_are_data, HOSTILE)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	int listener = listen_any(10), fd = attacker_connect(listener), app;

	EQ(send(fd, request, strlen(request), 0), strlen(request));
	app = accept_from(listener);
	EQ(fallback_reason(app), NO_PROPOSAL);
	stream_is_exact(fd, app, request);
}

/* Byte by byte, all begin as a message */
TEST(bytes_like_an_eye_catcher, HOSTILE)
{
	static const uint8_t data[] = { 0xe2, 0xd4, 0xc3, 0xd8, 0, 1 };
	int listener = listen_any(10), fd = attacker_connect(listener);
	size_t len, i;

	for (len = 0; len <= sizeof(data); len++) {
		for (i = 0; i < len; i++) {
			EQ(send(fd, data + i, 1, 0), 1);
			poll(NULL, 0, 10);
			if (i < 3)
				EQ(events_now(listener), 0);
			else
				wait_events(listener, POLLIN);
		}
		attacker_end(fd);
		expect_stream(fd, listener, data, len);
		fd = attacker_connect(listener);
	}
}

TEST(first_bytes_are_urgent, HOSTILE)
{
	int listener = listen_any(10), fd = attacker_connect(listener), app;
	char byte;

	EQ(send(fd, "urge", 4, MSG_OOB), 4);
	app = accept_from(listener);
	EQ(fallback_reason(app), NO_PROPOSAL);
	wait_events(app, POLLPRI);
	EQ(recv(app, &byte, 1, MSG_OOB), 1);
	EQ(byte, 'e');
	expect_text(app, "urg");
	stream_is_exact(fd, app, "");
}

/* Much data, of which the handshake has seen the first segments */
TEST(data_in_many_segments, HOSTILE)
{
	int listener = listen_any(10), fd = attacker_connect(listener);
	static uint8_t bytes[1000] = { 0xe2, 0xd4, 0xc3 };
	size_t i;

	for (i = 3; i < 1000; i++)
		bytes[i] = i * 7;
	for (i = 0; i < 1000; i++)
		EQ(send(fd, bytes + i, 1, 0), 1);
	attacker_end(fd);
	expect_stream(fd, listener, bytes, 1000);
}

/* The server gets the connection with its error, as over TCP */
TEST(data_and_reset, HOSTILE)
{
	int listener = listen_any(10), fd, app, wait;
	char byte;

	for (wait = 0; wait < 2; wait++) {
		fd = attacker_connect(listener);
		EQ(send(fd, "GET", 3, 0), 3);
		if (wait)
			wait_events(listener, POLLIN);
		set_linger(fd, 1, 0);
		close(fd);
		app = accept_from(listener);
		EQ(is_tcp(app), 1);
		expect_text(app, "GET");
		FAILS(recv(app, &byte, 1, 0), ECONNRESET);
	}
}

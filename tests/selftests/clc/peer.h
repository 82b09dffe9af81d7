/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two sides of these tests: an attacker, who has a TCP connection with the SMC option and
 * speaks CLC as he likes, and an application, which has an AF_SMC socket.
 */
#ifndef CLC_PEER_H
#define CLC_PEER_H

#include "../socket/counter.h"
#include "../socket/pair.h"
#include "msg.h"

/* How a handshake goes on, as the attacker sees it */
enum reaction {
	SILENCE,	/* nothing came within the time */
	ENDED,		/* end of stream, or reset */
	ACCEPTED,	/* an Accept */
	CONFIRMED,	/* a Confirm */
	PROPOSED,	/* a Proposal */
	DECLINED,	/* a Decline */
	GARBAGE,	/* bytes that are no message */
};

/* Which side attacks; names of the variants */
enum attacker {
	HOSTILE_CLIENT,
	HOSTILE_SERVER,
	HOSTILE_WRITER,		/* who has an SMC connection; needs /dev/smc_forge */
	HOSTILE_CROWD,		/* thousands of clients; takes minutes */
	NR_ATTACKERS
};

bool client_attacks(int index);
bool server_attacks(int index);
bool crowd_attacks(int index);

#define NO_PROPOSAL	0x0310000b	/* reason of a server */

/* The namespace of this test */
void set_handshake_timeout(int seconds);

/* Attacker: TCP sockets that offer SMC */
int attacker_socket(void);
int attacker_connect(int listener);
int attacker_connect_from(const char *address, int listener);	/* NULL: any */
bool attacker_has_agreed(int fd);	/* did both SYNs have the option? */
int attacker_listen(void);
void attacker_send(int fd, const struct msg *msg);
void attacker_end(int fd);	/* no more is to come */
enum reaction attacker_wait(int fd, struct msg *reply, int milliseconds);
void attacker_expect(int fd, struct msg *reply, enum reaction reaction);
void learn_device(struct device *dev);

/* An application that connects in a thread */
struct app {
	struct worker worker;
	struct addr to;
	int fd;
	int error;	/* of connect(), 0: connected */
	int listener;
	int attacker;	/* the attacker's end, with the Proposal read */
	struct msg proposal;
};

void app_connect(struct app *app);
void app_wait(struct app *app);

/* Outcomes */
void stream_is_exact(int attacker, int app, const char *already_sent);
void expect_fallback(int attacker, int listener, const char *already_sent);
void expect_stream(int attacker, int listener, const uint8_t *bytes, size_t len);
void expect_refused(int attacker, int listener);	/* never seen by accept() */
void expect_app_fallback(struct app *app, const char *already_sent);
void expect_app_error(struct app *app);

#endif /* CLC_PEER_H */

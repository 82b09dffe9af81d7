/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hostile peer that has an SMC-R connection: it speaks CLC on a TCP connection and LLC and CDC on
 * a queue pair, in both roles and both versions, and stops or lies at any moment. Bytes are
 * written from the specification, on purpose without the module's own parsers and builders.
 */
#ifndef RDMA_HOSTILE_H
#define RDMA_HOSTILE_H

#include "../clc/forge.h"
#include "verbs.h"

/* Offsets in Accept and Confirm of SMC-R */
#define AT_R_PEER_ID		8
#define AT_R_GID		16
#define AT_R_MAC		32
#define AT_R_QPN		38
#define AT_R_RKEY		41
#define AT_R_INDEX		45
#define AT_R_TOKEN		46
#define AT_R_SIZES		50
#define AT_R_ADDR		52
#define AT_R_PSN		61
#define AT_R_EID		64
#define AT_R_FCE		104
#define AT_R_RELEASE		105
#define AT_R_HOSTNAME		108
#define AT_R_MAX_CONNS		140
#define AT_R_MAX_LINKS		141
#define AT_R_FEATURES		142
#define AT_R_VENDOR		144
#define AT_R_GID_COUNT		156
#define AT_R_GIDS		160

/* Why a connection is declined */
enum reason {
	NO_DEVICE	= 0x03030000,
	NO_ISM_DEVICE	= 0x03030001,
	NO_RDMA_DEVICE	= 0x03030002,
	NO_UEID		= 0x03030008,
	RELEASE		= 0x03030009,
	MAX_CONNS	= 0x0303000a,
	MAX_LINKS	= 0x0303000b,
	MODE		= 0x03040000,
	PREFIX		= 0x03070000,
	NO_ROUTE	= 0x030e0000,
	MALFORMED	= 0x03100000,
	RESERVED_VALUE	= 0x03100001,
	NOT_OFFERED	= 0x03100003,
	CONFIRM_DIFFERS	= 0x03100004,
	ADDRESS_FAMILY	= 0x03100005,
	BUFFER_LIMIT	= 0x03100006,
	MAX_HS		= 0x03100007,
	MAX_GROUPS	= 0x03100008,
	NO_PATH		= 0x03100009,
	OUT_OF_SYNC	= 0x04000000,
	RTOKEN		= 0x09990001,
};

/* What becomes of a connection */
enum outcome {
	DECLINE_COMES,
	TCP_ENDS,
	ACCEPT_COMES,
	CONNECTED,
};

/**
 * struct expected - what must come of a message
 * @outcome: so it goes on
 * @reason: of the Decline
 * @at: in the Accept, what to look at
 * @bytes: how many of it
 * @value: what must be there
 */
struct expected {
	enum outcome outcome;
	enum reason reason;
	size_t at;
	int bytes;
	uint64_t value;
};

#define DECLINES(reason)		{ DECLINE_COMES, reason }
#define ENDS				{ TCP_ENDS }
#define WORKS				{ CONNECTED }
#define ACCEPTS(at, bytes, value)	{ ACCEPT_COMES, 0, at, bytes, value }

/**
 * struct row - a field of a CLC message that is wrong, or odd
 * @what: for people
 * @expected: what must come of it
 * @at: the field
 * @bytes: how many it has, 0: none is changed
 * @value: what is put there
 * @length: of the whole message, its trailer moved; 0: as it was
 */
struct row {
	const char *what;
	struct expected expected;
	size_t at;
	int bytes;
	uint64_t value;
	size_t length;
};

/* Types of LLC messages, without the bits of version 2 */
enum llc_type {
	CONFIRM_LINK = 1,
	ADD_LINK = 2,
	ADD_LINK_CONT = 3,
	DELETE_LINK = 4,
	REQUEST_ADD_LINK = 5,
	CONFIRM_RKEY = 6,
	TEST_LINK = 7,
	CONFIRM_RKEY_CONT = 8,
	DELETE_RKEY = 9,
};

#define LLC_LEN			44
#define LLC_V2			0x20
#define LLC_REPLY		0x80
#define LLC_REJECTED		0x40	/* ADD LINK, REQUEST ADD LINK */
#define LLC_ALL			0x40	/* DELETE LINK */
#define LLC_NEGATIVE		0x20	/* RKEY messages */
#define LLC_NO_EYE_CATCHER	0x03	/* CONFIRM LINK */
#define LLC_AT_FLAGS		3
#define LLC_AT_BODY		4

#define CDC_TYPE		0xfe
#define CDC_LEN			44
#define CDC_AT_SEQNO		2
#define CDC_AT_TOKEN		4
#define CDC_AT_PRODUCER		8
#define CDC_AT_CONSUMER		16
#define CDC_AT_FLAGS		24
#define CDC_AT_STATE		25
#define FAILOVER		0x08	/* a producer flag; others are in forge.h */

/* Counters of SMC-R */
#define COUNT_VIOLATIONS	128
#define COUNT_LINK_ABORTS	138

/* Variants of the tests: which role the attacker has, and the version */
enum {
	CLIENT_V2,
	SERVER_V2,
	CLIENT_V1,
	SERVER_V1,
	NR_VARIANTS
};

bool as_client(int index);
bool as_server(int index);
bool as_server_v2(int index);
bool as_client_v1(int index);
bool as_client_v2(int index);
bool with_v1(int index);
bool with_v2(int index);
extern int chosen;		/* this test's */

/**
 * struct hostile - the attacker's connection
 * @server: it is the server
 * @version: of SMC-R
 * @max_links: what it would like, or grants
 * @later: the group is there already
 * @from: its address of the TCP connection, if not its port's (client)
 * @spoil: changes what it says in CLC, before that is sent
 * @cut: so much of its Accept or Confirm is sent, 0: all
 * @deaf: it receives nothing by RDMA
 * @mute: it does not even answer TEST LINK
 * @refuse: it wants no RMB that it is told of
 * @sndbuf: what the application chooses, 0: nothing
 * @qp: its queue pair
 * @end: the module's
 * @peer_id: its stack
 * @listener: whoever listens
 * @tcp: its end of the TCP connection
 * @app: the application's socket, -1 before accept()
 * @worker: the application, while it connects
 * @app_error: of connect()
 * @link_num: number of the link
 * @token: the application's connection
 * @rkey: key of the application's RMB
 * @addr: address of the application's element
 * @size: of the application's element
 * @index: of the attacker's element
 * @my_token: the attacker's connection
 * @my_rkey: what it says of its ring; right unless the test has changed it
 * @my_addr: what it says of its ring
 * @prod: how far it has written
 * @cons: how far it has read
 * @producer_flags: goes out with the next message
 * @state_flags: goes out with the next message
 * @seqno: of the last message
 * @has_cdc: a control message has come in
 * @their_prod: the last one's
 * @their_cons: the last one's
 * @their_flags: the last one's, of the producer
 * @their_state: the last one's, of the state
 * @llc: the LLC message that came in last
 * @violations: what the counter was before
 * @link_aborts: what the counter was before
 */
struct hostile {
	bool server;
	int version;
	int max_links;
	bool later;
	const char *from;
	void (*spoil)(struct msg *msg);
	size_t cut;
	bool deaf;
	bool mute;
	bool refuse;
	int sndbuf;
	struct qp qp;
	struct qp_end end;
	uint64_t peer_id;
	int listener;
	int tcp;
	int app;
	struct worker worker;
	int app_error;
	uint8_t link_num;
	uint32_t token;
	uint32_t rkey;
	uint64_t addr;
	uint32_t size;
	uint8_t index;
	uint32_t my_token;
	uint32_t my_rkey;
	uint64_t my_addr;
	struct position prod;
	struct position cons;
	uint8_t producer_flags;
	uint8_t state_flags;
	uint16_t seqno;
	bool has_cdc;
	struct position their_prod;
	struct position their_cons;
	uint8_t their_flags;
	uint8_t their_state;
	struct msg llc;
	uint64_t violations;
	uint64_t link_aborts;
};

#define HANDSHAKE_S	scaled(60)	/* a busy machine is late for a message of CLC */
#define FIN_TIMEOUT_S	scaled(3)	/* as in tests/lib/rdma_peer.sh */

/* Before the handshake, in the role and version of this test */
void hostile_init(struct hostile *h);
/* Steps of a first contact, up to here in good order */
void hostile_propose(struct hostile *h);	/* the Proposal is sent, or has come */
/* The module's answer; of a later contact it may have to tell of new memory before */
enum reaction hostile_await(struct hostile *h, struct msg *answer);
bool hostile_accepted(struct hostile *h);	/* takes the Accept: is it first contact? */
void hostile_answer(struct hostile *h);		/* our Accept or Confirm is sent */
void hostile_clc(struct hostile *h);
void hostile_confirm_link(struct hostile *h);
void hostile_add_link(struct hostile *h);	/* if there is to be one */
void hostile_finish(struct hostile *h);		/* the application has its connection */
void hostile_complete(struct hostile *h);	/* all steps after the first */
void hostile_open(struct hostile *h);		/* all steps */
/* Another connection of the same group, with another application */
void hostile_join(struct hostile *h, const struct hostile *first);	/* in place of init */
void hostile_again(struct hostile *h, const struct hostile *first, int index);	/* all steps */
void hostile_leave(struct hostile *h);		/* this connection only */
void hostile_part(struct hostile *h);		/* closed by both sides in good order */
void hostile_hear_close(struct hostile *h);	/* the application closes */
void expect_state(struct hostile *h, uint8_t flag);	/* in the module's messages */
void send_last(struct hostile *h);		/* data, and the end of the stream */
void hostile_say_closed(struct hostile *h);	/* and so does the attacker */
void hostile_close(struct hostile *h);		/* and nobody else is harmed */
void app_joined(struct hostile *h);		/* where it is the client: connect() returns */

/* LLC */
void llc_init(const struct hostile *h, struct msg *msg, enum llc_type type, uint8_t flags);
void llc_confirm_link(struct hostile *h, struct msg *msg, uint8_t flags);
void llc_add_link(const struct hostile *h, struct msg *msg, uint8_t flags, uint8_t link_num);
enum ibv_wc_status link_send(struct hostile *h, const struct msg *msg);
#define IN_FLIGHT	60		/* fewer sends than fit into the queue */
/* Sends it again and again, once without its last byte (-1: never). Return: the link has ended */
bool link_flood(struct hostile *h, const struct msg *msg, int times, int short_one);
/* Waits for it; what else comes in meanwhile must be control messages */
void llc_expect(struct hostile *h, enum llc_type type, uint8_t flags);
bool llc_wait(struct hostile *h, int milliseconds);	/* any; false: none came */

/* CDC */
struct position ahead(uint32_t size, struct position p, uint32_t bytes);
void cdc_build(const struct hostile *h, struct msg *msg);
void cdc_send(struct hostile *h);
void data_write(struct hostile *h, const void *bytes, size_t len);	/* not the cursor */
void data_send(struct hostile *h, const char *text);
void data_expect(struct hostile *h, const char *text);
uint32_t data_unread(struct hostile *h);	/* bytes, after taking what has come in */

/* One field that is wrong */
void row_begin(const struct row *row);		/* says which it is */
void row_change(struct msg *msg, const struct row *row);

/* Outcomes */
void expect_alive(struct hostile *h);		/* the link and the connection work */
void expect_link_works(struct hostile *h);
void expect_link_down(struct hostile *h);	/* and the application knows */
void expect_link_down_untold(struct hostile *h);	/* both ends have finished before */
void expect_data_lost(struct hostile *h);	/* the same, but the attacker lacks data */
void expect_untold(struct hostile *h);		/* no error, and what was sent */
void expect_violation(struct hostile *h);	/* one connection aborted, the link works */
void expect_no_connection(struct hostile *h);	/* first contact: TCP ends */
void expect_tcp(struct hostile *h);		/* a Decline comes, TCP goes on */
void expect_declined(struct hostile *h);	/* the same after the Decline */
void expect_given_up(struct hostile *h);	/* nobody answers: the one or the other */
void expect_outcome(struct hostile *h, const struct expected *expected);	/* Decline or end */

/* Two honest sockets beside it */
void bystanders_open(void);
void bystanders_check(void);

#endif /* RDMA_HOSTILE_H */

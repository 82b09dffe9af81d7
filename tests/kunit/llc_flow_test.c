// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which side may start which exchange of link layer control: both tables against tables derived
 * from RFC 7609, 3.5.5.3 and C.7, and properties of two sides that exchange messages.
 */
#include <kunit/test.h>

#include "../../net/smc/rdma/llc_flow.h"
#include "../../net/smc/wire/llc.h"
#include "../../net/smc/wire/reason.h"

enum { CLIENT, SERVER };

/*
 * One line for each exchange, one letter for each event in the order of enum
 * smc_llc_event. Blanks and bars only separate groups.
 *
 *	.  broken	g  do it	l  later	i  ignore	r  refuse
 *	A, D, K, R, E: do it, and the exchange is now ADD, DELETE, ASK, RKEY or END
 *
 *	wanted		add, delete, end, hint, rkey, test
 *	requests	CONFIRM LINK, ADD LINK, its CONT, DELETE LINK, that of the added link,
 *			that of all links, hint, CONFIRM RKEY, its CONT, DELETE RKEY, TEST LINK
 *	replies		the same, with one DELETE LINK
 *	unfit
 */
static const char * const server_rows[SMC_LLC_FLOWS] = {
	/* R-LLC-11, R-LLC-15, R-AL-16, R-DL-08, R-DL-14. Replies may be late, in any flow */
	[SMC_LLC_FLOW_NONE]	= "ADE.Rg | ...g. Eg gggg | gggg iggg g | .",
	/* R-CL-01, R-LLC-13, A-86 */
	[SMC_LLC_FLOW_CONFIRM]	= "llE.lg | ...l. Ei ...g | gggg iggg g | .",
	/* R-COL-01 to R-COL-05, A-23 */
	[SMC_LLC_FLOW_ADD]	= "llE.lg | ...lg Ei rrlg | gggg iggg g | .",
	/* R-COL-06 to R-COL-09, A-23 */
	[SMC_LLC_FLOW_DELETE]	= "llE.lg | ...l. El rrlg | gggg iggg g | .",
	[SMC_LLC_FLOW_ASK]	= "...... | ..... .. .... | .... .... . | .",
	/* R-COL-10, R-COL-12, R-COL-14, R-LLC-15 */
	[SMC_LLC_FLOW_RKEY]	= "llE.lg | ...l. El gggg | gggg iggg g | .",
	/* R-DL-18 */
	[SMC_LLC_FLOW_LEAVING]	= "iiEiii | iiigi Ei iiii | iiig iiii i | i",
	/* R-LTO-15 */
	[SMC_LLC_FLOW_END]	= "iiiiii | iiiii gi iiii | iiiiiiii i | i",
};

static const char * const client_rows[SMC_LLC_FLOWS] = {
	/* R-LLC-13, R-LLC-15, R-DL-03, R-DL-13, R-DL-17, V2-HA-13 */
	[SMC_LLC_FLOW_NONE]	= ".gEKRg | .Agg. E. gggg | iiig gggg g | .",
	/* R-CL-01 */
	[SMC_LLC_FLOW_CONFIRM]	= ".gEllg | g..g. E. ...g | iiig gggg g | .",
	/* R-COL-11, R-LTO-03, R-LTO-04, R-ALC-01 */
	[SMC_LLC_FLOW_ADD]	= ".gEllg | ggggg E. rrlg | iiig gggg g | .",
	[SMC_LLC_FLOW_DELETE]	= "...... | ..... .. .... | .... .... . | .",
	/* V2-HA-15 */
	[SMC_LLC_FLOW_ASK]	= ".gEllg | .Agg. E. gggg | iiig gggg g | .",
	/* R-COL-11, R-COL-13, R-COL-14, R-LLC-15 */
	[SMC_LLC_FLOW_RKEY]	= ".gEllg | .Agg. E. gggg | iiig gggg g | .",
	/* R-DL-18 */
	[SMC_LLC_FLOW_LEAVING]	= "iiEiii | iiigi Ei iiii | iiig iiii i | i",
	/* R-LTO-15 */
	[SMC_LLC_FLOW_END]	= "iiiiii | iiiii gi iiii | iiiiiiii i | i",
};

static struct smc_llc_step step_of(char letter, enum smc_llc_flow flow)
{
	switch (letter) {
	case 'g':
		return (struct smc_llc_step){ SMC_LLC_GO, flow };
	case 'l':
		return (struct smc_llc_step){ SMC_LLC_LATER, flow };
	case 'i':
		return (struct smc_llc_step){ SMC_LLC_IGNORE, flow };
	case 'r':
		return (struct smc_llc_step){ SMC_LLC_REFUSE, flow };
	case 'A':
		return (struct smc_llc_step){ SMC_LLC_GO, SMC_LLC_FLOW_ADD };
	case 'D':
		return (struct smc_llc_step){ SMC_LLC_GO, SMC_LLC_FLOW_DELETE };
	case 'K':
		return (struct smc_llc_step){ SMC_LLC_GO, SMC_LLC_FLOW_ASK };
	case 'R':
		return (struct smc_llc_step){ SMC_LLC_GO, SMC_LLC_FLOW_RKEY };
	case 'E':
		return (struct smc_llc_step){ SMC_LLC_GO, SMC_LLC_FLOW_END };
	}
	return (struct smc_llc_step){ SMC_LLC_BROKEN, flow };
}

static void check_row(struct kunit *test, bool server, enum smc_llc_flow flow,
		      const char *row)
{
	unsigned int event = 0;

	for (; *row; row++) {
		struct smc_llc_step step, expected;

		if (*row == ' ' || *row == '|')
			continue;
		KUNIT_ASSERT_LT(test, event, SMC_LLC_EVENTS);
		step = smc_llc_step(server, flow, event);
		expected = step_of(*row, flow);
		KUNIT_EXPECT_EQ_MSG(test, step.verdict, expected.verdict, "server %d, %s, event %d",
				    server, smc_llc_flow_name(flow), event);
		KUNIT_EXPECT_EQ_MSG(test, step.flow, expected.flow, "server %d, %s, event %d",
				    server, smc_llc_flow_name(flow), event);
		event++;
	}
	KUNIT_EXPECT_EQ(test, event, SMC_LLC_EVENTS);
}

static void server_rules(struct kunit *test)
{
	unsigned int flow;

	for (flow = 0; flow < SMC_LLC_FLOWS; flow++)
		check_row(test, SERVER, flow, server_rows[flow]);
}

static void client_rules(struct kunit *test)
{
	unsigned int flow;

	for (flow = 0; flow < SMC_LLC_FLOWS; flow++)
		check_row(test, CLIENT, flow, client_rows[flow]);
}

/* The flows that a role can be in; LEAVING is not a flow */
static bool has_flow(bool server, enum smc_llc_flow flow)
{
	if (flow == SMC_LLC_FLOW_LEAVING)
		return false;
	return flow != (server ? SMC_LLC_FLOW_ASK : SMC_LLC_FLOW_DELETE);
}

/* R-TL-03, R-LLC-13: while the group exists, these are never delayed */
static void never_delayed(struct kunit *test)
{
	static const struct {
		enum smc_llc_event event;
		bool ends;
	} rows[] = {
		{ SMC_LLC_WANT_TEST, false },
		{ SMC_LLC_GOT_TEST_LINK, false },
		{ SMC_LLC_WANT_END, true },
		{ SMC_LLC_GOT_DELETE_ALL, true },
	};
	unsigned int role, flow, i;

	for (role = 0; role < 2; role++) {
		for (flow = 0; flow < SMC_LLC_FLOW_END; flow++) {
			if (!has_flow(role, flow))
				continue;
			for (i = 0; i < ARRAY_SIZE(rows); i++) {
				struct smc_llc_step step;

				step = smc_llc_step(role, flow, rows[i].event);
				KUNIT_EXPECT_EQ(test, step.verdict, SMC_LLC_GO);
				KUNIT_EXPECT_EQ(test, step.flow,
						rows[i].ends ? SMC_LLC_FLOW_END : flow);
			}
		}
	}
}

/* A reply never breaks the link on which it arrives, in any flow */
static void reply_is_no_breach(struct kunit *test)
{
	unsigned int role, flow, event;

	for (role = 0; role < 2; role++) {
		for (flow = 0; flow < SMC_LLC_FLOWS; flow++) {
			if (flow < SMC_LLC_FLOW_END && !has_flow(role, flow))
				continue;
			for (event = SMC_LLC_REPLY_CONFIRM_LINK; event <= SMC_LLC_REPLY_TEST_LINK;
			     event++) {
				struct smc_llc_step step = smc_llc_step(role, flow, event);

				KUNIT_EXPECT_NE_MSG(test, step.verdict, SMC_LLC_BROKEN,
						    "server %u, %s, event %u", role,
						    smc_llc_flow_name(flow), event);
				KUNIT_EXPECT_EQ(test, step.flow, flow);
			}
		}
	}
}

/* R-LLC-11: during an exchange, only the end of the group starts another exchange */
static void one_exchange_at_a_time(struct kunit *test)
{
	static const enum smc_llc_event wants[] = {
		SMC_LLC_WANT_ADD, SMC_LLC_WANT_DELETE, SMC_LLC_WANT_HINT, SMC_LLC_WANT_RKEY,
	};
	unsigned int role, flow, i;

	for (role = 0; role < 2; role++) {
		for (flow = SMC_LLC_FLOW_CONFIRM; flow < SMC_LLC_FLOWS; flow++) {
			for (i = 0; i < ARRAY_SIZE(wants); i++)
				KUNIT_EXPECT_EQ(test, flow,
						smc_llc_step(role, flow, wants[i]).flow);
		}
	}
}

/*
 * Messages cross: what an idle peer may start is no protocol violation, whatever this side has
 * started at the same time.
 */
static void crossing_is_no_breach(struct kunit *test)
{
	static const struct {
		enum smc_llc_event want;
		enum smc_llc_event got;
	} begins[] = {
		{ SMC_LLC_WANT_ADD, SMC_LLC_GOT_ADD_LINK },
		{ SMC_LLC_WANT_DELETE, SMC_LLC_GOT_DELETE_LINK },
		{ SMC_LLC_WANT_END, SMC_LLC_GOT_DELETE_ALL },
		{ SMC_LLC_WANT_HINT, SMC_LLC_GOT_HINT },
		{ SMC_LLC_WANT_RKEY, SMC_LLC_GOT_CONFIRM_RKEY },
		{ SMC_LLC_WANT_RKEY, SMC_LLC_GOT_DELETE_RKEY },
	};
	unsigned int role, ours, theirs;

	for (role = 0; role < 2; role++) {
		for (ours = 0; ours < ARRAY_SIZE(begins); ours++) {
			for (theirs = 0; theirs < ARRAY_SIZE(begins); theirs++) {
				struct smc_llc_step a, b, c;

				a = smc_llc_step(role, SMC_LLC_FLOW_NONE, begins[ours].want);
				b = smc_llc_step(!role, SMC_LLC_FLOW_NONE, begins[theirs].want);
				if (a.verdict != SMC_LLC_GO || b.verdict != SMC_LLC_GO)
					continue;
				c = smc_llc_step(role, a.flow, begins[theirs].got);
				KUNIT_EXPECT_NE_MSG(test, c.verdict, SMC_LLC_BROKEN,
						    "server %u, wants %u, gets %u",
						    role, ours, theirs);
			}
		}
	}
}

static void meaning_of_messages(struct kunit *test)
{
	static const struct {
		bool server;
		u8 version, type;
		bool reply, all;
		enum smc_llc_event event;
	} rows[] = {
		{ CLIENT, 1, SMC_LLC_CONFIRM_LINK, false, false, SMC_LLC_GOT_CONFIRM_LINK },
		{ SERVER, 2, SMC_LLC_CONFIRM_LINK, true, false, SMC_LLC_REPLY_CONFIRM_LINK },
		{ CLIENT, 1, SMC_LLC_ADD_LINK, false, false, SMC_LLC_GOT_ADD_LINK },
		{ CLIENT, 2, SMC_LLC_ADD_LINK, false, false, SMC_LLC_GOT_ADD_LINK },
		/* R-AL-15, V2-HA-12, S-39 */
		{ SERVER, 1, SMC_LLC_ADD_LINK, false, false, SMC_LLC_GOT_HINT },
		{ SERVER, 2, SMC_LLC_ADD_LINK, false, false, SMC_LLC_UNFIT },
		{ SERVER, 2, SMC_LLC_ADD_LINK, true, false, SMC_LLC_REPLY_ADD_LINK },
		{ CLIENT, 1, SMC_LLC_ADD_LINK_CONT, false, false, SMC_LLC_GOT_ADD_LINK_CONT },
		{ SERVER, 1, SMC_LLC_ADD_LINK_CONT, true, false, SMC_LLC_REPLY_ADD_LINK_CONT },
		{ CLIENT, 1, SMC_LLC_DELETE_LINK, false, false, SMC_LLC_GOT_DELETE_LINK },
		{ SERVER, 2, SMC_LLC_DELETE_LINK, false, true, SMC_LLC_GOT_DELETE_ALL },
		{ SERVER, 1, SMC_LLC_DELETE_LINK, true, false, SMC_LLC_REPLY_DELETE_LINK },
		{ SERVER, 1, SMC_LLC_DELETE_LINK, true, true, SMC_LLC_REPLY_DELETE_LINK },
		{ SERVER, 2, SMC_LLC_REQUEST_ADD_LINK, false, false, SMC_LLC_GOT_HINT },
		{ CLIENT, 2, SMC_LLC_REQUEST_ADD_LINK, false, false, SMC_LLC_UNFIT },
		{ CLIENT, 2, SMC_LLC_REQUEST_ADD_LINK, true, false, SMC_LLC_REPLY_HINT },
		{ CLIENT, 1, SMC_LLC_CONFIRM_RKEY, false, false, SMC_LLC_GOT_CONFIRM_RKEY },
		{ SERVER, 1, SMC_LLC_CONFIRM_RKEY, true, false, SMC_LLC_REPLY_CONFIRM_RKEY },
		{ CLIENT, 1, SMC_LLC_TEST_LINK, false, false, SMC_LLC_GOT_TEST_LINK },
		{ CLIENT, 1, SMC_LLC_TEST_LINK, true, false, SMC_LLC_REPLY_TEST_LINK },
		{ CLIENT, 1, SMC_LLC_CONFIRM_RKEY_CONT, false, false,
		  SMC_LLC_GOT_CONFIRM_RKEY_CONT },
		{ CLIENT, 1, SMC_LLC_CONFIRM_RKEY_CONT, true, false,
		  SMC_LLC_REPLY_CONFIRM_RKEY_CONT },
		{ CLIENT, 1, SMC_LLC_DELETE_RKEY, false, false, SMC_LLC_GOT_DELETE_RKEY },
		{ CLIENT, 2, SMC_LLC_DELETE_RKEY, true, false, SMC_LLC_REPLY_DELETE_RKEY },
	};
	struct smc_llc *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		msg->version = rows[i].version;
		msg->type = rows[i].type;
		msg->reply = rows[i].reply;
		msg->delete_link.all = rows[i].all;
		KUNIT_EXPECT_EQ_MSG(test, smc_llc_event_of(rows[i].server, msg), rows[i].event,
				    "row %u", i);
	}
}

/* interop, 1: peers wait 5 s for the first CONFIRM LINK, 2 s for others; R-LLC-19 */
static void patience(struct kunit *test)
{
	unsigned int flow;

	KUNIT_EXPECT_EQ(test, smc_llc_patience(SMC_LLC_FLOW_NONE).seconds, 0);
	for (flow = SMC_LLC_FLOW_CONFIRM; flow < SMC_LLC_FLOWS; flow++) {
		KUNIT_EXPECT_GE(test, smc_llc_patience(flow).seconds, 2);
		KUNIT_EXPECT_NE(test, smc_llc_patience(flow).reason, SMC_REASON_NONE);
	}
	KUNIT_EXPECT_EQ(test, smc_llc_patience(SMC_LLC_FLOW_CONFIRM).seconds, 5);
	KUNIT_EXPECT_EQ(test, smc_llc_patience(SMC_LLC_FLOW_CONFIRM).reason,
			SMC_REASON_TIMEOUT_CONFIRM_LINK);
	KUNIT_EXPECT_EQ(test, smc_llc_patience(SMC_LLC_FLOW_ADD).reason,
			SMC_REASON_TIMEOUT_ADD_LINK);
}

/* R-DEC-06, A-33: no Decline if the peer may decline at the same time */
static void lost(struct kunit *test)
{
	static const struct {
		bool server;
		enum smc_llc_flow flow;
		bool severed;
		u32 reason;
	} rows[] = {
		/* A client before LLC, during LLC, and at its end */
		{ CLIENT, SMC_LLC_FLOW_NONE, true, SMC_REASON_TIMEOUT_CONFIRM_LINK },
		{ CLIENT, SMC_LLC_FLOW_CONFIRM, true, SMC_REASON_TIMEOUT_CONFIRM_LINK },
		{ CLIENT, SMC_LLC_FLOW_ADD, true, SMC_REASON_TIMEOUT_ADD_LINK },
		{ CLIENT, SMC_LLC_FLOW_END, true, SMC_REASON_TIMEOUT_CONFIRM_LINK },
		{ CLIENT, SMC_LLC_FLOW_NONE, false, SMC_REASON_NO_ACTIVE_LINK },
		{ CLIENT, SMC_LLC_FLOW_CONFIRM, false, SMC_REASON_NO_ACTIVE_LINK },
		{ CLIENT, SMC_LLC_FLOW_ADD, false, SMC_REASON_NO_ACTIVE_LINK },
		{ SERVER, SMC_LLC_FLOW_NONE, true, SMC_REASON_NO_ACTIVE_LINK },
		{ SERVER, SMC_LLC_FLOW_CONFIRM, true, SMC_REASON_NO_ACTIVE_LINK },
		{ SERVER, SMC_LLC_FLOW_ADD, true, SMC_REASON_TIMEOUT_ADD_LINK },
		{ SERVER, SMC_LLC_FLOW_CONFIRM, false, SMC_REASON_NO_ACTIVE_LINK },
		{ SERVER, SMC_LLC_FLOW_ADD, false, SMC_REASON_TIMEOUT_ADD_LINK },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, smc_llc_lost_reason(rows[i].server, rows[i].flow,
							      rows[i].severed),
				    rows[i].reason, "row %u", i);
}

static void names(struct kunit *test)
{
	unsigned int a, b;

	for (a = 0; a < SMC_LLC_FLOWS; a++) {
		KUNIT_ASSERT_NOT_NULL(test, smc_llc_flow_name(a));
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_NE(test, strcmp(smc_llc_flow_name(a),
						     smc_llc_flow_name(b)), 0);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(server_rules),
	KUNIT_CASE(client_rules),
	KUNIT_CASE(never_delayed),
	KUNIT_CASE(reply_is_no_breach),
	KUNIT_CASE(one_exchange_at_a_time),
	KUNIT_CASE(crossing_is_no_breach),
	KUNIT_CASE(meaning_of_messages),
	KUNIT_CASE(patience),
	KUNIT_CASE(lost),
	KUNIT_CASE(names),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_llc_flow",
	.test_cases = cases,
};

kunit_test_suite(suite);

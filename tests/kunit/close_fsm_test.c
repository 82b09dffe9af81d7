// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a connection: each row of the table against one derived from RFC 7609, 4.8.1 and
 * 4.8.2, and properties of two state machines that exchange messages.
 */
#include <kunit/test.h>
#include <net/tcp_states.h>

#include "../../net/smc/conn/close_fsm.h"

#define SENDS	(SMC_CLOSE_SEND_DONE | SMC_CLOSE_SEND_CLOSED | SMC_CLOSE_SEND_ABORT)

/*
 * Expectations. Actions are letters: D, C and A are sent; e: readers see the
 * end, w: writers get an error, r: the reset is reported, f: buffer is free.
 */
#define ROW(from, event, to, actions) \
	{ SMC_CLOSE_##from, SMC_CLOSE_##event, SMC_CLOSE_##to, actions }

/*
 * The whole table. Abort before own "closed": R-ABT-02, R-ABT-06 to R-ABT-08. Abort after it:
 * R-CDC-10, R-CLS-15, R-CLS-16, R-CLS-19, R-ABT-12, A-37. A peer that has sent "closed" does not
 * answer an abort (R-ABT-12), so this side does not wait for the answer.
 */
static const struct row {
	enum smc_close_state from;
	enum smc_close_event event;
	enum smc_close_state to;
	const char *actions;
} rows[] = {
	/* R-CLS-02, R-CLS-06, R-CLS-10 */
	ROW(ACTIVE, SHUT_WR, PEER_WAIT1, "D"),
	ROW(ACTIVE, CLOSE, PEER_WAIT1_CLOSED, "Cw"),
	ROW(ACTIVE, PEER_DONE, APP_WAIT1, "e"),
	ROW(ACTIVE, PEER_CLOSED, APP_WAIT1_CLOSED, "ew"),
	ROW(ACTIVE, ABORT, ABORT_WAIT, "Aewr"),
	ROW(ACTIVE, TIMEOUT, ABORT_WAIT, "Aewr"),
	ROW(ACTIVE, PEER_ABORTED, CLOSED, "Aewrf"),

	/* R-CLS-07, R-CLS-09; a later close: A-36 */
	ROW(PEER_WAIT1, SHUT_WR, PEER_WAIT1, ""),
	ROW(PEER_WAIT1, CLOSE, PEER_WAIT1_CLOSED, "Cw"),
	ROW(PEER_WAIT1, PEER_DONE, PEER_WAIT2, "e"),
	ROW(PEER_WAIT1, PEER_CLOSED, APP_FIN_WAIT, "ew"),
	ROW(PEER_WAIT1, ABORT, ABORT_WAIT, "Aewr"),
	ROW(PEER_WAIT1, TIMEOUT, ABORT_WAIT, "Aewr"),
	ROW(PEER_WAIT1, PEER_ABORTED, CLOSED, "Aewrf"),

	/* R-CLS-07, R-CLS-08, R-CLS-17 */
	ROW(PEER_WAIT1_CLOSED, PEER_DONE, PEER_WAIT2_CLOSED, "e"),
	ROW(PEER_WAIT1_CLOSED, PEER_CLOSED, CLOSED, "ewf"),
	ROW(PEER_WAIT1_CLOSED, SHUT_WR, PEER_WAIT1_CLOSED, ""),
	ROW(PEER_WAIT1_CLOSED, CLOSE, PEER_WAIT1_CLOSED, ""),
	ROW(PEER_WAIT1_CLOSED, ABORT, CLOSED, "f"),
	ROW(PEER_WAIT1_CLOSED, TIMEOUT, CLOSED, "f"),
	ROW(PEER_WAIT1_CLOSED, PEER_ABORTED, CLOSED, "f"),

	/* R-CLS-09, A-36 */
	ROW(PEER_WAIT2, SHUT_WR, PEER_WAIT2, ""),
	ROW(PEER_WAIT2, CLOSE, PEER_WAIT2_CLOSED, "Cw"),
	ROW(PEER_WAIT2, PEER_DONE, PEER_WAIT2, ""),
	ROW(PEER_WAIT2, PEER_CLOSED, APP_FIN_WAIT, "ew"),
	ROW(PEER_WAIT2, ABORT, ABORT_WAIT, "A"),
	ROW(PEER_WAIT2, TIMEOUT, ABORT_WAIT, "A"),
	ROW(PEER_WAIT2, PEER_ABORTED, CLOSED, "Af"),

	/* R-CLS-08 */
	ROW(PEER_WAIT2_CLOSED, PEER_DONE, PEER_WAIT2_CLOSED, ""),
	ROW(PEER_WAIT2_CLOSED, PEER_CLOSED, CLOSED, "f"),
	ROW(PEER_WAIT2_CLOSED, SHUT_WR, PEER_WAIT2_CLOSED, ""),
	ROW(PEER_WAIT2_CLOSED, CLOSE, PEER_WAIT2_CLOSED, ""),
	ROW(PEER_WAIT2_CLOSED, ABORT, CLOSED, "f"),
	ROW(PEER_WAIT2_CLOSED, TIMEOUT, CLOSED, "f"),
	ROW(PEER_WAIT2_CLOSED, PEER_ABORTED, CLOSED, "f"),

	/* R-CLS-09, A-39 */
	ROW(APP_FIN_WAIT, SHUT_WR, APP_FIN_WAIT, ""),
	ROW(APP_FIN_WAIT, CLOSE, CLOSED, "Cwf"),
	ROW(APP_FIN_WAIT, PEER_DONE, APP_FIN_WAIT, ""),
	ROW(APP_FIN_WAIT, PEER_CLOSED, APP_FIN_WAIT, ""),
	ROW(APP_FIN_WAIT, ABORT, CLOSED, "Af"),
	ROW(APP_FIN_WAIT, TIMEOUT, CLOSED, "Af"),
	ROW(APP_FIN_WAIT, PEER_ABORTED, CLOSED, "Af"),

	/* R-CLS-12, R-CLS-13 */
	ROW(APP_WAIT1, SHUT_WR, APP_WAIT2, "D"),
	ROW(APP_WAIT1, CLOSE, PEER_FIN_WAIT, "Cw"),
	ROW(APP_WAIT1, PEER_DONE, APP_WAIT1, ""),
	ROW(APP_WAIT1, PEER_CLOSED, APP_WAIT1_CLOSED, "ew"),
	ROW(APP_WAIT1, ABORT, ABORT_WAIT, "Aewr"),
	ROW(APP_WAIT1, TIMEOUT, ABORT_WAIT, "Aewr"),
	ROW(APP_WAIT1, PEER_ABORTED, CLOSED, "Aewrf"),

	/* R-CLS-12, R-CLS-13, A-39 */
	ROW(APP_WAIT1_CLOSED, SHUT_WR, APP_WAIT2_CLOSED, "D"),
	ROW(APP_WAIT1_CLOSED, CLOSE, CLOSED, "Cwf"),
	ROW(APP_WAIT1_CLOSED, PEER_DONE, APP_WAIT1_CLOSED, ""),
	ROW(APP_WAIT1_CLOSED, PEER_CLOSED, APP_WAIT1_CLOSED, ""),
	ROW(APP_WAIT1_CLOSED, ABORT, CLOSED, "Aewrf"),
	ROW(APP_WAIT1_CLOSED, TIMEOUT, CLOSED, "Aewrf"),
	ROW(APP_WAIT1_CLOSED, PEER_ABORTED, CLOSED, "Aewrf"),

	/* R-CLS-13 */
	ROW(APP_WAIT2, SHUT_WR, APP_WAIT2, ""),
	ROW(APP_WAIT2, CLOSE, PEER_FIN_WAIT, "Cw"),
	ROW(APP_WAIT2, PEER_DONE, APP_WAIT2, ""),
	ROW(APP_WAIT2, PEER_CLOSED, APP_WAIT2_CLOSED, "ew"),
	ROW(APP_WAIT2, ABORT, ABORT_WAIT, "A"),
	ROW(APP_WAIT2, TIMEOUT, ABORT_WAIT, "A"),
	ROW(APP_WAIT2, PEER_ABORTED, CLOSED, "Af"),

	/* R-CLS-13 */
	ROW(APP_WAIT2_CLOSED, SHUT_WR, APP_WAIT2_CLOSED, ""),
	ROW(APP_WAIT2_CLOSED, CLOSE, CLOSED, "Cwf"),
	ROW(APP_WAIT2_CLOSED, PEER_DONE, APP_WAIT2_CLOSED, ""),
	ROW(APP_WAIT2_CLOSED, PEER_CLOSED, APP_WAIT2_CLOSED, ""),
	ROW(APP_WAIT2_CLOSED, ABORT, CLOSED, "Af"),
	ROW(APP_WAIT2_CLOSED, TIMEOUT, CLOSED, "Af"),
	ROW(APP_WAIT2_CLOSED, PEER_ABORTED, CLOSED, "Af"),

	/* R-CLS-14 */
	ROW(PEER_FIN_WAIT, PEER_DONE, PEER_FIN_WAIT, ""),
	ROW(PEER_FIN_WAIT, PEER_CLOSED, CLOSED, "f"),
	ROW(PEER_FIN_WAIT, SHUT_WR, PEER_FIN_WAIT, ""),
	ROW(PEER_FIN_WAIT, CLOSE, PEER_FIN_WAIT, ""),
	ROW(PEER_FIN_WAIT, ABORT, CLOSED, "f"),
	ROW(PEER_FIN_WAIT, TIMEOUT, CLOSED, "f"),
	ROW(PEER_FIN_WAIT, PEER_ABORTED, CLOSED, "f"),

	/* R-ABT-03, R-ABT-04, R-ABT-05, R-ABT-09 */
	ROW(ABORT_WAIT, SHUT_WR, ABORT_WAIT, ""),
	ROW(ABORT_WAIT, CLOSE, ABORT_WAIT, ""),
	ROW(ABORT_WAIT, ABORT, ABORT_WAIT, ""),
	ROW(ABORT_WAIT, PEER_DONE, ABORT_WAIT, ""),
	ROW(ABORT_WAIT, PEER_CLOSED, CLOSED, "f"),
	ROW(ABORT_WAIT, PEER_ABORTED, CLOSED, "f"),
	ROW(ABORT_WAIT, TIMEOUT, CLOSED, "f"),

	/* The final state: no event has an action, in particular no second f */
	ROW(CLOSED, SHUT_WR, CLOSED, ""),
	ROW(CLOSED, CLOSE, CLOSED, ""),
	ROW(CLOSED, ABORT, CLOSED, ""),
	ROW(CLOSED, PEER_DONE, CLOSED, ""),
	ROW(CLOSED, PEER_CLOSED, CLOSED, ""),
	ROW(CLOSED, PEER_ABORTED, CLOSED, ""),
	ROW(CLOSED, TIMEOUT, CLOSED, ""),
};

static u8 action_bit(char letter)
{
	switch (letter) {
	case 'D':
		return SMC_CLOSE_SEND_DONE;
	case 'C':
		return SMC_CLOSE_SEND_CLOSED;
	case 'A':
		return SMC_CLOSE_SEND_ABORT;
	case 'e':
		return SMC_CLOSE_EOF;
	case 'w':
		return SMC_CLOSE_NO_WRITE;
	case 'r':
		return SMC_CLOSE_RESET;
	case 'f':
		return SMC_CLOSE_FREE;
	}
	return 0;
}

/* RFC 7609, 4.8: all rows, and each pair of state and event in exactly one of them */
static void every_row(struct kunit *test)
{
	u8 seen[SMC_CLOSE_STATES][SMC_CLOSE_EVENTS] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct smc_close_step step = smc_close_step(row->from, row->event);
		const char *letter;
		u8 actions = 0;

		for (letter = row->actions; *letter; letter++)
			actions |= action_bit(*letter);
		KUNIT_EXPECT_EQ_MSG(test, step.next, row->to, "state %s, event %d",
				    smc_close_state_name(row->from), row->event);
		KUNIT_EXPECT_EQ_MSG(test, step.actions, actions, "state %s, event %d",
				    smc_close_state_name(row->from), row->event);
		KUNIT_EXPECT_EQ(test, seen[row->from][row->event], 0);
		seen[row->from][row->event] = 1;
	}
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(rows), SMC_CLOSE_STATES * SMC_CLOSE_EVENTS);
}

/* Mark each state that events can reach from @start, including @start */
static void mark_reachable(enum smc_close_state start, bool *marked)
{
	bool more = true;
	int state, event;

	marked[start] = true;
	while (more) {
		more = false;
		for (state = 0; state < SMC_CLOSE_STATES; state++) {
			for (event = 0; marked[state] && event < SMC_CLOSE_EVENTS; event++) {
				struct smc_close_step step = smc_close_step(state, event);

				more |= !marked[step.next];
				marked[step.next] = true;
			}
		}
	}
}

/* R-CDC-10, R-CLS-19, R-ABT-12: "closed" and "abnormal close" are final messages */
static void nothing_after_last_word(struct kunit *test)
{
	int from, by, state, event, checked = 0;

	for (from = 0; from < SMC_CLOSE_STATES; from++) {
		for (by = 0; by < SMC_CLOSE_EVENTS; by++) {
			struct smc_close_step last = smc_close_step(from, by);
			bool after[SMC_CLOSE_STATES] = {};

			if (!(last.actions & (SMC_CLOSE_SEND_CLOSED | SMC_CLOSE_SEND_ABORT)))
				continue;
			mark_reachable(last.next, after);
			for (state = 0; state < SMC_CLOSE_STATES; state++) {
				for (event = 0; after[state] && event < SMC_CLOSE_EVENTS; event++) {
					struct smc_close_step step = smc_close_step(state, event);

					KUNIT_EXPECT_EQ_MSG(test, step.actions & SENDS, 0,
							    "%d on %d, then %d on %d",
							    by, from, event, state);
					checked++;
				}
			}
		}
	}
	KUNIT_EXPECT_GT(test, checked, 0);
}

/* One step sends at most one flag; "done" is sent at most once (R-CLS-02) */
static void one_word_at_a_time(struct kunit *test)
{
	int from, event, state;

	for (from = 0; from < SMC_CLOSE_STATES; from++) {
		for (event = 0; event < SMC_CLOSE_EVENTS; event++) {
			struct smc_close_step step = smc_close_step(from, event);
			u8 sent = step.actions & SENDS;
			bool after[SMC_CLOSE_STATES] = {};

			KUNIT_EXPECT_EQ(test, sent & (sent - 1), 0);
			if (sent != SMC_CLOSE_SEND_DONE)
				continue;
			mark_reachable(step.next, after);
			for (state = 0; state < SMC_CLOSE_STATES; state++) {
				if (!after[state])
					continue;
				step = smc_close_step(state, SMC_CLOSE_SHUT_WR);
				KUNIT_EXPECT_EQ(test, step.actions, 0);
				KUNIT_EXPECT_EQ(test, step.next, state);
			}
		}
	}
}

/* Each later CDC message repeats the flags, so each event occurs many times */
static void repeated_peer_events(struct kunit *test)
{
	static const enum smc_close_event peer[] = {
		SMC_CLOSE_PEER_DONE, SMC_CLOSE_PEER_CLOSED, SMC_CLOSE_PEER_ABORTED,
	};
	int state, first, again;

	for (state = 0; state < SMC_CLOSE_STATES; state++) {
		for (first = 0; first < ARRAY_SIZE(peer); first++) {
			enum smc_close_state now = smc_close_step(state, peer[first]).next;

			/* "closed" implies "done", and the abort implies both */
			for (again = 0; again <= first; again++) {
				struct smc_close_step step = smc_close_step(now, peer[again]);

				KUNIT_EXPECT_EQ_MSG(test, step.next, now, "%d after %d in %d",
						    peer[again], peer[first], state);
				KUNIT_EXPECT_EQ_MSG(test, step.actions, 0, "%d after %d in %d",
						    peer[again], peer[first], state);
			}
		}
	}
}

/* R-CLS-15, R-ABT-05, R-ABT-11: a timeout ends each state of a silent peer and frees the buffer */
static void silence_ends(struct kunit *test)
{
	int from;

	for (from = 0; from < SMC_CLOSE_CLOSED; from++) {
		enum smc_close_state state = from;
		int steps = 0, freed = 0;

		while (state != SMC_CLOSE_CLOSED && steps < 2) {
			struct smc_close_step step = smc_close_step(state, SMC_CLOSE_TIMEOUT);

			freed += !!(step.actions & SMC_CLOSE_FREE);
			state = step.next;
			steps++;
		}
		KUNIT_EXPECT_EQ_MSG(test, state, SMC_CLOSE_CLOSED, "from %d", from);
		KUNIT_EXPECT_EQ_MSG(test, freed, 1, "from %d", from);
	}
}

/* R-CLS-08, R-CLS-13, R-CLS-14: both sides close, in either order and from any state */
static void both_close(struct kunit *test)
{
	static const enum smc_close_event orders[][2] = {
		{ SMC_CLOSE_CLOSE, SMC_CLOSE_PEER_CLOSED },
		{ SMC_CLOSE_PEER_CLOSED, SMC_CLOSE_CLOSE },
	};
	int from, i;

	for (from = 0; from < SMC_CLOSE_ABORT_WAIT; from++) {
		for (i = 0; i < ARRAY_SIZE(orders); i++) {
			struct smc_close_step one = smc_close_step(from, orders[i][0]);
			struct smc_close_step two = smc_close_step(one.next, orders[i][1]);

			KUNIT_EXPECT_EQ_MSG(test, two.next, SMC_CLOSE_CLOSED, "from %d", from);
			KUNIT_EXPECT_EQ_MSG(test, (one.actions & SMC_CLOSE_FREE) ^
					    (two.actions & SMC_CLOSE_FREE), SMC_CLOSE_FREE,
					    "from %d", from);
			KUNIT_EXPECT_EQ_MSG(test, (one.actions | two.actions) &
					    (SMC_CLOSE_SEND_ABORT | SMC_CLOSE_RESET), 0,
					    "from %d", from);
		}
	}
}

/*
 * R-RMB-13, R-CLS-20, R-ABT-11: only the step into CLOSED frees the buffer. By then both sides have
 * sent their final message, or one side has given up.
 */
static void free_at_the_end(struct kunit *test)
{
	int from, event;

	for (from = 0; from < SMC_CLOSE_STATES; from++) {
		for (event = 0; event < SMC_CLOSE_EVENTS; event++) {
			struct smc_close_step step = smc_close_step(from, event);
			bool enters = from != SMC_CLOSE_CLOSED && step.next == SMC_CLOSE_CLOSED;

			KUNIT_EXPECT_EQ_MSG(test, !!(step.actions & SMC_CLOSE_FREE), enters,
					    "event %d in %d", event, from);
			if (enters)
				KUNIT_EXPECT_TRUE(test, smc_close_both_done(step.next));
			/* R-ABT-06, R-ABT-10: a reset always ends both directions */
			if (step.actions & SMC_CLOSE_RESET)
				KUNIT_EXPECT_EQ(test, step.actions &
						(SMC_CLOSE_EOF | SMC_CLOSE_NO_WRITE),
						SMC_CLOSE_EOF | SMC_CLOSE_NO_WRITE);
		}
	}
}

/*
 * Two sides and the messages between them, oldest first. A side sends at most two messages: "done",
 * then a final one.
 */
struct end {
	u8 state;
	u8 said[2];	/* 0: empty; else the event that the message causes at the other side */
};

#define END_CODES	(SMC_CLOSE_STATES * 16)

static const u8 words[4] = {
	0, SMC_CLOSE_PEER_DONE, SMC_CLOSE_PEER_CLOSED, SMC_CLOSE_PEER_ABORTED,
};

static u8 word_code(u8 said)
{
	u8 i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i] == said)
			break;
	return i;
}

static u16 end_code(const struct end *end)
{
	return (end->state * 4 + word_code(end->said[0])) * 4 + word_code(end->said[1]);
}

static u16 pair_code(const struct end pair[2])
{
	return end_code(&pair[0]) * END_CODES + end_code(&pair[1]);
}

static void pair_from_code(u16 code, struct end pair[2])
{
	u16 half[2] = { code / END_CODES, code % END_CODES };
	int i;

	for (i = 0; i < 2; i++) {
		pair[i].said[1] = words[half[i] % 4];
		pair[i].said[0] = words[half[i] / 4 % 4];
		pair[i].state = half[i] / 16;
	}
}

/* Apply an event at one side and send its messages. Return: the actions */
static u8 happens(struct kunit *test, struct end *end, u8 event)
{
	struct smc_close_step step = smc_close_step(end->state, event);
	u8 word = 0;

	if (step.actions & SMC_CLOSE_SEND_DONE)
		word = SMC_CLOSE_PEER_DONE;
	if (step.actions & SMC_CLOSE_SEND_CLOSED)
		word = SMC_CLOSE_PEER_CLOSED;
	if (step.actions & SMC_CLOSE_SEND_ABORT)
		word = SMC_CLOSE_PEER_ABORTED;
	end->state = step.next;
	if (word) {
		KUNIT_ASSERT_EQ(test, end->said[1], 0);
		end->said[end->said[0] ? 1 : 0] = word;
	}
	return step.actions;
}

/* Deliver the oldest message of @from to @to */
static u8 arrives(struct kunit *test, struct end *from, struct end *to)
{
	u8 word = from->said[0];

	from->said[0] = from->said[1];
	from->said[1] = 0;
	return word ? happens(test, to, word) : 0;
}

/* Has the side in this state sent its final message? */
static bool is_silent(u8 state)
{
	return state == SMC_CLOSE_PEER_WAIT1_CLOSED || state == SMC_CLOSE_PEER_WAIT2_CLOSED ||
	       state == SMC_CLOSE_PEER_FIN_WAIT || state == SMC_CLOSE_ABORT_WAIT ||
	       state == SMC_CLOSE_CLOSED;
}

/* Each possible next step of side @i: one of the events, or a message of the other side */
static void explore(struct kunit *test, u8 *seen, const struct end pair[2], int i,
		    const u8 *events, int nr_events)
{
	int k;

	for (k = 0; k <= nr_events; k++) {
		struct end next[2] = { pair[0], pair[1] };
		u8 actions;

		if (k < nr_events)
			actions = happens(test, &next[i], events[k]);
		else
			actions = arrives(test, &next[!i], &next[i]);
		/* Unless this side gave up, the other one writes no more (R-CLS-20) */
		if (actions & SMC_CLOSE_FREE && k == nr_events)
			KUNIT_ASSERT_TRUE(test, is_silent(next[!i].state));
		if (!seen[pair_code(next)])	/* 1: to be explored, 2: done */
			seen[pair_code(next)] = 1;
	}
}

/* Mark all pairs of states that events at both sides can reach. Return: their number */
static int explore_all(struct kunit *test, u8 *seen, const u8 *events, int nr_events)
{
	struct end pair[2] = {};
	int code, nr = 0, before;

	seen[pair_code(pair)] = 1;
	do {
		before = nr;
		for (code = 0; code < END_CODES * END_CODES; code++) {
			if (seen[code] != 1)
				continue;
			seen[code] = 2;
			nr++;
			pair_from_code(code, pair);
			explore(test, seen, pair, 0, events, nr_events);
			explore(test, seen, pair, 1, events, nr_events);
		}
	} while (nr != before);
	return nr;
}

/*
 * R-CLS-17, R-CLS-20: once both well-behaved sides have closed, both reach CLOSED without an abort,
 * regardless of their earlier steps and of crossing messages.
 */
static void two_ends_close(struct kunit *test)
{
	static const u8 events[] = { SMC_CLOSE_SHUT_WR, SMC_CLOSE_CLOSE };
	u8 *seen = kunit_kzalloc(test, END_CODES * END_CODES, GFP_KERNEL);
	int code, i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_GT(test, explore_all(test, seen, events, ARRAY_SIZE(events)), 50);
	for (code = 0; code < END_CODES * END_CODES; code++) {
		struct end pair[2];
		u8 actions = 0;

		if (!seen[code])
			continue;
		pair_from_code(code, pair);
		for (i = 0; i < 2; i++)
			actions |= happens(test, &pair[i], SMC_CLOSE_CLOSE);
		for (i = 0; i < 4; i++)
			actions |= arrives(test, &pair[i & 1], &pair[!(i & 1)]);
		KUNIT_EXPECT_EQ_MSG(test, pair[0].state, SMC_CLOSE_CLOSED, "pair %d", code);
		KUNIT_EXPECT_EQ_MSG(test, pair[1].state, SMC_CLOSE_CLOSED, "pair %d", code);
		KUNIT_EXPECT_EQ(test, actions & (SMC_CLOSE_SEND_ABORT | SMC_CLOSE_RESET), 0);
	}
}

/*
 * R-ABT-02, R-ABT-07, R-ABT-09, R-ABT-12, A-37: the same with aborts at any time. Each
 * side reaches CLOSED, even if "closed" and an abort cross.
 */
static void two_ends_abort(struct kunit *test)
{
	static const u8 events[] = {
		SMC_CLOSE_SHUT_WR, SMC_CLOSE_CLOSE, SMC_CLOSE_ABORT, SMC_CLOSE_TIMEOUT,
	};
	u8 *seen = kunit_kzalloc(test, END_CODES * END_CODES, GFP_KERNEL);
	int code, i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_GT(test, explore_all(test, seen, events, ARRAY_SIZE(events)), 100);
	for (code = 0; code < END_CODES * END_CODES; code++) {
		struct end pair[2];

		if (!seen[code])
			continue;
		pair_from_code(code, pair);
		for (i = 0; i < 2; i++)
			happens(test, &pair[i], SMC_CLOSE_CLOSE);
		for (i = 0; i < 6; i++)
			arrives(test, &pair[i & 1], &pair[!(i & 1)]);
		for (i = 0; i < 2; i++)
			KUNIT_EXPECT_EQ_MSG(test, pair[i].state, SMC_CLOSE_CLOSED, "pair %d", code);
	}
}

/* Name, number and TCP's state of each state, as tools and programs see it */
static const struct shown_row {
	enum smc_close_state state;
	const char *name;
	u8 abi;
	u8 tcp;
	bool ended;
} shown_rows[] = {
	{ SMC_CLOSE_ACTIVE, "ACTIVE", 1, TCP_ESTABLISHED, false },
	{ SMC_CLOSE_PEER_WAIT1, "PEERCLOSEWAIT1", 20, TCP_FIN_WAIT2, false },
	{ SMC_CLOSE_PEER_WAIT1_CLOSED, "PEERCLOSEWAIT1", 20, TCP_FIN_WAIT2, true },
	{ SMC_CLOSE_PEER_WAIT2, "PEERCLOSEWAIT2", 21, TCP_CLOSE, false },
	{ SMC_CLOSE_PEER_WAIT2_CLOSED, "PEERCLOSEWAIT2", 21, TCP_CLOSE, true },
	{ SMC_CLOSE_APP_FIN_WAIT, "APPFINCLOSEWAIT1", 24, TCP_CLOSE, false },
	{ SMC_CLOSE_APP_WAIT1, "APPCLOSEWAIT1", 22, TCP_CLOSE_WAIT, false },
	{ SMC_CLOSE_APP_WAIT1_CLOSED, "APPCLOSEWAIT1", 22, TCP_CLOSE_WAIT, false },
	{ SMC_CLOSE_APP_WAIT2, "APPCLOSEWAIT2", 23, TCP_CLOSE, false },
	{ SMC_CLOSE_APP_WAIT2_CLOSED, "APPCLOSEWAIT2", 23, TCP_CLOSE, false },
	{ SMC_CLOSE_PEER_FIN_WAIT, "PEERFINCLOSEWAIT", 25, TCP_CLOSE, true },
	{ SMC_CLOSE_ABORT_WAIT, "PEERABORTWAIT", 26, TCP_CLOSE, true },
	{ SMC_CLOSE_CLOSED, "CLOSED", 7, TCP_CLOSE, true },
};

static void shown(struct kunit *test)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(shown_rows), SMC_CLOSE_STATES);
	for (i = 0; i < ARRAY_SIZE(shown_rows); i++) {
		const struct shown_row *row = &shown_rows[i];

		KUNIT_EXPECT_EQ(test, row->state, i);
		KUNIT_EXPECT_STREQ(test, smc_close_state_name(row->state), row->name);
		KUNIT_EXPECT_EQ_MSG(test, smc_close_state_abi(row->state), row->abi, "%s",
				    row->name);
		KUNIT_EXPECT_EQ_MSG(test, smc_close_tcp_state(row->state), row->tcp, "%s",
				    row->name);
		KUNIT_EXPECT_EQ_MSG(test, smc_close_both_done(row->state), row->tcp == TCP_CLOSE,
				    "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, smc_close_ended(row->state), row->ended, "%s", row->name);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(every_row),
	KUNIT_CASE(nothing_after_last_word),
	KUNIT_CASE(one_word_at_a_time),
	KUNIT_CASE(repeated_peer_events),
	KUNIT_CASE(silence_ends),
	KUNIT_CASE(both_close),
	KUNIT_CASE(free_at_the_end),
	KUNIT_CASE(two_ends_close),
	KUNIT_CASE(two_ends_abort),
	KUNIT_CASE(shown),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_close_fsm",
	.test_cases = cases,
};

kunit_test_suite(suite);

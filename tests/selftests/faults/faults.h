/* SPDX-License-Identifier: GPL-2.0-only */
/* One call of the kernel after the other fails while two programs talk */
#ifndef FAULTS_H
#define FAULTS_H

#include "../socket/pair.h"

extern const struct variant variants[];

/**
 * enum result - how a conversation ended, if nothing was wrong with it
 * @OVER_SMC: all was said, over SMC
 * @OVER_TCP: all was said, over TCP
 * @REFUSED: a call failed with an error which programs expect of TCP
 * @WRONG: something that must not happen, which was printed
 */
enum result {
	OVER_SMC,
	OVER_TCP,
	REFUSED,
	WRONG,
	NR_RESULTS
};

/*
 * Both programs, in a process of its own. Polled: they never block but in poll(). Twice: over a
 * second connection as well, if there was a first one.
 */
enum result talk(bool polled, bool twice);

#endif /* FAULTS_H */

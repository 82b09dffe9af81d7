/* SPDX-License-Identifier: GPL-2.0-only */
/* The process at one end of a connection */
#ifndef TORTURE_END_H
#define TORTURE_END_H

#include "torture.h"

void end_run(struct end *end) __attribute__((noreturn));	/* the socket is connected */

#endif /* TORTURE_END_H */

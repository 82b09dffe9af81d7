/* SPDX-License-Identifier: GPL-2.0-only */
/* Measuring a program from its start to its end. */
#ifndef SMCBENCH_EXEC_H
#define SMCBENCH_EXEC_H

#include "bench.h"

/* Run @argv, which does @ops operations; report the cost. Returns its status. */
int exec_measured(char **argv, uint64_t ops);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of net/smc/group/conn.h: the test has no connections */
#ifndef _TESTS_UNIT_LLC_CONN_H
#define _TESTS_UNIT_LLC_CONN_H

#include "transport.h"

#endif /* _TESTS_UNIT_LLC_CONN_H */

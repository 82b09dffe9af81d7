/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library has the states of TCP in another header */
#ifndef _TESTS_UNIT_NET_TCP_STATES_H
#define _TESTS_UNIT_NET_TCP_STATES_H

#include <netinet/tcp.h>

#endif /* _TESTS_UNIT_NET_TCP_STATES_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels before 6.10 declare this in net/sock.h */
#ifdef SMC_HAVE_NET_RPS_H
#include_next <net/rps.h>
#else
#include <net/sock.h>
#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels before 6.11 always have version 1 of memory cgroups */
#include_next <linux/memcontrol.h>
#if defined(CONFIG_MEMCG) && !defined(CONFIG_MEMCG_V1) && !defined(SMC_HAVE_MEMCG_V1_OPTION)
#define CONFIG_MEMCG_V1 1
#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels before 6.12 have only asm/unaligned.h */
#ifdef SMC_HAVE_LINUX_UNALIGNED_H
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

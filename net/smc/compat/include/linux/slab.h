/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels before 6.12 charge an object to a memory cgroup only when they allocate it */
#ifndef _NET_SMC_COMPAT_LINUX_SLAB_H
#define _NET_SMC_COMPAT_LINUX_SLAB_H

#include_next <linux/slab.h>

#ifndef SMC_HAVE_KMEM_CACHE_CHARGE
static inline bool kmem_cache_charge(void *object, gfp_t flags)
{
	return true;
}
#endif

#endif /* _NET_SMC_COMPAT_LINUX_SLAB_H */

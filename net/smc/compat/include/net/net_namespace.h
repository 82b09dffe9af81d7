/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SMC_COMPAT_NET_NET_NAMESPACE_H
#define _SMC_COMPAT_NET_NET_NAMESPACE_H

#include_next <net/net_namespace.h>

/*
 * Since 6.6 the size of a sysctl table is an argument, and the old function is a macro. Older
 * kernels stop at an empty row.
 */
#ifndef register_net_sysctl
#define register_net_sysctl_sz(net, path, table, size) register_net_sysctl(net, path, table)
#endif

#endif /* _SMC_COMPAT_NET_NET_NAMESPACE_H */

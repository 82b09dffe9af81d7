/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SMC_COMPAT_NET_NETLINK_H
#define _SMC_COMPAT_NET_NETLINK_H

#include_next <net/netlink.h>

/* Since 6.7: an integer that takes 4 bytes if it fits, else 8 */
#ifndef SMC_HAVE_NLA_PUT_UINT
static inline int nla_put_uint(struct sk_buff *skb, int attrtype, u64 value)
{
	u32 tmp32 = value;
	u64 tmp64 = value;

	if (tmp64 == tmp32)
		return nla_put_u32(skb, attrtype, tmp32);
	return nla_put(skb, attrtype, sizeof(tmp64), &tmp64);
}
#endif

#endif /* _SMC_COMPAT_NET_NETLINK_H */

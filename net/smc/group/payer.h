/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The share of a memory cgroup that buffers may use.
 */
#ifndef _NET_SMC_GROUP_PAYER_H
#define _NET_SMC_GROUP_PAYER_H

#include <linux/types.h>

struct smc_payer;
struct sock;

#ifdef CONFIG_MEMCG
struct smc_payer *smc_payer_get(const struct sock *sk);
void smc_payer_put(struct smc_payer *payer);
struct sock *smc_payer_open_account(const struct smc_payer *payer);
void smc_payer_close_account(struct sock *account);
u32 smc_payer_offer(const struct smc_payer *payer, u32 bytes);
bool smc_payer_take(struct smc_payer *payer, u32 bytes);
void smc_payer_give(struct smc_payer *payer, u32 bytes);
#else
static inline struct smc_payer *smc_payer_get(const struct sock *sk)
{
	return NULL;
}

static inline void smc_payer_put(struct smc_payer *payer)
{
}

static inline struct sock *smc_payer_open_account(const struct smc_payer *payer)
{
	return NULL;
}

static inline void smc_payer_close_account(struct sock *account)
{
}

static inline u32 smc_payer_offer(const struct smc_payer *payer, u32 bytes)
{
	return bytes;
}

static inline bool smc_payer_take(struct smc_payer *payer, u32 bytes)
{
	return true;
}

static inline void smc_payer_give(struct smc_payer *payer, u32 bytes)
{
}
#endif

#endif /* _NET_SMC_GROUP_PAYER_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PNET table of a namespace: which interfaces and devices are on the same physical network, as
 * configured by the operator.
 */
#ifndef _NET_SMC_CONFIG_PNET_H
#define _NET_SMC_CONFIG_PNET_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include "../wire/eid.h"

struct net_device;

#define SMC_PNET_NAME_LEN	64	/* maximum length of a name, with NUL */
#define SMC_PNET_PORTS		6	/* ports of a device are 1 to 6 */
#define SMC_PNET_ISM_PORT	1	/* the only port of an ISM device */
#define SMC_PNET_ENTRIES	1024	/* limits the time of a handshake's look-up */

/**
 * struct smc_pnet - the PNET table
 * @lock: protects all fields; a BH lock, no other lock is taken under it
 * @entries: in the order they were added
 * @nr: number of entries, at most SMC_PNET_ENTRIES
 * @last_serial: serial number of the newest entry
 */
struct smc_pnet {
	spinlock_t lock;	/* protects all fields */
	struct list_head entries;
	unsigned int nr;
	u64 last_serial;
};

/**
 * struct smc_pnet_entry - one entry
 * @list: in smc_pnet.entries
 * @serial: serial number, never reused
 * @pnetid: PNET ID of the network
 * @port: port of a device, 0 for an interface
 * @name: name of the interface, or of the RDMA or ISM device
 */
struct smc_pnet_entry {
	struct list_head list;
	u64 serial;
	struct smc_pnetid pnetid;
	u8 port;
	char name[SMC_PNET_NAME_LEN];
};

void smc_pnet_init(struct smc_pnet *pnet);
int smc_pnet_add(struct smc_pnet *pnet, const struct smc_pnetid *id, const char *interface,
		 const char *device, u8 port);
int smc_pnet_remove(struct smc_pnet *pnet, const struct smc_pnetid *id);
void smc_pnet_flush(struct smc_pnet *pnet);
bool smc_pnet_next(struct smc_pnet *pnet, u64 serial, struct smc_pnet_entry *out);

bool smc_pnet_find_device(struct smc_pnet *pnet, const char *name, u8 port,
			  struct smc_pnetid *out);
bool smc_pnet_find_interface(struct smc_pnet *pnet, struct net_device *dev,
			     struct smc_pnetid *out);

#endif /* _NET_SMC_CONFIG_PNET_H */

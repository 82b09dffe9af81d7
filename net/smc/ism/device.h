/* SPDX-License-Identifier: GPL-2.0-only */
/* Registry of ISM devices */
#ifndef _NET_SMC_ISM_DEVICE_H
#define _NET_SMC_ISM_DEVICE_H

#include <net/smc_ism.h>

unsigned int smcd_device_list(struct smc_ism_device **list, unsigned int max);
struct smc_ism_device *smcd_device_nth(unsigned int n);
void smcd_device_get(struct smc_ism_device *dev);
void smcd_device_put(struct smc_ism_device *dev);

#endif /* _NET_SMC_ISM_DEVICE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Emulated ISM device for connections within one kernel */
#ifndef _NET_SMC_ISM_LOOPBACK_H
#define _NET_SMC_ISM_LOOPBACK_H

int smcd_loopback_init(void);
void smcd_loopback_exit(void);

#endif /* _NET_SMC_ISM_LOOPBACK_H */

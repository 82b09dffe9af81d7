/* SPDX-License-Identifier: GPL-2.0-only */
/* SMC-D: group/transport.h over ISM devices */
#ifndef _NET_SMC_ISM_TRANSPORT_H
#define _NET_SMC_ISM_TRANSPORT_H

int smcd_transport_init(void);
void smcd_transport_exit(void);

#endif /* _NET_SMC_ISM_TRANSPORT_H */

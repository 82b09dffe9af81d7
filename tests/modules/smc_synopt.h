/* SPDX-License-Identifier: GPL-2.0-only */
/* ioctls of /dev/smc_synopt; shared with user space */
#ifndef SMC_SYNOPT_H
#define SMC_SYNOPT_H

#include <linux/ioctl.h>

/* The argument is the descriptor of a TCP socket */
#define SMC_SYNOPT_OFFER	_IO('s', 1)	/* send the SMC option in its SYN or SYN-ACK */
#define SMC_SYNOPT_AGREED	_IO('s', 2)	/* returns 1 if both sides sent it, else 0 */

#endif /* SMC_SYNOPT_H */

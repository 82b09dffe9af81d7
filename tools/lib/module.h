/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the module smc, read from files */
#ifndef SMC_TOOLS_MODULE_H
#define SMC_TOOLS_MODULE_H

#include <stdbool.h>

/* Message of a tool if AF_SMC sockets exist, but module_variants() fails */
#define MODULE_IS_OTHER	"the module smc that is loaded is not the one of this tool"
#define MODULE_ADVICE	"see \"modinfo -F filename smc\""

/* Values of net.smc.variants */
#define MODULE_VARIANTS_ALL	15
#define MODULE_VARIANTS_R	(1 | 4)
#define MODULE_VARIANTS_D	8	/* version 1 is not implemented */

/**
 * module_is_loaded() - test for the module without loading it
 *
 * Creating a socket or using generic netlink would load it.
 *
 * Returns: false only if it is certainly not loaded.
 */
bool module_is_loaded(void);

/**
 * module_variants() - read net.smc.variants of this network namespace
 *
 * The kernel's own module does not have this sysctl.
 *
 * Returns: the allowed variants, or a negative errno, -ENOENT if the sysctl does not exist.
 */
int module_variants(void);

#endif /* SMC_TOOLS_MODULE_H */

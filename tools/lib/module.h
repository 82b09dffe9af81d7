/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module smc, as far as it tells by files.
 */
#ifndef SMC_TOOLS_MODULE_H
#define SMC_TOOLS_MODULE_H

#include <stdbool.h>

/* What a tool says when there are AF_SMC sockets, but module_variants() fails */
#define MODULE_IS_OTHER	"the module smc that is loaded is not the one of this tool"
#define MODULE_ADVICE	"see \"modinfo -F filename smc\""

/* Values of net.smc.variants */
#define MODULE_VARIANTS_ALL	15
#define MODULE_VARIANTS_R	(1 | 4)
#define MODULE_VARIANTS_D	8	/* version 1 is not implemented */

/**
 * module_is_loaded() - look for the module without loading it
 *
 * Asking the kernel for a socket or for generic netlink loads it.
 *
 * Returns: false only if it is certainly not loaded.
 */
bool module_is_loaded(void);

/**
 * module_variants() - read net.smc.variants of this network namespace
 *
 * The kernel's own module does not have it.
 *
 * Returns: which kinds of SMC are allowed, or a negative errno, -ENOENT without the setting.
 */
int module_variants(void);

#endif /* SMC_TOOLS_MODULE_H */

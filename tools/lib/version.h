/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_TOOLS_VERSION_H
#define SMC_TOOLS_VERSION_H

#ifndef SMC_TOOLS_VERSION
#define SMC_TOOLS_VERSION "0.1"
#endif

/* Scripts search for "NAME utility, ..."; the argument is the name */
#define SMC_TOOLS_VERSION_FORMAT "%s utility, smc-" SMC_TOOLS_VERSION \
	" (works like smc-tools-1.8.5)"

#endif /* SMC_TOOLS_VERSION_H */

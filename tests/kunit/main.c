// SPDX-License-Identifier: GPL-2.0-only
/* The module of all suites, which register themselves */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of AF_SMC");
MODULE_LICENSE("GPL");

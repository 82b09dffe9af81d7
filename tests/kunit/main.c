// SPDX-License-Identifier: GPL-2.0-only
/* The module of all suites; they register themselves */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of AF_SMC");
MODULE_LICENSE("GPL");

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A console that shows all but what is for debugging.
#
# expect: no-log
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

echo N >/sys/module/printk/parameters/ignore_loglevel
dmesg -n 7
pass "one that is good"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A test that lowers the level of the console meanwhile.
#
# expect: warning taint
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

dmesg -n 1
defect warn
dmesg -n 8
pass "one that is good"
done_testing

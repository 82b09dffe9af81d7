#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A console that shows nothing any more.
#
# expect: no-log
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

dmesg -n 1
pass "one that is good"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Reading freed memory.
#
# expect: kasan taint
# kernels: debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect use-after-free
pass "one that is good"
done_testing

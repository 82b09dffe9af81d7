#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two locks taken in both orders.
#
# expect: lockdep
# kernels: debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect lock-order
pass "one that is good"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All test points are ok, but the script fails.
#
# expect: exit-status
# kernels: stock-6.12

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pass "one that is good"
echo 1..1
exit 3

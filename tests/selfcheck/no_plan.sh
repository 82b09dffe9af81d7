#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The script ends early with a status of 0, so nobody knows what is missing.
#
# expect: no-verdict
# kernels: stock-6.12

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pass "one that is good"
exit 0

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A test point that is not ok, and a status of 0.
#
# expect: test
# kernels: stock-6.12

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pass "one that is good"
fail "one that is not"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two threads write the same memory.
#
# expect: kcsan
# kernels: kcsan-6.12
# modules: selfcheck
# cpus: 2

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect data-race
pass "one that is good"
done_testing

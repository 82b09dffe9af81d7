#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A WARN() in the kernel.
#
# expect: warning taint
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect warn
pass "went on after the warning"
done_testing

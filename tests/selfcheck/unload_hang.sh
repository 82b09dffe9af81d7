#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# rmmod never returns.
#
# expect: hang
# follows: hung-task
# kernels: stock-6.12
# modules: selfcheck
# timeout: 4

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect unload-hang
pass "one that is good"
done_testing

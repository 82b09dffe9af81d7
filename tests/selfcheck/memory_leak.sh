#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory that nobody can free any more.
#
# expect: leaked
# kernels: debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect memory-leak
pass "one that is good"
done_testing

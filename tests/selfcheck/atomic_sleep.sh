#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sleeping with a spin lock held.
#
# expect: atomic-sleep taint
# follows: lockdep
# kernels: stock-6.12 debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect atomic-sleep
pass "one that is good"
done_testing

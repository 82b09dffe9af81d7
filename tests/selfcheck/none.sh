#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No defect at all: it must pass.
#
# expect: 
# kernels: stock-6.12 debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pass "nothing happens"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A module that cannot be unloaded.
#
# expect: module-stuck
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect stuck-module
pass "one that is good"
done_testing

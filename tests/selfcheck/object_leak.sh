#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An object that is never destroyed.
#
# expect: object-leak
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect object-leak
pass "one that is good"
done_testing

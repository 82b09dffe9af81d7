#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A program that never ends.
#
# expect: hang
# kernels: stock-6.12
# timeout: 4

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pass "one that is good"
exec sleep infinity

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory that nobody can free any more, and nobody who looks for it.
#
# expect: kmemleak
# kernels: debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect memory-leak
echo off >/sys/kernel/debug/kmemleak
pass "one that is good"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A test leaks memory, and switches kmemleak off, so that the agent cannot find it.
#
# expect: kmemleak leaked
# kernels: debug-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect memory-leak
echo off >/sys/kernel/debug/kmemleak
pass "one that is good"
done_testing

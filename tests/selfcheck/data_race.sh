#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two threads write the same memory.
#
# expect: kcsan
# kernels: kcsan-6.12
# modules: selfcheck
# cpus: 2
# timeout: 200

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# The two have to run at the same time; on a busy machine that may take some rounds
tries=20
until [ $tries = 0 ] || dmesg | grep "KCSAN: data-race" >/dev/null; do
	defect data-race
	tries=$((tries - 1))
done
pass "one that is good"
done_testing

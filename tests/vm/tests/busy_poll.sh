#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Busy polling with two processors: it ends waits, which is counted and shown.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
cases busy_poll.py
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Netlink events: link groups, fallbacks, EIDs and the PNET table, each in its namespace.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.12
# modules: smc
# timeout: 240
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
ip netns add other
ip -n other link set lo up
cases events.py
ip netns del other
smc_expect_clean "no object is left over"
done_testing

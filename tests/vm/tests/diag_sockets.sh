#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sock_diag: sockets of both families in every state, with all that is told of them; filters, and
# requests that are short, odd or wrong.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc smc_diag
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
ip netns add other
ip -n other link set lo up
cases sockets.py
ip netns del other
smc_expect_clean "no object is left over"
done_testing

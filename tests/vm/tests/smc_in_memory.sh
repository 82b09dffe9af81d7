#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The messages of a handshake go through memory if both ends are in this kernel; through TCP if the
# server does not get the ACK.
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

ns_pair client server

cases_with_cgroup in_memory.py client server
ip netns del client
ip netns del server
smc_expect_clean "no object is left over"
done_testing

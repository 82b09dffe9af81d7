#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC_GEN_NETLINK: user EIDs, the system EID and the handshake limitation. Every request that must be
# refused is, with the errno that tools know, a text, and no effect.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
ip netns add other
ip -n other link set lo up
cases settings.py
ip netns del other
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A program that keeps a descriptor does not keep the ring of a peer that is gone, in whichever way
# that went; and as long as it does, the ring counts for its own namespace.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ns_pair giver keeper
cases keepers.py giver keeper
ip netns del keeper
smc_expect_clean "no object is left over"
done_testing

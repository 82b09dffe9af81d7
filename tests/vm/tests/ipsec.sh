#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What IPsec protects does not go through shared memory: connections to which a policy applies use
# TCP, with the reason for it on both sides.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc smc_diag
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

modprobe xfrm_user || die "no xfrm_user"
for family in 4 6; do
	modprobe esp$family || die "no esp$family"
	ns_pair client server
	cases ipsec.py client server "$(addr client $family)" "$(addr server $family)"
	ip netns del client
	ip netns del server
done
smc_expect_clean "no object is left over"
done_testing

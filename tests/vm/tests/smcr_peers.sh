#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC-R between two hosts, both with these modules, over software RoCE: versions 2 and 1, IPv4 and
# IPv6, all ways to talk, in both directions; nothing is left over.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# smaller: one direction of each: version 2 over IPv6, version 1 over IPv4.
# modules: smc smc_rdma
# guests: 2
# timeout: 240
# variables: DAILY

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

cases="up down both round_trips half_close buffered urgent abort aborted short"

wire_up
check "an RDMA port" rdma_guest

links=2	# at least
# shellcheck disable=SC2086 # lists
{
	if [ -z "$DAILY" ]; then
		talk a 5001 $cases many
		talk b 5002 $cases
		links=4
	fi
	talk6 b 5003 $cases
	echo 1 >/proc/sys/net/smc/variants
	talk a 5004 $cases
}
is "nothing became TCP" "$(smc_stat "" "TCP fallback")" 0
check "links were there" test "$(objects link created)" -ge $links
check "connections end" wait_for "connections to end" no_connection
sync idle
check "idle groups do not hold the module" unload smc_rdma
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC-R between two hosts, both with these modules, over software RoCE: versions 2 and 1, IPv4 and
# IPv6, all ways to talk, in both directions; nothing is left over.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc smc_rdma
# guests: 2
# timeout: 240

# shellcheck disable=SC2317 # check() calls it
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

cases="up down both round_trips half_close urgent abort aborted short"

wire_up
check "an RDMA port" rdma_guest

other() {
	[ "$VM_GUEST" = a ] && echo "$PEER_ADDR" || echo "$MY_ADDR"
}

mine() {
	[ "$VM_GUEST" = a ] && echo "$MY_ADDR" || echo "$PEER_ADDR"
}

# shellcheck disable=SC2086 # a list
talk a "$(mine)" 5001 $cases many
# shellcheck disable=SC2086
talk b "$(other)" 5002 $cases
[ "$VM_GUEST" = b ] || MY_ADDR6=$PEER_ADDR6
# shellcheck disable=SC2086
talk b "$MY_ADDR6" 5003 $cases

echo 1 >/proc/sys/net/smc/variants
# shellcheck disable=SC2086
talk a "$(mine)" 5004 $cases
is "nothing became TCP" "$(smc_stat "" "TCP fallback")" 0
check "links were there" test "$(objects link created)" -ge 4
no_connection() {
	[ "$(objects conn live)" = 0 ]
}
check "connections end" wait_for "connections to end" no_connection
sync idle
check "idle groups do not hold the module" rmmod smc_rdma
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC-R version 2 with the distribution's own module on another host, in both roles: first
# and later contact, all ways to talk, a second link group, an idle group. Both sides know that
# it is SMC-R.
#
# How connections and groups end otherwise is in smcr_intree_ends.
#
# kernels: stock-6.12
# smaller: five of nine ways to talk with each server, and no second link group.
# peer: intree
# modules: smc smc_rdma smc_diag
# timeout: 300
# variables: DAILY

# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

cases="up down both round_trips half_close buffered urgent short many" links=3
[ -z "$DAILY" ] || cases="up both buffered urgent short" links=2

wire_up
check "an RDMA port" rdma_guest
# shellcheck disable=SC2086 # lists
{
	talk a 5001 $cases
	talk b 5002 $cases cramped
}

shows_smcr() {
	check "monitoring shows SMC-R" wait_for "a connection" sh -c "smcss -a | grep -q SMCR"
	log "$(smcss -a)"
}

held a 5003 shows_smcr
held b 5004 shows_smcr

if [ "$VM_GUEST" = a ]; then
	is "nothing became TCP" "$(smc_stat "" "TCP fallback")" 0
	check "send buffers stayed small" sh -c "smcr -a -d stats | grep -q 'Could not become larger *[1-9]'"
	check "several link groups" test "$(objects link created)" -ge $links
	check "connections end" wait_for "connections to end" no_connection
	check "idle groups do not hold the module" unload smc_rdma
	smc_expect_clean "no object is left over"
else
	check "monitoring is unloaded" unload smc_diag
fi
done_testing

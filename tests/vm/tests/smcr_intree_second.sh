#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The distribution's own module with a second RDMA port in the same physical network. Whoever is the
# server, a link group gets a second link, between that port and our only one, if both sides may have
# two links; connections go on over both. Version 2 only; version 1 is in smcr_intree_ports.
#
# kernels: stock-6.12
# daily: none
# instead: ``smcr_intree_ports``: two links where both sides have two ports. Only ``make test-all`` has
# instead: a second link to our only port, and our server with one.
# peer: intree
# modules: smc smc_rdma smc_diag
# timeout: 300

# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

# links NUMBER SERVER PORT: conversations of a new link group that may have so many links
links() {
	[ "$VM_GUEST" = b ] || echo "$1" >/proc/sys/net/smc/smcr_max_links_per_lgr
	talk "$2" "$3" up both short
}

no_group() {
	[ "$(objects link live)" = 0 ]
}

# The next first contact is that of a new group
end_groups() {
	if [ "$VM_GUEST" = a ]; then
		check "idle groups end" wait_for "their end" no_group
	fi
	sync "ended-$1"
}

# log_links: what is said of links is written down; answers are "reply"
log_links() {
	echo 'type == 2' >"$events/filter" && echo 1 >"$events/enable"
}

answers() {
	grep -c 'received type=2 reply' /sys/kernel/tracing/trace
}

events=/sys/kernel/tracing/events/smc/smcr_llc
wire_up
check "an RDMA port" rdma_guest
if [ "$VM_GUEST" = b ]; then
	check "a second port" rdma_second_port 12
else
	echo 1 >/proc/sys/net/smc/smcr_idle_timeout
	check "what is said can be seen" log_links
fi
sync ports
links 2 a 5001
end_groups 1
[ "$VM_GUEST" = b ] || is "the other side accepted a second link" "$(answers)" 1
links 2 b 5002
end_groups 2
links 1 a 5003
end_groups 3

if [ "$VM_GUEST" = a ]; then
	is "of one link nobody asks for another" "$(answers)" 1
	is "nothing became TCP" "$(smc_stat "" "TCP fallback")" 0
	is "two links, two, and one" "$(objects link created)" 5
	check "connections end" wait_for "connections to end" no_connection
	echo 0 >"$events/enable"
	check "link groups do not hold the module" unload smc_rdma
	smc_expect_clean "no object is left over"
else
	check "monitoring is unloaded" unload smc_diag
fi
done_testing

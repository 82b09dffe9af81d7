#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The distribution's own module on another host, and all ways in which connections, memory and link
# groups end: abort; idle; the other host falls silent; it starts anew, and this one does not know.
#
# The other module ends an aborted connection in good order, and shows an abort of ours as an end.
#
# kernels: stock-6.12
# daily: none
# instead: ``tests/uml/talk`` and ``smcr_netlink`` for the ends of connections between two of these
# instead: modules. Only ``make test-all`` has a module of the distribution that falls silent or
# instead: starts anew.
# peer: intree
# modules: smc smc_rdma smc_diag
# timeout: 300

# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

settings=/proc/sys/net/smc

# set_here NAME VALUE: a setting of guest a, which has these modules
set_here() {
	[ "$VM_GUEST" = b ] || echo "$2" >"$settings/$1"
}

# Each line of a link group begins with its id
has_group() {
	smcr linkgroup | grep -q '^[0-9a-f]\{8\} '
}

has_none() {
	! has_group
}

# idle_group SERVER PORT: after a conversation the link group ends on both sides
idle_group() {
	talk "$1" "$2" short
	sync "talked-idle-$2"
	check "port $2: the idle link group ends" wait_for "its end" has_none
	sync "idle-$2"
}

one_rmb_each() {
	[ "$(objects rmb live)" = "$(objects link live)" ]
}

# give_back SERVER PORT: a group takes back what it does not need any more, and gets more again
give_back() {
	talk "$1" "$2" several
	[ "$VM_GUEST" = b ] ||
		check "port $2: memory is given back" wait_for "the RMBs to go" one_rmb_each
	sync "given-back-$2"
	talk "$1" "$2" several
}

# hold SERVER PORT: a connection that lasts until a host is lost; the processes are held_server and
# held_caller
hold() {
	talk_between "$1" "$2" "$MY_ADDR" "$PEER_ADDR"
	if [ "$VM_GUEST" = "$1" ]; then
		talk_listen "$talk_program" "$talk_address" "$2"
		held_server=$talk_pid
	fi
	sync "hold-$2"
	if [ "$VM_GUEST" != "$1" ]; then
		smc_run "$talk_program" call "$talk_address" "$2" cut >"$_work/cut" 2>&1 &
		held_caller=$!
		wait_for "the connection" grep -q here "$_work/cut" || die "no connection"
	fi
	sync "held-$2"
}

# Guest b falls silent for longer than the other guest waits.
be_silent() {
	if [ "$VM_GUEST" = b ]; then
		ip link set eth0 down
		sync silent
	else
		sync silent
		check "the silence is noticed" wait_for "connections to end" no_connection
		check "the program is told" wait "$held_caller"
		check "the link groups end" wait_for "their end" has_none
	fi
	sync noticed
	kill "$held_server"
	[ "$VM_GUEST" = a ] || ip link set eth0 up
	wait_for "the peer" ping -c 1 -W 1 "$PEER_ADDR"
}

# Below its heading smcss shows a line for each
no_socket() {
	[ "$(smcss -a | wc -l)" = 1 ]
}

# In guest b: all of SMC is gone and comes back, while nobody hears of it. A socket that waits for its
# peer would hold the module.
forget() {
	wait_for "the sockets to end" no_socket
	ip link set eth0 down
	unload smc_diag smc && modprobe smc && modprobe smc_diag && smcd ueid add SMCTEST &&
		ip link set eth0 up
}

start_anew() {
	if [ "$VM_GUEST" = b ]; then
		check "start anew" forget
	else
		check "there is a group before" has_group
	fi
	sync anew
	[ "$VM_GUEST" = b ] || check "nothing is known of it here" has_group
	sync unknown
	wait_for "the peer" ping -c 1 -W 1 "$PEER_ADDR"
}

wire_up
check "an RDMA port" rdma_guest
set_here smcr_idle_timeout 1
for server in a b; do
	talk $server 5001 abort_or_end aborted_or_ended short
done

idle_group a 5002
idle_group b 5003

set_here smcr_idle_timeout 20
set_here smcr_testlink_time 1
give_back a 5008
give_back b 5009
[ "$VM_GUEST" = b ] ||
	check "several RMBs came" test "$(objects rmb created)" -gt "$(objects link created)"

set_here smcr_idle_timeout 600
set_here smcr_testlink_time 2
set_here smcr_path_retry_time 0		# two links that worked are lost: the path would be avoided
hold a 5004
hold b 5005
be_silent
set_here smcr_testlink_time 60

for server in a b; do
	talk $server 5006 round_trips short
	start_anew
	talk $server 5007 round_trips short
done

if [ "$VM_GUEST" = a ]; then
	# A client that is told to join a group it knows nothing of is out of sync (R-SC-07)
	declined=$(smcr -a -d stats | sed -n 's/^ *PEERDECL  *//p')
	is "nothing else became TCP" "$(smc_stat "" "TCP fallback")" "${declined:-0}"
	check "and one each time at most" test "${declined:-0}" -le 2
	check "connections end" wait_for "connections to end" no_connection
	check "link groups do not hold the module" unload smc_rdma
	smc_expect_clean "no object is left over"
fi
done_testing

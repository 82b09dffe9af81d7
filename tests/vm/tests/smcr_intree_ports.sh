#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The distribution's own module on another host: SMC-R of both versions and in both roles, with
# one RDMA port or two on each side. Two ports are two links: a connection is open
# while the second one is added, and of eight more some use each.
#
# kernels: stock-6.12
# smaller: version 1 with one port only.
# peer: intree
# roce: v1
# modules: smc smc_rdma smc_diag
# timeout: 300
# variables: DAILY

# shellcheck disable=SC2317,SC2154 # functions are called by name; variables of talk_between
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

trace=/sys/kernel/tracing/trace
events=/sys/kernel/tracing/events/smc

# log_links: messages about links and the end of each are written down; answers are "reply"
log_links() {
	for event in smcr_llc smcr_link_up smcr_link_down smc_group smc_clc smc_handshake smc_abort \
		smc_switch_to_fallback; do
		echo "$1" >"$events/$event/enable" || return 1
	done
}

# used_links: the number of our links that connections use
used_links() {
	smcr linkgroup link-show | awk '$NF > 0' | grep -c ACTIVE
}

# active_links NUMBER: so many links can be used
active_links() {
	[ "$(smcr linkgroup link-show | grep -c ACTIVE)" = "$1" ]
}

no_group() {
	[ "$(objects link live)" = 0 ]
}

# versions VERSION: what new link groups have
versions() {
	if [ "$VM_GUEST" = a ]; then
		wait_for "idle groups to end" no_group || return 1
	fi
	sync "idle-$port" && smcd ueid flush && { [ "$1" = 1 ] || smcd ueid add SMCTEST; }
}

shows_smcr() {
	smcss -a | grep -q SMCR
}

# The version of the only link group
group_version() {
	smcr -d linkgroup | sed -n 's/^Version *: *//p' | sort -u
}

group_has_version() {
	[ "$(group_version)" = "$version" ]
}

# open_connections: of the caller, until descriptor 8 is closed: one, and eight more at a line
open_connections() {
	rm -f /tmp/crowd && mkfifo /tmp/crowd
	smc_run "$talk_program" call "$talk_address" "$port" crowd </tmp/crowd >/tmp/said 2>&1 &
	caller=$!
	exec 8>/tmp/crowd
	wait_for "the connection" told 1
}

# told TIMES: so often has the caller told that all its connections work
told() {
	[ "$(grep -c here /tmp/said)" -ge "$1" ]
}

open_more() {
	echo >&8
	wait_for "eight more connections" told 2
}

end_connections() {
	exec 8>&-
	wait "$caller" || { cat /tmp/said; return 1; }
}

# The connection as both sides see it; a is ours
look_at_it() {
	wait_for "a socket of SMC-R" shows_smcr || return 1
	[ "$VM_GUEST" = b ] && return
	wait_for "the version" group_has_version || return 1
	wait_for "as many links as ports" active_links "$ports"
}

# The links that nine connections use
look_at_links() {
	[ "$VM_GUEST" = b ] && return
	smcr -d linkgroup link-show
	[ "$(used_links)" = "$ports" ]
}

# The caller's part while its first connection is open. Our idle time is far below that of the
# distribution's module, which would accept into a group that we just end.
call_more() {
	timeout $((120 * VM_SLOW)) smc_run "$talk_program" call "$talk_address" "$port" both short &&
		open_more
}

# A group's first connection, and more. Each step ends on both sides before the next one begins.
converse() {
	[ "$VM_GUEST" != "$server" ] || talk_listen "$talk_program" "$talk_address" "$port"
	sync "begin-$port"
	[ "$VM_GUEST" = "$server" ] || open_connections
	sync "open-$port"
	look_at_it
	seen=$?
	sync "seen-$port"
	[ "$VM_GUEST" = "$server" ] || call_more || seen=1
	sync "more-$port"
	look_at_links || seen=1
	sync "looked-$port"
	[ "$VM_GUEST" = "$server" ] || end_connections || seen=1
	sync "end-$port"
	[ "$VM_GUEST" != "$server" ] || kill "$talk_pid"
	[ "$seen" = 0 ] || result=failed
	return "$seen"
}

# cell VERSION PORTS SERVER: one of the matrix
cell() {
	version=$1 ports=$2 server=$3 port=$((port + 1)) result=ok
	talk_between "$server" "$port" "$MY_ADDR" "$PEER_ADDR"
	[ "$VM_GUEST" = b ] || echo >"$trace"
	check "version $version, $ports ports, server $server" converse
	# Our side of a conversation that failed
	[ "$result$VM_GUEST" != faileda ] || log "$(tail -100 "$trace")"
	sync "result-$port" "$result"
	[ "$SYNC_VALUE" = ok ] || result=failed
	matrix="$matrix$(printf '%7d %5d   %-13s %s' "$version" "$ports" \
		"$([ "$server" = a ] && echo ours || echo distribution)" "$result")
"
}

row() {
	check "version $1" versions "$1"
	cell "$1" "$2" a
	cell "$1" "$2" b
}

port=5000 matrix='version ports   server        result
'
wire_up
check "an RDMA port" rdma_guest_v1
if [ "$VM_GUEST" = a ]; then
	echo 0 >/proc/sys/net/smc/smcr_v1_over_rocev2
	echo 1 >/proc/sys/net/smc/smcr_idle_timeout
	echo 2 >/proc/sys/net/smc/smcr_max_links_per_lgr
	check "what is said can be seen" log_links 1
fi
row 1 1
row 2 1
check "a second port" rdma_second_port "1${MY_ADDR##*.}"
row 2 2
[ -n "$DAILY" ] || row 1 2
log "$matrix"

if [ "$VM_GUEST" = a ]; then
	is "nothing became TCP" "$(smc_stat "" "TCP fallback")" 0
	check "connections end" wait_for "connections to end" no_connection
	log_links 0
	check "link groups do not hold the module" unload smc_rdma
	smc_expect_clean "no object is left over"
else
	check "monitoring is unloaded" unload smc_diag
fi
done_testing

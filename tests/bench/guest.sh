#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a plan in a guest. The runner puts beside this file:
#
#   config	ROUNDS, PATHS (words: lo veth rxe), UNLOAD (modules, in order), EID, AFTER
#   plan	one line per measurement: CASE VARIANT COMMAND...
#
# All the plan is run ROUNDS times. Output, between lines of JSON:
#
#   = ROUND CASE VARIANT	what follows belongs to this measurement
#   ~ MEMBER NUMBER		one more member of the JSON before
#   ! ROUND CASE VARIANT TEXT	it failed

here=${0%/*}
# shellcheck source=/dev/null
. "$here/config"

out=/tmp/out
err=/tmp/err

# Nothing a measurement prints may be on its way to the host while the next one runs.
show() {
	cat $out
	smcbench settle -n 4
}

fail() {
	echo "! $1 $(tr '\n' ' ' <$err)"
}

# Two namespaces, "client" and "server", joined by a veth pair.
path_veth() {
	ip netns add client
	ip netns add server
	ip link add eth0 netns client type veth peer name eth0 netns server
	for _end in client:1 server:2; do
		_ns=${_end%:*}
		ip -n "$_ns" addr add "10.1.0.${_end#*:}/24" dev eth0
		ip -n "$_ns" link set lo up
		ip -n "$_ns" link set eth0 up
	done
}

# The server is in a cgroup of its own, as services and containers are.
path_cgroup() {
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
	mkdir /sys/fs/cgroup/server
}

# One namespace, because rxe works in the first one only: a veth pair with an
# RDMA device on each end. Rules before that for local addresses send what goes
# from one end to the other over the wire.
path_rxe() {
	ip link add rx1 type veth peer name rx2
	ip rule add pref 10 iif rx1 lookup local
	ip rule add pref 11 iif rx2 lookup local
	_rxe_end rx1 10.2.0.1 10.2.0.2 20
	_rxe_end rx2 10.2.0.2 10.2.0.1 21
	ip rule add pref 100 lookup local
	ip rule del pref 0
	ip neigh replace 10.2.0.2 lladdr "$(cat /sys/class/net/rx2/address)" dev rx1 nud permanent
	ip neigh replace 10.2.0.1 lladdr "$(cat /sys/class/net/rx1/address)" dev rx2 nud permanent
	rdma link add rxe1 type rxe netdev rx1
	rdma link add rxe2 type rxe netdev rx2
	[ -z "$EID" ] || smcr ueid add "$EID"
	# Between two ends in one kernel, SMC-D would come first
	[ ! -e /proc/sys/net/smc/variants ] || echo 5 >/proc/sys/net/smc/variants
}

# _rxe_end DEVICE ADDRESS PEER TABLE
_rxe_end() {
	for _name in all "$1"; do
		echo 0 >"/proc/sys/net/ipv4/conf/$_name/rp_filter"
	done
	echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
	ip addr add "$2/32" dev "$1"
	ip link set "$1" up
	ip route add "$3/32" dev "$1" src "$2" table "$4"
	ip rule add pref "$4" to "$3" lookup "$4"
}

# redis OPERATION FAMILY here|netns HOST COUNT
redis() {
	_op=$1 _family=$2 _where=$3 _host=$4 _count=$5
	_run='' _server='' _client='' _measured=''
	_at="-h $_host -p 6379"
	_bind="--port 6379 --bind $_host"
	case $_family in
	unix)	_at="-s $_host" _bind="--port 0 --unixsocket $_host" ;;
	smc)	_run=smc_run ;;
	esac
	if [ "$_where" = netns ]; then
		_server='ip netns exec server'
		_client='ip netns exec client'
		_measured='--client-netns client'
	fi
	# shellcheck disable=SC2086 # lists of words, also below
	setsid $_server $_run redis-server $_bind --save '' --appendonly no --protected-mode no \
		--dir /tmp --daemonize no >/tmp/redis.log 2>&1 &
	_pid=$!
	# shellcheck disable=SC2086
	until $_client $_run redis-cli $_at ping >/dev/null 2>&1; do
		kill -0 $_pid 2>/dev/null || { cat /tmp/redis.log >&2; return 1; }
		sleep 0.05
	done
	# shellcheck disable=SC2086
	smcbench settle -n 4 && smcbench exec $_measured -n "$_count" -- $_run redis-benchmark $_at \
		-t "$_op" -n "$_count" -c 1 -d 64 --csv 2>/tmp/redis.out
	_status=$?
	# "GET","22989.13",...: without the program's own start
	sed -n 's/^"[SG]ET","\([0-9.]*\)".*/~ requests_per_s \1/p' /tmp/redis.out
	[ $_status -eq 0 ] || cat /tmp/redis.out >&2
	# shellcheck disable=SC2086
	$_client $_run redis-cli $_at shutdown nosave >/dev/null 2>&1
	wait $_pid
	return $_status
}

mount -t debugfs debugfs /sys/kernel/debug
path_lo() {
	ip link set lo up
}

# Any command that fails while paths are set up ends the guest.
trap 'fail "0 path $path"' EXIT
set -e
for path in lo $PATHS; do
	"path_$path" 2>$err
done
set +e
trap - EXIT

smcbench settle
round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	while read -r case variant command; do
		echo "= $round $case $variant" >$out
		eval "$command" >>$out 2>$err </dev/null || fail "$round $case $variant" >>$out
		show
	done <"$here/plan"
done
if [ -n "$AFTER" ]; then
	echo '@after'
	eval "$AFTER" 2>&1
fi
for module in $UNLOAD; do
	rmmod "$module" 2>$err || fail "0 unload $module"
done

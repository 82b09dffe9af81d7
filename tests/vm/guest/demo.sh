#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make demo" runs in the guest: redis and iperf3 between two namespaces,
# once over TCP, once through smc_run. Lines for scripts/demo: "step TEXT" says
# what begins, "begin KEY", some lines and "end KEY" are the output of a program.

# shellcheck disable=SC3043,SC2154,SC2086 # local, _work are fine; $through is a word or none
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

REQUESTS=10000
CLIENTS=10
SECONDS_EACH=4

# The server is the same program as this tool of redis-tools; only its name
# decides. The package redis-server would start a service on the host.
redis=$_work/redis-server
ln -s /usr/bin/redis-check-rdb "$redis"

give_up() {
	echo "failed $*"
	exit 1
}

# give_up_with LOG TEXT: with what a server had to say.
give_up_with() {
	sed 's/^/# /' "$1"
	shift
	give_up "$@"
}

# show KEY COMMAND...: the output of a command, framed.
show() {
	local key="$1" status=0

	shift
	"$@" >"$_work/out" 2>"$_work/err" || status=$?
	echo "begin $key"
	cat "$_work/out"
	echo "end $key"
	if [ $status -ne 0 ]; then
		sed 's/^/# /' "$_work/out" "$_work/err"
		give_up "$* ended with status $status"
	fi
}

# report KEY: what the module says about the connections of the two namespaces.
report() {
	[ "$transport" = smc ] || return 0
	show "$1 smc client" in_ns "$client" smcd -a -d stats
	show "$1 smc server" in_ns "$server" smcd -a -d stats
}

# new_containers: namespaces of their own for each run, so that counters start at zero.
new_containers() {
	client=client$1 server=server$1
	ns_pair "$client" "$server"
	address=$(addr "$server")
}

run_redis() {
	new_containers "-redis-$transport"
	echo "step redis over $name"
	in_ns "$server" $through "$redis" --port 6379 --bind "$address" --save '' \
		--appendonly no --protected-mode no --dir "$_work" >"$_work/redis.log" 2>&1 &
	wait_listen 6379 "$server" || give_up_with "$_work/redis.log" "redis-server does not listen"
	show "$transport redis" in_ns "$client" $through redis-benchmark -h "$address" -p 6379 \
		-t set,get -n $REQUESTS -c $CLIENTS -d 64 --csv
	report "$transport redis"
	in_ns "$client" redis-cli -h "$address" shutdown nosave >/dev/null 2>&1
	wait $!
}

run_iperf3() {
	new_containers "-iperf3-$transport"
	echo "step iperf3 over $name"
	in_ns "$server" $through iperf3 -s -1 -B "$address" >"$_work/iperf3.log" 2>&1 &
	wait_listen 5201 "$server" || give_up_with "$_work/iperf3.log" "iperf3 does not listen"
	show "$transport iperf3" in_ns "$client" $through iperf3 -c "$address" -t $SECONDS_EACH -J
	wait $!
	report "$transport iperf3"
}

for transport in tcp smc; do
	case $transport in
	tcp) name=TCP through= ;;
	smc) name=SMC through=smc_run ;;
	esac
	run_redis
	run_iperf3
done
exit 0

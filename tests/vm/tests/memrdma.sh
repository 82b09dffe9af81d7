#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The RDMA device in memory: SMC-R between two namespaces over its ports, and each thing that it can
# do wrong on command.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc smc_rdma memrdma
# timeout: 240
# boot: swiotlb=force

# shellcheck disable=SC2317	# check() calls these functions

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

talk=$VM_DIR/../selftests/interop/talk.py

# prepare NAMESPACE
prepare() {
	in_ns "$1" sh -c '
		echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
		echo 1 >/proc/sys/net/smc/smcr_idle_timeout
		echo 65536 >/proc/sys/net/smc/rmem
		smcd ueid add SMCTEST' || die "no settings in $1"
}

# add DEVICE NAMESPACE NETDEV...
add() {
	device=$1 namespace=$2
	shift 2
	in_ns "$namespace" sh -c "echo add $device $* >/sys/module/memrdma/parameters/control" &&
		rdma_addressed "$device"
}

# call CASE...
call() {
	in_ns client smc_run "$talk" call "$(addr server)" 5000 "$@"
}

# grew DEVICE/PORT NAME COMMAND...: does the number grow by the command?
grew() {
	grew_port=$1 grew_what=$2 grew_from=$(memrdma_value "$1" "$2")
	shift 2
	"$@" && [ "$(memrdma_value "$grew_port" "$grew_what")" -gt "$grew_from" ]
}

ns_pair client server
prepare client
prepare server
check "a device of one port in each namespace" eval 'add mem0 client eth0 && add mem1 server eth0'
ip netns exec server smc_run "$talk" serve "$(addr server)" 5000 2>/dev/null &
server=$!
wait_listen 5000 server

check "SMC-R goes over it" grew mem0/1 requests call round_trips up down
cat /sys/module/memrdma/parameters/state
is "nothing became TCP" "$(smc_stat client "TCP fallback")" 0

kill $server
wait_for "the connections to go" no_connection
cases in_memory_smcr.py client server "$(addr server)"
rdma link del mem0
rdma link del mem1
for namespace in client server; do
	ip netns del $namespace
done

export RDMA_LIB="$VM_DIR/../lib/rdma.sh" RDMA_TYPE=mem
smcd ueid add SMCTEST
cases memrdma.py
rdma_unwire
smc_expect_clean "no object is left over"
done_testing

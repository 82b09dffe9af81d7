#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No handshake asks an adapter, which may take long and holds up others: neither do first contacts, nor
# is there anything to be asked because other network devices come and go.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc smc_rdma
# timeout: 240

# shellcheck disable=SC2317	# check() calls these functions

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

tracing=$_work/tracing
talk=$VM_DIR/../selftests/interop/talk.py

# questions: how often any adapter was asked
questions() {
	awk '$1 == "smc_questions" { print $2 }' "$tracing/kprobe_profile"
}

# connect: one connection over SMC-R
connect() {
	smc_run "$talk" call 10.9.0.2 5000 round_trips
}

# churn: network devices of others come and go, and a connection is made after each
churn() {
	for name in spare0 spare1 spare2; do
		ip link add "$name" type dummy && ip link set "$name" mtu 1400 up || return 1
		connect || return 1
		ip link del "$name" || return 1
		connect || return 1
	done
}

mkdir "$tracing"
mount -t tracefs none "$tracing" || die "no tracefs"
modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
smcd ueid add SMCTEST
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
echo 65536 >/proc/sys/net/smc/rmem
echo 1 >/proc/sys/net/smc/smcr_idle_timeout
allow_slow_handshakes
talk_listen "$talk" 10.9.0.2 5000

echo 'p:smc_questions ib_query_port' >"$tracing/kprobe_events" || die "no probes"
echo 1 >"$tracing/events/kprobes/smc_questions/enable"
cat /sys/class/infiniband/rxe0/ports/1/state >/dev/null
check "a question is counted" [ "$(questions)" -gt 0 ]
# The RDMA core queries new devices later. It flushes that work when a device goes.
ip link add spare type dummy
ip link set spare up
rdma link add rxe9 type rxe netdev spare || die "no spare device"
rdma link del rxe9
ip link del spare
before=$(questions)
check "the first connection" connect
check "others, while network devices come and go" churn
is "nobody was asked" "$(questions)" "$before"
is "nothing became TCP" "$(smc_stat "" "TCP fallback")" 0

echo 0 >"$tracing/events/kprobes/smc_questions/enable"
echo >"$tracing/kprobe_events"
kill "$talk_pid"
wait_for "the connections to go" no_connection
rdma_unwire
umount "$tracing"
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Many connections at once over SMC-R, which move data in all ways and end in all ways, while their
# send buffers grow and shrink: every byte is right, and nothing is left over.
#
# For longer: TORTURE_MINUTES=10 tests/vm/run --kernel debug-6.12 --timeout 900 torture_rdma
#
# kernels: stock-6.12 debug-6.12
# daily: none
# instead: ``torture_loopback`` over SMC-D; ``talk`` and ``smcr_peers`` with fewer connections.
# modules: smc smc_rdma smc_diag
# variables: TORTURE_MINUTES
# cpus: 2
# memory: 2048
# timeout: 300

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
smcd ueid add SMCTORTURE
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
echo 65536 >/proc/sys/net/smc/rmem
echo 60 >/proc/sys/net/smc/handshake_timeout	# what is late becomes TCP
export SOCKET_TEST_HOST=10.9.0.2 SOCKET_TEST_HOST6=fd09::2

counter() {
	smcr -d stats | sed -n "s/^ *$1 *//p"
}

# Devices go, one at a time, and come back
lose_devices() {
	while [ -e "$_work/lose" ]; do
		for port in 0 1; do
			sleep 1
			rdma link del rxe$port
			sleep 0.3
			rdma link add rxe$port type rxe netdev smc$port
		done
	done
}

seconds=$((60 * ${TORTURE_MINUTES:-0}))
set -- -k smc -n 20 -p $((120 * VM_SLOW)) -t $((seconds ? seconds : 20))
check "every byte is right" torture -i "$@"
check "buffers have grown" [ "$(counter 'Buffers made larger')" -gt 0 ]
check "buffers became small again" [ "$(counter 'Made small again')" -gt 0 ]

cat /proc/sys/net/smc/smcr_rmem >/proc/sys/net/smc/rmem	# elements of SMC-R's first size, too
echo 0 >/proc/sys/net/smc/smcr_path_retry_time
touch "$_work/lose"
lose_devices &
for _ in 1 2 3 4 5; do	# on a busy machine few devices go in that time
	check "also while devices are lost" torture -l "$@"
	[ "$(counter 'device or link lost')" = 0 ] || break
done
rm "$_work/lose"
wait
check "connections were lost with them" [ "$(counter 'device or link lost')" -gt 0 ]
smcr -d stats | sed 's/^/# /'
rdma_unwire
smc_expect_clean "no object is left over"
done_testing

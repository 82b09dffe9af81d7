#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A program keeps back the pages that its calls need: its sockets wait, in whichever state they are,
# and no others. Over SMC-R; socket_calls has the same over SMC-D, fallback and TCP.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc smc_rdma
# timeout: 300

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

# Packets to 192.0.2.2 and 2001:db8::2 leave and never come back.
ip link set lo up
ip link add dummy0 type dummy
ip addr add 192.0.2.1/24 dev dummy0
ip addr add 2001:db8::1/64 dev dummy0 nodad
ip link set dummy0 up
modprobe fuse || die "no FUSE"
rdma_wire || die "no wire"
smcd ueid add SMCTEST
echo 1 >/proc/sys/net/smc/smcr_idle_timeout
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
export SOCKET_TEST_HOST=10.9.0.2 SOCKET_TEST_HOST6=fd09::2

socket_test -s "$VM_SLOW" -j 4 -v smc -v smc_accepted -v ipproto_smc6 'missing_*' >"$_work/tap"
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#* - }" ;;
	"not ok "*) fail "${line#* - }" ;;
	"#"*) echo "$line" ;;
	esac
done <"$_work/tap"
check "all have ended" grep -q '^1\.\.[1-9]' "$_work/tap"

rdma_unwire
smc_expect_clean "no object is left over"
done_testing

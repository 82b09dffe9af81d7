#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two guests on one wire meet at barriers, exchange values, and talk TCP.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# guests: 2
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

wire_up
sync names "I am $VM_GUEST"
case $VM_GUEST in
a) other=b ;;
b) other=a ;;
esac
is "the other guest's value" "$SYNC_VALUE" "I am $other"

if [ "$VM_GUEST" = b ]; then
	iperf3 -s -1 -p 5001 >/dev/null 2>&1 &
	wait_listen 5001
fi
sync listening
if [ "$VM_GUEST" = a ]; then
	check "TCP over the wire" iperf3 -c "$PEER_ADDR" -p 5001 -n 1M
	check "frames of 9000 bytes" wait_for "an answer" ping -c 1 -W 1 -M "do" -s 8900 "$PEER_ADDR"
	check "IPv6" wait_for "an answer" ping -c 1 -W 1 "$PEER_ADDR6"
fi
sync finished
pass "both have finished"
done_testing

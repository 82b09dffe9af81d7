#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Dumps of many link groups, which come and go meanwhile: a hub and containers around it, each with
# two groups, one for each direction in which connections are made.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

COUNT=12

containers=""
ip netns add nl-hub
ip -n nl-hub link set lo up
i=0
while [ $i -lt $COUNT ]; do
	ip netns add "nl-$i"
	ip link add "to$i" netns nl-hub type veth peer name eth0 netns "nl-$i"
	ip -n nl-hub link set "to$i" up
	ip -n nl-hub addr add "10.77.$i.1/24" dev "to$i"
	ip -n "nl-$i" link set eth0 up
	ip -n "nl-$i" addr add "10.77.$i.2/24" dev eth0
	containers="$containers nl-$i"
	i=$((i + 1))
done
# shellcheck disable=SC2086 # one word for each
cases groups.py nl-hub $containers
for name in nl-hub $containers; do
	ip netns del "$name"
done
smc_expect_clean "no object is left over"
done_testing

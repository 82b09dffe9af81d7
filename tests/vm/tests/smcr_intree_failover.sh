#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The distribution's own module with a second RDMA port, and ours with two: link groups get a second
# link, whoever is the server, and connections go on when either side loses the port of one. Version
# 2 only: of version 1 it finds no GID on software RoCE.
#
# kernels: stock-6.12
# daily: none
# peer: intree
# modules: smc smc_rdma smc_diag
# timeout: 400

# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

# second_port LAST: another port on the same wire, and a name for that network
second_port() {
	modprobe macvlan && ip link add eth1 link eth0 type macvlan mode bridge &&
		ip addr add "10.0.0.$1/24" dev eth1 noprefixroute &&
		ip addr add "fd00::$1/64" dev eth1 nodad noprefixroute && ip link set eth1 up &&
		ip rule add from "10.0.0.$1" lookup 50 &&
		ip route add 10.0.0.0/24 dev eth1 src "10.0.0.$1" table 50 &&
		rdma link add rxe1 type rxe netdev eth1 && rdma_addressed rxe1 || return 1
	smc_pnet -a WIRE -I eth0 && smc_pnet -a WIRE -D rxe0 && smc_pnet -a WIRE -D rxe1
}

two_links() {
	[ "$(objects link live)" = 2 ]
}

no_group() {
	[ "$(objects link live)" = 0 ]
}

wire_up
check "an RDMA port" rdma_guest
if [ "$VM_GUEST" = b ]; then
	check "a second port" second_port 12
else
	check "a second port" second_port 11
	echo 1 >/proc/sys/net/smc/smcr_idle_timeout
	echo 2 >/proc/sys/net/smc/smcr_max_links_per_lgr
fi
sync ports
for server in a b; do
	talk $server 500$server up both short
	if [ "$VM_GUEST" = a ]; then
		check "a group had two links, server $server" test "$(objects link created)" -ge 2
		check "idle groups end" wait_for "their end" no_group
	fi
	sync "ended-$server"
done
done_testing

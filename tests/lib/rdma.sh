# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Software RoCE for tests, in User Mode Linux and in guests.

# rdma_wire: two RDMA ports in one kernel, joined by a wire: rxe0 on smc0 (10.9.0.1, fd09::1) and
# rxe1 on smc1 (10.9.0.2, fd09::2). A connection between the two addresses really goes over
# that wire, although both belong to this host: what comes in is routed by the table of local
# addresses, all else by two rules before it.
rdma_wire() {
	ip link add smc0 type veth peer name smc1 || return 1
	for port in 0 1; do
		echo 0 >/proc/sys/net/ipv6/conf/smc$port/accept_dad
		echo 1 >/proc/sys/net/ipv4/conf/smc$port/accept_local
		echo 0 >/proc/sys/net/ipv4/conf/smc$port/rp_filter
		ip link set smc$port mtu "${RDMA_MTU:-1500}" up || return 1
	done
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	for port in 0 1; do
		rdma_wire_end $port $((port + 1)) $((2 - port)) $((1 - port)) || return 1
	done
	ip rule add pref 30 lookup local && ip rule del pref 0 || return 1
	ip -6 rule add pref 30 lookup local && ip -6 rule del pref 0 || return 1
	rdma link add rxe0 type rxe netdev smc0 && rdma link add rxe1 type rxe netdev smc1
}

# rdma_wire_end PORT OWN PEER OTHER-PORT
rdma_wire_end() {
	mac=$(cat /sys/class/net/smc"$4"/address)
	ip addr add 10.9.0."$2"/24 dev smc"$1" &&
	ip addr add fd09::"$2"/64 dev smc"$1" nodad &&
	ip neigh add 10.9.0."$3" lladdr "$mac" dev smc"$1" nud permanent &&
	ip neigh add fd09::"$3" lladdr "$mac" dev smc"$1" nud permanent &&
	ip rule add pref 1"$1" iif smc"$1" lookup local &&
	ip rule add pref 2"$1" to 10.9.0."$3" lookup 10"$1" &&
	ip route add 10.9.0."$3" dev smc"$1" src 10.9.0."$2" table 10"$1" &&
	ip -6 rule add pref 1"$1" iif smc"$1" lookup local &&
	ip -6 rule add pref 2"$1" to fd09::"$3" lookup 10"$1" &&
	ip -6 route add fd09::"$3" dev smc"$1" src fd09::"$2" table 10"$1"
}

# rdma_unwire: undoes rdma_wire, for tests that share a guest with others.
rdma_unwire() {
	ip rule add pref 0 lookup local && ip rule del pref 30
	ip -6 rule add pref 0 lookup local && ip -6 rule del pref 30
	for port in 0 1; do
		[ ! -e "/sys/class/infiniband/rxe$port" ] || rdma link del "rxe$port"
		for pref in "1$port" "2$port"; do
			ip rule del pref "$pref"
			ip -6 rule del pref "$pref"
		done
	done
	ip link del smc0
}

# rdma_guest: an RDMA port on the wire between two guests, and a user EID; after wire_up. Buffers of
# which there is memory for hundreds.
rdma_guest() {
	echo 65536 >/proc/sys/net/smc/rmem
	modprobe rdma_rxe || return 1
	rdma link add rxe0 type rxe netdev eth0 || return 1
	smcd ueid add SMCTEST
}

# talk SERVER ADDRESS PORT CASE...: talk.py between the two guests, one of which is the server;
# each case is a test point of the other.
talk() {
	talk_server=$1 talk_address=$2 talk_port=$3
	talk_program=$VM_DIR/../selftests/interop/talk.py
	shift 3

	if [ "$VM_GUEST" = "$talk_server" ]; then
		talk_serve
	else
		sync "talk-$talk_port"
		talk_points "$@"
		sync "talked-$talk_port"
	fi
}

talk_serve() {
	smc_run "$talk_program" serve "$talk_address" "$talk_port" &
	wait_listen "$talk_port" || die "no server"
	sync "talk-$talk_port"
	sync "talked-$talk_port"
	kill $!
}

# held SERVER ADDRESS PORT COMMAND...: the command, on the other guest, while a connection is open.
held() {
	talk_server=$1 talk_address=$2 talk_port=$3
	talk_program=$VM_DIR/../selftests/interop/talk.py
	shift 3

	if [ "$VM_GUEST" = "$talk_server" ]; then
		talk_serve
		return
	fi
	sync "talk-$talk_port"
	mkfifo /tmp/held
	smc_run "$talk_program" call "$talk_address" "$talk_port" hold </tmp/held &
	exec 8>/tmp/held
	"$@"
	exec 8>&-
	check "port $talk_port: held" wait $!
	rm /tmp/held
	sync "talked-$talk_port"
}

# talk_points CASE...: one test point for each
talk_points() {
	for talk_case; do
		check "port $talk_port: $talk_case" timeout 120 smc_run "$talk_program" call \
			"$talk_address" "$talk_port" "$talk_case"
	done
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# RDMA devices for tests, in User Mode Linux and in guests: software RoCE or, if RDMA_TYPE is mem,
# the devices of tests/modules/memrdma, which can do wrong what they are told to.

# rdma_wire: two RDMA ports in one kernel, joined by a wire: rxe0 on smc0 (10.9.0.1, fd09::1) and
# rxe1 on smc1 (10.9.0.2, fd09::2). A connection between the two addresses really goes over
# that wire, although both belong to this host: what comes in is routed by the table of local
# addresses, all else by two rules before it. RDMA_BETWEEN is the name of a namespace through which
# the wire shall lead, if any.
rdma_wire() {
	rdma_join && rdma_prepare smc &&
		rdma_lead smc 10.9.0.1 10.9.0.2 && rdma_lead smc fd09::1 fd09::2 && rdma_ports
}

# rdma_routed: the same, with a router in the namespace RDMA_BETWEEN: 10.9.0.1 and 10.9.1.2, fd09::1
# and fd09:1::2.
rdma_routed() {
	ip netns add "$RDMA_BETWEEN" && ip -n "$RDMA_BETWEEN" link set lo up || return 1
	ip netns exec "$RDMA_BETWEEN" sh -c '
		echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
		echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
	for port in 0 1; do
		ip link add smc$port type veth peer name port$port netns "$RDMA_BETWEEN" &&
			ip -n "$RDMA_BETWEEN" link set port$port mtu "${RDMA_MTU:-1500}" up &&
			ip -n "$RDMA_BETWEEN" addr add 10.9.$port.254/24 dev port$port &&
			ip -n "$RDMA_BETWEEN" addr add fd09:$port::254/64 dev port$port nodad || return 1
	done
	rdma_prepare smc && rdma_lead smc 10.9.0.1 10.9.1.2 10.9.0.254 10.9.1.254 &&
		rdma_lead smc fd09:0::1 fd09:1::2 fd09:0::254 fd09:1::254 && rdma_ports
}

# rdma_vlan ID: a VLAN on the wire: 10.9.ID.1 and 2, fd09:ID::1 and 2 on smc0.ID and smc1.ID
rdma_vlan() {
	for port in 0 1; do
		ip link add link smc$port name smc$port."$1" type vlan id "$1" || return 1
	done
	rdma_prepare smc ".$1" && rdma_lead smc 10.9."$1".1 10.9."$1".2 "" "" ".$1" &&
		rdma_lead smc fd09:"$1"::1 fd09:"$1"::2 "" "" ".$1"
}

# rdma_apart: a second wire without RDMA, app0 (10.10.0.1) and app1 (10.10.0.2); the RDMA ports have
# addresses in its subnet, 10.10.0.11 and 10.10.0.12.
rdma_apart() {
	ip link add app0 type veth peer name app1 && rdma_prepare app &&
		rdma_lead app 10.10.0.1 10.10.0.2 && rdma_lead smc 10.10.0.11 10.10.0.12
}

# rdma_second_wire: a wire beside that of rdma_wire: rxe2 on alt0 (10.9.5.1, fd09:5::1) and rxe3 on alt1
# (10.9.5.2, fd09:5::2)
rdma_second_wire() {
	ip link add alt0 type veth peer name alt1 && rdma_prepare alt &&
		rdma_lead alt 10.9.5.1 10.9.5.2 && rdma_lead alt fd09:5::1 fd09:5::2 &&
		rdma link add rxe2 type "${RDMA_TYPE:-rxe}" netdev alt0 &&
		rdma link add rxe3 type "${RDMA_TYPE:-rxe}" netdev alt1 &&
		rdma_addressed rxe2 && rdma_addressed rxe3
}

rdma_join() {
	if [ -z "${RDMA_BETWEEN-}" ]; then
		ip link add smc0 type veth peer name smc1
		return
	fi
	ip netns add "$RDMA_BETWEEN" && ip -n "$RDMA_BETWEEN" link add bridge0 type bridge &&
		ip -n "$RDMA_BETWEEN" link set bridge0 up || return 1
	for port in 0 1; do
		ip link add smc$port type veth peer name port$port netns "$RDMA_BETWEEN" &&
			ip -n "$RDMA_BETWEEN" link set port$port master bridge0 up || return 1
	done
}

# rdma_another_address: a second address of the port smc0, 10.9.0.3, from and to 10.9.0.2; after rdma_wire
rdma_another_address() {
	ip addr add 10.9.0.3/24 dev smc0 && ip rule add pref 19 to 10.9.0.3 lookup 101 &&
		ip neigh add 10.9.0.3 lladdr "$(cat /sys/class/net/smc0/address)" dev smc1 \
			nud permanent && ip route add 10.9.0.3 dev smc1 src 10.9.0.2 table 101
}

# rdma_prepare PREFIX [SUFFIX]: the two devices take packets from each other, which this host has sent
rdma_prepare() {
	for port in 0 1; do
		device=$1$port${2-}
		echo 0 >"/proc/sys/net/ipv6/conf/$device/accept_dad"
		echo 1 >"/proc/sys/net/ipv4/conf/$device/accept_local"
		echo 0 >"/proc/sys/net/ipv4/conf/$device/rp_filter"
		ip link set "$device" mtu "${RDMA_MTU:-1500}" up &&
			ip rule add pref 1$port iif "$device" lookup local &&
			ip -6 rule add pref 1$port iif "$device" lookup local || return 1
	done
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	rdma_allow_v1
	rdma_look_there_later
}

# rdma_allow_v1: software RoCE has no addresses of RoCE version 1. Where the distribution's module is
# loaded, there is no such setting.
rdma_allow_v1() {
	[ ! -e /proc/sys/net/smc/smcr_v1_over_rocev2 ] ||
		echo 1 >/proc/sys/net/smc/smcr_v1_over_rocev2
}

# Local addresses come behind the rules of rdma_lead, if they do not yet.
rdma_look_there_later() {
	for family in -4 -6; do
		ip $family rule add pref 30 lookup local
		ip $family rule del pref 0
	done
	:
} 2>/dev/null

# rdma_lead PREFIX ADDRESS0 ADDRESS1 [GATEWAY0 GATEWAY1 [SUFFIX]]
rdma_lead() {
	rdma_lead_one 0 "$1" "$2" "$3" "${4-}" "${6-}" && rdma_lead_one 1 "$1" "$3" "$2" "${5-}" "${6-}"
}

# rdma_lead_one PORT PREFIX OWN PEER GATEWAY SUFFIX: the way from one address to the other
rdma_lead_one() {
	family=-4 length=24 device=$2$1$6
	case $3 in
	*:*)
		family=-6 length=64
		ip -6 addr add "$3/$length" dev "$device" nodad || return 1
		;;
	*)
		ip addr add "$3/$length" dev "$device" || return 1
		;;
	esac
	ip $family rule add pref 2"$1" to "$4" lookup 10"$1" || return 1
	if [ -n "$5" ]; then
		ip $family route add "$4" via "$5" dev "$device" src "$3" table 10"$1"
		return
	fi
	rdma_route "$1" "$2" "$3" "$4" "$6"
}

# rdma_route PORT PREFIX OWN PEER [SUFFIX]: the route between two addresses without a gateway. The
# kernel forgets it when the device goes down.
rdma_route() {
	case $3 in
	*:*) family=-6 ;;
	*) family=-4 ;;
	esac
	mac=$(cat "/sys/class/net/$2$((1 - $1))${5-}/address")
	ip neigh replace "$4" lladdr "$mac" dev "$2$1${5-}" nud permanent &&
		ip $family route replace "$4" dev "$2$1${5-}" src "$3" table 10"$1"
}

# rdma_yield: the test and what it starts leave the processor to kworkers and ksoftirqd. Software RoCE
# works in them: if a hundred programs of the same weight keep them from it for a second, it answers
# nothing, the peer's retries are used up, and the link is lost.
rdma_yield() {
	renice -n 10 -p $$ >/dev/null
}

rdma_ports() {
	rdma_yield
	rdma link add rxe0 type "${RDMA_TYPE:-rxe}" netdev smc0 &&
		rdma link add rxe1 type "${RDMA_TYPE:-rxe}" netdev smc1 &&
		rdma_addressed rxe0 && rdma_addressed rxe1
}

# rdma_addressed DEVICE: the kernel gives a port its addresses some time later, those of IPv6 last;
# a connection before that is TCP.
rdma_addressed() {
	rdma_tries=0
	until grep -qs '^fd0' "/sys/class/infiniband/$1/ports/1/gids/"*; do
		rdma_tries=$((rdma_tries + 1))
		[ $rdma_tries -lt $((600 * ${VM_SLOW:-1})) ] || return 1
		sleep 0.1
	done
}

# memrdma COMMAND...: one for tests/modules/memrdma, see README.rst there
memrdma() {
	echo "$*" >/sys/module/memrdma/parameters/control
}

# memrdma_value DEVICE/PORT NAME: one of the numbers of a port
memrdma_value() {
	sed -n "s|^$1 .* $2=\([0-9]*\).*|\1|p" /sys/module/memrdma/parameters/state
}

# rdma_unwire: undoes all that, as far as it is there.
rdma_unwire() {
	for family in -4 -6; do
		ip $family rule add pref 0 lookup local
		for pref in 10 11 19 20 21 30; do
			while ip $family rule del pref $pref; do
				:
			done
		done
	done
	for port in 0 1; do
		rdma link del "rxe$port"
		rdma link del "rxe$((port + 2))"
		ip link del "smc$port"
		ip link del "app$port"
		ip link del "alt$port"
	done
	[ -z "${RDMA_BETWEEN-}" ] || ip netns del "$RDMA_BETWEEN"
	:
} 2>/dev/null

# rdma_guest: an RDMA port on the wire between two guests, and a user EID; after wire_up. Buffers of
# which there is memory for hundreds.
rdma_guest() {
	echo 65536 >/proc/sys/net/smc/rmem
	rdma_allow_v1
	rdma_yield
	rdma_forget
	modprobe rdma_rxe || return 1
	rdma link add rxe0 type rxe netdev eth0 && rdma_addressed rxe0 || return 1
	smcd ueid add SMCTEST
}

# rdma_forget: what a test before has left in a guest with the distribution's module, which stays loaded
rdma_forget() {
	rdma link del rxe0
	rdma link del rxe1
	ip link del eth1
	ip rule del pref 19
	ip -6 rule del pref 19
	smcd ueid del SMCTEST
	smc_pnet -f
	:
} 2>/dev/null

# rdma_guest_v1: the same with addresses of RoCE version 1 as well, for a test that has "roce: v1"
rdma_guest_v1() {
	modprobe -a ib_core ib_uverbs ip6_udp_tunnel udp_tunnel && insmod "$VM_RXE/rdma_rxe.ko" &&
		rdma_guest
}

# rdma_second_port HOST: another port on the wire between two guests, with addresses that end so, and
# a name for the network of both. Each port answers for its own addresses only, and what comes from
# them leaves through it.
rdma_second_port() {
	echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
	echo 2 >/proc/sys/net/ipv4/conf/all/arp_announce
	modprobe macvlan && ip link add eth1 link eth0 type macvlan mode bridge &&
		ip addr add "10.0.0.$1/24" dev eth1 noprefixroute &&
		ip addr add "fd00::$1/64" dev eth1 nodad noprefixroute && ip link set eth1 up &&
		ip rule add pref 19 from "10.0.0.$1" lookup 101 &&
		ip -6 rule add pref 19 from "fd00::$1" lookup 101 &&
		ip route add 10.0.0.0/24 dev eth1 table 101 &&
		ip -6 route add fd00::/64 dev eth1 table 101 &&
		rdma link add rxe1 type rxe netdev eth1 && rdma_addressed rxe1 || return 1
	smc_pnet -a WIRE -I eth0 && smc_pnet -a WIRE -D rxe0 && smc_pnet -a WIRE -D rxe1
}

# no_connection: is none left? For wait_for.
no_connection() {
	[ "$(objects conn live)" = 0 ]
}

# talk_listen PROGRAM ADDRESS PORT: talk.py as a server in the background; its process is talk_pid.
talk_listen() {
	smc_run "$1" serve "$2" "$3" 2>/dev/null &
	talk_pid=$!
	until ss -Hltn "sport = :$3" | grep -q LISTEN; do
		sleep 0.1
	done
}

# talk SERVER PORT CASE...: talk.py between the two guests, one of which is the server; each case is a
# test point of the other.
talk() {
	talk_between "$1" "$2" "$MY_ADDR" "$PEER_ADDR"
	shift 2
	talk_turn talk_points "$@"
}

# talk6: the same over IPv6
talk6() {
	talk_between "$1" "$2" "$MY_ADDR6" "$PEER_ADDR6"
	shift 2
	talk_turn talk_points "$@"
}

# held SERVER PORT COMMAND...: the command, on the other guest, while a connection is open.
held() {
	talk_between "$1" "$2" "$MY_ADDR" "$PEER_ADDR"
	shift 2
	talk_turn talk_held "$@"
}

# talk_between SERVER PORT MINE PEERS
talk_between() {
	talk_server=$1 talk_port=$2 talk_address=$4
	talk_program=$VM_DIR/../selftests/interop/talk.py
	[ "$VM_GUEST" != "$talk_server" ] || talk_address=$3
}

# talk_turn COMMAND...: the server serves while the other guest runs the command
talk_turn() {
	[ "$VM_GUEST" != "$talk_server" ] ||
		talk_listen "$talk_program" "$talk_address" "$talk_port"
	sync "talk-$talk_port"
	[ "$VM_GUEST" = "$talk_server" ] || "$@"
	sync "talked-$talk_port"
	[ "$VM_GUEST" != "$talk_server" ] || kill "$talk_pid"
}

# talk_points CASE...: one test point for each. All have one limit: a case that hangs ends the rest.
talk_points() {
	timeout $(((120 + 10 * $#) * ${VM_SLOW:-1})) smc_run "$talk_program" call "$talk_address" "$talk_port" "$@" \
		>/tmp/talked 2>&1
	talk_status=$?	# 1: one of the cases failed, 124: no more time
	for talk_case; do
		check "port $talk_port: $talk_case" talk_told "$talk_case"
	done
}

talk_told() {
	case $talk_status in
	0 | 1 | 124)
		grep -qx "ok $1" /tmp/talked && return
		;;
	esac
	echo "status $talk_status"
	cat /tmp/talked
	return 1
}

talk_held() {
	mkfifo /tmp/held
	smc_run "$talk_program" call "$talk_address" "$talk_port" hold </tmp/held >/tmp/held-said 2>&1 &
	exec 8>/tmp/held
	"$@"
	exec 8>&-
	check "port $talk_port: held" wait $!
	sed 's/^/# /' /tmp/held-said
	rm /tmp/held /tmp/held-said
}

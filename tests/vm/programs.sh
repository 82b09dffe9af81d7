# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043,SC2034,SC2154,SC2317 # "local" is in every shell we use; the
# variables are those of lib.sh and of the tests
#
# For tests of programs: the same program over TCP, over SMC, and over connections that have to
# fall back, and proofs by counters of what its bytes went over. Sourced behind lib.sh.
#
# A mode is tcp, smc, smcr, or one of two ways to fall back: "declined", the two ends have no EID
# in common and find that out in the handshake; "stripped", something on the way removes the SMC
# option from TCP's headers.
#
# A test that sets TRANSPORT=rdma runs over SMC-R: programs_rdma.sh for example. One that sets
# SWITCH=policy has "smc on" for the namespaces and no smc_run: programs_policy.sh for example.

# shellcheck source=../lib/rdma.sh
. "$VM_DIR/../lib/rdma.sh"

# Run as another user, a program needs our library where that user can read it
mkdir -p "$_work/tools"
chmod 755 "$_work" "$_work/tools"
cp "$VM_TOOLS/smc_run" "$VM_TOOLS/libsmc-preload.so" "$_work/tools"

# pair: namespaces "client" and "server"; sets $host and $host6, addresses of the server, and
# $ends, the namespaces to prepare and to count in, and $modes. Software RoCE works in the first
# namespace only: with TRANSPORT=rdma both are names of that, and what goes from one address to the
# other goes over the wire.
pair() {
	if [ "$TRANSPORT" = rdma ]; then
		allow_slow_handshakes
		modprobe rdma_rxe || die "no software RoCE"
		rdma_wire || die "no wire"
		ip netns attach client $$ || die "no name"
		ip netns attach server $$ || die "no name"
		host=10.9.0.1 host6=fd09::1
		ends=client modes="tcp smcr" stats=smcr
	else
		ns_pair client server
		host=$(addr server) host6=$(addr server 6)
		ends="client server" modes="tcp smc declined"
	fi
	in_ns client ip link set lo up
}

unpair() {
	ip netns del client
	ip netns del server
	[ "$TRANSPORT" != rdma ] || rdma_unwire
}

# set_mode MODE NAMESPACE...: prepares the namespaces; sets $via, what a program is started with
set_mode() {
	local ns eid=0

	mode=$1
	via="$_work/tools/smc_run"
	[ "$mode" != tcp ] || via=
	shift
	if [ "$SWITCH" = policy ]; then
		_set_policy "$@"
		via=
	fi
	for ns; do
		eid=$((eid + 1))
		in_ns "$ns" nft flush ruleset
		in_ns "$ns" smcd ueid flush
		in_ns "$ns" smcd seid enable
		case $mode in
		declined)
			in_ns "$ns" smcd ueid add "EID-$eid" &&
				in_ns "$ns" smcd seid disable &&
				_strip "$ns" "iif lo"	# there the EID is the same
			;;
		stripped)
			_strip "$ns"
			;;
		smcr)
			# SMC-D would come first; and there is memory for so many buffers only
			in_ns "$ns" smcd ueid add SMCTEST &&
				in_ns "$ns" sh -c "echo 5 >/proc/sys/net/smc/variants" &&
				in_ns "$ns" sh -c "echo 65536 >/proc/sys/net/smc/rmem"
			;;
		esac || die "cannot prepare namespace $ns"
	done
}

# _set_policy NAMESPACE...: all programs there, or none
_set_policy() {
	local ns

	smc off >/dev/null || die "cannot switch it off"
	[ "$mode" != tcp ] || return 0
	for ns; do
		smc on --netns "$ns" >/dev/null || die "cannot switch it on"
	done
}

# _strip NAMESPACE [MATCH]: SYNs that come in lose the SMC option
_strip() {
	in_ns "$1" nft "add table inet strip
		add chain inet strip in { type filter hook input priority 0; }
		add rule inet strip in $2 tcp flags syn reset tcp option 254"
}

# _sum WHAT NAMESPACE...: the sum of all numbers with that name in "smcd stats" or "smcr stats"
_sum() {
	local what="$1" ns

	shift
	for ns; do
		if [ "$ns" = . ]; then
			"${stats:-smcd}" -a stats
		else
			in_ns "$ns" "${stats:-smcd}" -a stats
		fi || die "no statistics"
	done | awk -v what="$what" 'index($0, what) {
		sub("^.*" what "[^0-9]*", ""); sum += $1
	} END { printf "%.0f\n", sum }'
}

# count_from NAMESPACE...: begins to count; "." is the namespace of the test itself
count_from() {
	_counted=$*
	snapshot _mode
	_conns=$(_sum "SMC connections" "$@")
	_fallbacks=$(_sum "TCP fallback" "$@")
	_bytes=$(_sum "Data transmitted" "$@")
}

# conns, fallbacks and bytes sent and received over SMC, since count_from
conns() {
	# shellcheck disable=SC2086 # names of namespaces
	echo $(($(_sum "SMC connections" $_counted) - _conns))
}

fallbacks() {
	# shellcheck disable=SC2086
	echo $(($(_sum "TCP fallback" $_counted) - _fallbacks))
}

smc_bytes() {
	# shellcheck disable=SC2086
	echo $(($(_sum "Data transmitted" $_counted) - _bytes))
}

# went_over [BYTES]: whether connections since count_from were of the mode, all of them, and
# carried that much in either direction. With SMC at both ends each byte counts twice.
went_over() {
	local conns fallbacks bytes dmbs handshakes

	conns=$(conns)
	fallbacks=$(fallbacks)
	bytes=$(smc_bytes)
	dmbs=$(objects_since _mode dmb created)
	handshakes=$(objects_since _mode handshake created)
	log "$mode: $conns SMC connections, $fallbacks fell back, $bytes bytes over SMC," \
		"$dmbs buffers, $handshakes handshakes"
	case $mode in
	tcp) [ "$conns $fallbacks $bytes $dmbs $handshakes" = "0 0 0 0 0" ] ;;
	smc) [ "$conns" -gt 0 ] && [ "$fallbacks" = 0 ] && [ "$bytes" -ge $((2 * ${1:-1})) ] ;;
	# What a program connects to on the host that it runs on has no RDMA port, and is TCP
	smcr)
		[ "$conns" -gt "$fallbacks" ] && [ "$dmbs" = 0 ] && [ "$bytes" -ge $((2 * ${1:-1})) ]
		;;
	declined)
		[ "$conns $bytes" = "0 0" ] && [ "$fallbacks" -gt 0 ] && [ "$handshakes" -gt 0 ]
		;;
	stripped) [ "$conns $bytes $handshakes" = "0 0 0" ] && [ "$fallbacks" -gt 0 ] ;;
	esac
}

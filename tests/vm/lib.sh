# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043 # "local" is in every shell we use
#
# What test scripts in a guest share; works in dash and bash. Nothing here
# sleeps to give something time: wait_for polls a condition.
#
#   VM_GUEST (a, b), VM_GUESTS, VM_TEST, VM_KERNEL, VM_RELEASE
#   VM_SLOW how many times longer than usual everything may take
#   VM_DIR tests/vm, VM_MODULES our modules, VM_SELFTESTS and VM_TOOLS built programs

# shellcheck source=/dev/null
. /run/vm/config
PATH=${VM_TOOLS:-/nonexistent}:${VM_SELFTESTS:-/nonexistent}:$PATH

WAIT_LIMIT=${WAIT_LIMIT:-$((60 * ${VM_SLOW:-1}))}
OBJECTS=/sys/kernel/debug/smc/objects

_points=0
_pairs=0
_work=$(mktemp -d /tmp/vm-test.XXXXXX)

# --- TAP -----------------------------------------------------------------

# log TEXT: a diagnostic line.
log() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass() {
	_points=$((_points + 1))
	echo "ok $_points - $*"
}

fail() {
	_points=$((_points + 1))
	echo "not ok $_points - $*"
}

# die TEXT: the test cannot go on.
die() {
	echo "Bail out! $*"
	exit 1
}

# check NAME COMMAND...: one test point; what the command printed is shown if it fails.
check() {
	local name="$1"

	shift
	if "$@" >"$_work/check" 2>&1; then
		pass "$name"
	else
		fail "$name"
		log "$* ended with a failure"
		sed 's/^/#   /' "$_work/check"
	fi
}

# refuse NAME COMMAND...: one test point, good if the command fails.
refuse() {
	local name="$1"

	shift
	if "$@" >"$_work/check" 2>&1; then
		fail "$name"
		log "$* should have failed"
		sed 's/^/#   /' "$_work/check"
	else
		pass "$name"
	fi
}

# is NAME GOT WANTED: one test point comparing two strings.
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		log "got '$2', wanted '$3'"
	fi
}

# done_testing: the plan, without which a test has failed.
done_testing() {
	echo "1..$_points"
	exit 0
}

# --- waiting ---------------------------------------------------------------

_now() {
	local up rest

	# shellcheck disable=SC2034 # rest takes the other field
	read -r up rest </proc/uptime
	echo "${up%.*}"
}

# wait_for WHAT COMMAND...: until the command succeeds, WAIT_LIMIT seconds at most. The last try begins
# after the end of the time: this shell may have slept meanwhile.
wait_for() {
	local what="$1" end is_late=0

	shift
	end=$(($(_now) + WAIT_LIMIT))
	until "$@" >/dev/null 2>&1; do
		if [ $is_late = 1 ]; then
			log "waited $WAIT_LIMIT seconds for $what: $*"
			return 1
		fi
		[ "$(_now)" -le "$end" ] || is_late=1
		sleep 0.05
	done
}

# allow_slow_handshakes [NAMESPACE...]: in this namespace, or those. A handshake that times out becomes TCP,
# and on a busy machine the work queue may need seconds for each message. The distribution's module has no
# such setting.
allow_slow_handshakes() {
	local ns allow="echo $((30 * ${VM_SLOW:-1})) >/proc/sys/net/smc/handshake_timeout"

	[ -e /proc/sys/net/smc/handshake_timeout ] || return 0
	[ $# -gt 0 ] || eval "$allow"
	for ns; do
		ip netns exec "$ns" sh -c "$allow"
	done
}

# sync NAME [VALUE]: waits until the other guest is here as well; its value is in SYNC_VALUE.
# The test ends if the other guest's already has.
# shellcheck disable=SC2034 # SYNC_VALUE is for the caller
sync() {
	local word

	# One descriptor for both directions, so that no answer gets lost.
	exec 9<>/dev/ttyS2
	printf 'sync %s\n' "$*" >&9
	IFS=' ' read -r word _ SYNC_VALUE <&9
	exec 9>&-
	[ "$word" = go ] || die "sync $1: the other guest has ended ($word)"
}

# unload MODULE...: whether each goes. The last socket lets its module go a moment after it was counted.
unload() {
	local module

	for module; do
		wait_for "$module to go" rmmod "$module" || return 1
	done
}

# --- namespaces and wires ----------------------------------------------------

# ns_pair A B: two namespaces ("containers") joined by a veth pair, each with eth0:
# 10.N.0.1 and fd00:N::1 in A, .2 in B, N counting the pairs of a test.
ns_pair() {
	_pairs=$((_pairs + 1))
	ip netns add "$1" || die "cannot create namespace $1"
	ip netns add "$2" || die "cannot create namespace $2"
	ip link add eth0 netns "$1" type veth peer name eth0 netns "$2" ||
		die "cannot join $1 and $2"
	_ns_up "$1" 1
	_ns_up "$2" 2
	allow_slow_handshakes "$1" "$2"
}

_ns_up() {
	ip netns exec "$1" sh -c "
		echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
		ip link set lo up
		ip link set eth0 up
		ip addr add 10.$_pairs.0.$2/24 dev eth0
		ip addr add fd00:$_pairs::$2/64 dev eth0 nodad"
}

# in_ns NAME COMMAND...
in_ns() {
	local name="$1"

	shift
	ip netns exec "$name" "$@"
}

# addr NAME [6]: address of eth0 in a namespace.
addr() {
	_addr "${2:-4}" ip -n "$1"
}

_addr() {
	local family="$1"

	shift
	"$@" -o -"$family" addr show dev eth0 scope global |
		sed -n 's/.* inet6\{0,1\} \([^/]*\).*/\1/p'
}

# wire_up: addresses on the wire between two guests: 10.0.0.1 and fd00::1 in guest a, 2 in b.
# Sets MY_ADDR, PEER_ADDR, MY_ADDR6 and PEER_ADDR6; returns when the guests see each other.
# shellcheck disable=SC2034 # for the tests
wire_up() {
	local me=1 peer=2

	[ "$VM_GUEST" = a ] || { me=2 peer=1; }
	is_up eth0 || modprobe virtio_net
	wait_for "the wire's device" ip link show eth0 || die "no device on the wire"
	allow_slow_handshakes
	MY_ADDR=10.0.0.$me PEER_ADDR=10.0.0.$peer
	MY_ADDR6=fd00::$me PEER_ADDR6=fd00::$peer
	[ ! -e /proc/sys/net/ipv6/conf/eth0/accept_dad ] ||
		echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
	ip addr replace $MY_ADDR/24 dev eth0
	ip addr replace $MY_ADDR6/64 dev eth0 nodad
	ip link set eth0 up
	sync wire-up
	wait_for "the peer" ping -c 1 -W 1 $PEER_ADDR || die "the wire between the guests is dead"
}

is_up() {
	ip link show dev "$1" up >/dev/null 2>&1
}

# wait_listen PORT [NAMESPACE]: until somebody listens; AF_SMC has a TCP listener inside.
wait_listen() {
	wait_for "a listener on port $1" _listens "$@"
}

_listens() {
	if [ -n "$2" ]; then
		ip netns exec "$2" ss -Hltn "sport = :$1" | grep -q LISTEN
	else
		ss -Hltn "sport = :$1" | grep -q LISTEN
	fi
}

# --- state of the module -------------------------------------------------------

# objects NAME live|created: one counter of the module.
objects() {
	local name live created

	while read -r name live created _; do
		[ "$name" = "$1" ] || continue
		[ "$2" = live ] && echo "$live" || echo "$created"
		return
	done <$OBJECTS
	die "no counter $1 in $OBJECTS"
}

# snapshot FILE: all object counters, for objects_since.
snapshot() {
	cat $OBJECTS >"$_work/$1"
}

# objects_since SNAPSHOT NAME live|created: by how much a counter has grown.
objects_since() {
	local column=2 before

	[ "$3" = live ] || column=3
	before=$(awk -v n="$2" -v c=$column '$1 == n { print $c }' "$_work/$1")
	echo $(($(objects "$2" "$3") - before))
}

# smc_stat NAMESPACE WHAT: a number of "smcd stats" since the module was loaded, for example
# smc_stat client "TCP fallback"; an empty NAMESPACE is this one.
smc_stat() {
	${1:+ip netns exec "$1"} smcd -a stats | sed -n "s/^ *$2  *\([0-9]*\).*/\1/p" | head -n 1
}

_live() {
	while read -r _name _count _; do
		echo "$_name $_count"
	done <$OBJECTS
}

_live_is() {
	[ "$(_live)" = "$1" ]
}

_clean_from=$([ ! -e $OBJECTS ] || _live)

# smc_expect_clean [NAME]: one test point: every object made since the start of the test is gone.
smc_expect_clean() {
	local name="${1:-no object is left over}"

	if wait_for "the live objects to go" _live_is "$_clean_from"; then
		pass "$name"
	else
		fail "$name"
		log "at the start:" "$(echo "$_clean_from" | tr '\n' ',')"
		log "now:         " "$(_live | tr '\n' ',')"
	fi
}

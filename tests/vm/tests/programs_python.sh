#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Python's own tests of sockets, selectors, asyncio, TLS and HTTP: what passes over TCP passes over
# SMC, and over connections which have to fall back. They know TCP well, up to its errors.
#
# The variable PYTHON_SUITES names some of the modules, below test.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: ``socket_calls``: socket calls without these programs.
# modules: smc
# variables: PYTHON_SUITES
# cpus: 2
# memory: 2048
# timeout: 2400

# shellcheck disable=SC2317,SC2086,SC2154 # check() calls these functions; $via is a word or none
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../programs.sh
. "$(dirname "$0")/../programs.sh"

PYTHON=/usr/bin/python3		# Debian's, which has the tests
read -r -d '' -a SUITES <<<"${PYTHON_SUITES:-test_socket test_select test_selectors test_ssl test_httpservers
	test_asyncio.test_buffered_proto test_asyncio.test_sendfile test_asyncio.test_server
	test_asyncio.test_sock_lowlevel test_asyncio.test_streams}"
SUITES=("${SUITES[@]/#/test.}")
suites=$VM_DIR/../selftests/programs/python_suites.py

# set_way WAY: both ends are in one namespace, where different EIDs cannot part them. Without a
# device to offer (SMC-R is all that is left, see sysctl.rst), the client declines at once.
set_way() {
	if [ "$1" != declined ]; then
		set_mode "$1" box
		return
	fi
	set_mode smc box
	mode=declined
	in_ns box sh -c 'echo 4 >/proc/sys/net/smc/variants' || die "cannot leave out SMC-D"
}

# run_suites [OPTION...]: in the namespace, in an empty folder, with names for the addresses it has
run_suites() {
	rm -rf "$_work/cwd"
	mkdir -p "$_work/cwd"
	(cd "$_work/cwd" && in_ns box $via $PYTHON "$suites" run --limit $((60 * VM_SLOW)) "$@") \
		>>"$_work/log.$mode" 2>&1 </dev/null
}

# enough N: N times as many pass as do not, or it says nothing
enough() {
	[ "$(grep -c '^ok ' "$_work/results.tcp")" -gt \
		$(($1 * $(grep -c '^failed \|^died ' "$_work/results.tcp"))) ]
}

# as_good: tests that depend on time fail now and then on a busy machine. What failed is
# repeated alone: a failure counts if it comes again, and not over TCP.
as_good() {
	$PYTHON "$suites" compare "$_work/results.tcp" "$_work/results.$mode" >"$_work/worse" &&
		return
	log "$mode, worse at first:"
	log "$(cat "$_work/worse")"
	sed -n 's/^[a-z]* \([^ ]*\)$/\1/p' "$_work/worse" >"$_work/again"
	run_suites --only "$_work/again" "$_work/again.$mode" "${SUITES[@]}"
	while read -r test; do
		grep -qxF "ok $test" "$_work/again.$mode" || echo "$test"
	done <"$_work/again" >"$_work/bad"
	[ ! -s "$_work/bad" ] && return
	cat "$_work/bad" "$_work/again.$mode"
	return 1
}

$PYTHON -c 'import test.test_socket' 2>/dev/null ||
	die "no tests of Python; scripts/install-packages programs"
ip netns add box
in_ns box ip link set lo up
allow_slow_handshakes box

for way in tcp smc declined; do
	set_way $way
	count_from box
	begin=$(cut -d' ' -f1 /proc/uptime)
	check "$mode: the suites come to their end" run_suites "$_work/results.$mode" "${SUITES[@]}"
	log "$mode: from $begin to $(cut -d' ' -f1 /proc/uptime)," "$(tail -n 1 "$_work/log.$mode")"
	if [ $mode = tcp ]; then
		check "tcp: most of them pass" enough 9
		log "not passed: $(grep '^failed\|^died' "$_work/results.tcp")"
	else
		check "$mode: what passes over TCP passes" as_good
	fi
	check "$mode: they went over it" went_over
done
ip netns del box
smc_expect_clean "nothing is left over"
done_testing

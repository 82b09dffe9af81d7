#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A server that is older than "smc on" stays TCP. "smc check" says to restart it, and that helps.
#
# kernels: stock-6.12
# modules: smc smc_diag
# timeout: 240

# shellcheck disable=SC3043,SC2317,SC2154,SC2119 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

# serve: an unmodified program
serve() {
	ip netns exec server python3 -m http.server 5001 >"$_work/server" 2>&1 &
	server=$!
	wait_listen 5001 server || die "no server"
}

stop() {
	kill $server
	wait $server
}

policy_begin
ns_pair client server
there=$(addr server)
serve
check "without a policy" shows "restart it after \"smc on\" there" in_ns client smc check "$there:5001"
check "on" smc on --host
check "status does not speak of MPTCP" test "$(smc status | grep -c MPTCP)" = 0
check "the server is still TCP" shows "0x03010000" in_ns client smc check "$there:5001"
check "with the advice to restart it" \
	shows "restart it: sockets that were open before \"smc on\" stay TCP." \
	in_ns client smc check "$there:5001"
check "in its own namespace as well" shows "Restart the server:" in_ns server smc check "$there:5001"
stop
serve
check "that helps" shows "uses SMC-D" in_ns client smc check "$there:5001"
check "the setting is named" in_ns client sysctl -qw net.smc.variants=1
check "  and what it does" shows "net.smc.variants=1: SMC-D is off" \
	in_ns client smc check "$there:5001"
check "  and to change it" shows "sysctl -w net.smc.variants=15" \
	in_ns client smc check "$there:5001"
check "do it" in_ns client sysctl -qw net.smc.variants=15
check "in the server's namespace" in_ns server sysctl -qw net.smc.variants=1
check "  it is named, too" shows "net.smc.variants of the server's network namespace" \
	in_ns client smc check "$there:5001"
stop
check "off" smc off

ip netns del client
ip netns del server
policy_end
smc_expect_clean "nothing is left over"
done_testing

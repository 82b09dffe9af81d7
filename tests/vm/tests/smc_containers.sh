#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An unmodified program in two namespaces: over SMC when both ends use it, over
# TCP when one of them does not, without any configuration. The counters of the
# module say which it was.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.12
# modules: smc
# timeout: 240
# cpus: 2

# shellcheck disable=SC3043,SC2317 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ns_pair client server

# transfer PORT SERVER-PREFIX CLIENT-PREFIX [IPERF3-OPTION...]: a megabyte through iperf3.
transfer() {
	local port="$1" server_prefix="$2" client_prefix="$3" family=4

	shift 3
	case " $* " in
	*" -6 "*) family=6 ;;
	esac
	# shellcheck disable=SC2086 # a word or none
	in_ns server $server_prefix iperf3 -s -1 -p "$port" >"$_work/server.log" 2>&1 &
	wait_listen "$port" server || return 1
	# shellcheck disable=SC2086
	in_ns client $client_prefix iperf3 -c "$(addr server $family)" -p "$port" -n 1M "$@" ||
		return 1
	wait $!
}

# over_smc: whether connections were made through shared memory since the snapshot.
over_smc() {
	[ "$(objects_since before dmb created)" -gt 0 ]
}

snapshot before
check "both ends with smc_run" transfer 5001 smc_run smc_run
check "it went over SMC" over_smc

snapshot before
check "the same over IPv6" transfer 5002 smc_run smc_run -6
check "it went over SMC" over_smc

snapshot before
check "the other direction" transfer 5003 smc_run smc_run -R
check "it went over SMC" over_smc

snapshot before
check "a TCP client" transfer 5004 smc_run ""
refuse "it stayed TCP" over_smc
# iperf3 has a control connection and one for the data.
is "the server fell back" "$(smc_stat server "TCP fallback")" 2

snapshot before
check "a TCP server" transfer 5005 "" smc_run
refuse "it stayed TCP" over_smc
is "the client fell back" "$(smc_stat client "TCP fallback")" 2
is "all others were SMC connections" "$(smc_stat client "SMC connections")" 6

ip netns del client
ip netns del server
smc_expect_clean "nothing is left over once the namespaces are gone"
done_testing

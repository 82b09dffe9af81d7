#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Against the distribution's own module on another host, without any RDMA
# device: the two agree to stay with TCP, whoever is the server, and the data
# arrives.
#
# kernels: stock-6.12 stock-6.1
# peer: intree
# modules: smc
# timeout: 240

# shellcheck disable=SC3043,SC2317 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# transfer SERVER PORT [OPTION...]: a megabyte, the named guest being the server.
transfer() {
	local server="$1" port="$2"

	shift 2
	if [ "$VM_GUEST" = "$server" ]; then
		smc_run iperf3 -s -1 -p "$port" >"$_work/server.log" 2>&1 &
		wait_listen "$port" || die "no server"
		sync "listening-$port"
		check "port $port: served" wait $!
	else
		sync "listening-$port"
		check "port $port: connected" smc_run iperf3 -c "$PEER_ADDR" -p "$port" -n 1M "$@"
	fi
	sync "done-$port"
}

# whose: whether "smc check" takes the module for another one; guest b has the distribution's
whose() {
	smc check 127.0.0.1 >"$_work/said"
	grep -q "note *module *the module smc that is loaded is not the one of this tool" "$_work/said"
}

check "this guest's module" test -d /sys/module/smc
if [ "$VM_GUEST" = a ]; then
	refuse "is the one of the tools" whose
else
	check "is not the one of the tools, which say so" whose
fi
wire_up
transfer a 5001
transfer b 5002
transfer a 5003 -R
transfer b 5004 -R
if [ "$VM_GUEST" = a ]; then
	check "the two modules talked to each other" test "$(objects handshake created)" -ge 4
	is "nothing went over SMC" "$(objects dmb created)" 0
	smc_expect_clean "no object is left over"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The README's "Is it on? Why not? Fix it" on a machine where nothing is set up: each
# obstacle is found by the tool that is to find it, what it says to do is done, and helps.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc smc_diag
# timeout: 240

# shellcheck disable=SC3043,SC2317 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# says TEXT COMMAND...: whether the command prints the text, whatever its exit status.
says() {
	local text="$1"

	shift
	"$@" >"$_work/said" 2>&1
	tr -s ' \n' ' ' <"$_work/said" | grep -qF -- "$text" && return
	cat "$_work/said"
	return 1
}

# ends STATUS COMMAND...
ends() {
	local want="$1" got=0

	shift
	"$@" || got=$?
	[ "$got" = "$want" ]
}

# idle: no connection over SMC-D.
idle() {
	! says "ACTIVE" in_ns client smcss -D
}

# serve PORT [PREFIX]: an unmodified program, or one that is started with smc_run. It could not be killed
# if in_ns started it: in the background that is a shell.
serve() {
	# shellcheck disable=SC2086 # a word or none
	ip netns exec server ${2-} python3 -m http.server "$1" >"$_work/server.$1" 2>&1 &
	eval "server_$1=\$!"
	wait_listen "$1" server || die "no server"
}

# An unmodified program that keeps a connection until it is killed
hold="import socket, sys; socket.create_connection(sys.argv[1:]).recv(1)"

ns_pair client server
there=$(addr server)

# Is the module there?
unload smc_diag smc || die "cannot unload"
check "without the module, the first step fails" says "BAD kernel" smc check 127.0.0.1
check "and says what to do" says "modprobe smc" smc check 127.0.0.1
check "smcss says why" says "smcss: SMC module not loaded" smcss
check "without the words of the kernel" test "$(smcss 2>&1 | grep -c RTNETLINK)" = 0
check "statistics do not load it" says "SMC module not loaded" smcd stats
insmod "$VM_MODULES/smc.ko" || die "cannot load smc"
allow_slow_handshakes client server
check "with it, SMC sockets are available" says "ok kernel" smc check 127.0.0.1
check "there is a device without any configuration" says "1 for SMC-D" smc check 127.0.0.1
check "smcd info shows version 2" says "v2" smcd info
check "smcd device shows the loopback device" says "lo" smcd device
insmod "$VM_MODULES/smc_diag.ko" || die "cannot load smc_diag"

# Why not? The other program does not use it.
check "nobody listens" ends 2 in_ns client smc check "$there:5001"
serve 5001
check "a server without SMC" ends 1 in_ns client smc check "$there:5001"
check "is named as the reason" says "0x03010000" in_ns client smc check "$there:5001"
check "with the advice to start it with smc_run" says "Start the program there with smc_run" \
	in_ns client smc check "$there:5001"
check "smcd stats counts it" test "$(smc_stat client "TCP fallback")" -ge 3
check "with the short name of the reason" says "PEER_NO_SMC" in_ns client smcd -d stats

# Fix it.
serve 5002 smc_run
check "a server with smc_run" ends 0 in_ns client smc check "$there:5002"
check "is reached over SMC-D" says "uses SMC-D" in_ns client smc check "$there:5002"

# Does a connection use it?
ip netns exec client smc_run python3 -c "$hold" "$there" 5002 >"$_work/client" 2>&1 &
client=$!
check "smcss shows a connection over SMC-D" \
	wait_for "the connection" says "ACTIVE" in_ns client smcss -D
check "with the server's address" says "$there:5002" in_ns client smcss -W
check "and its link group" wait_for "the group" says "LG" in_ns client smcd linkgroup
kill $client
wait $client
check "it is gone afterwards" wait_for "its end" idle

ip netns exec client smc_run python3 -c "$hold" "$there" 5001 >"$_work/client" 2>&1 &
client=$!
check "smcss says why another one is TCP" \
	wait_for "the connection" says "TCP 0x03010000" in_ns client smcss
check "in words, if asked" says "peer does not support SMC" in_ns client smcss -e
kill $client
wait $client

# EIDs: two hosts without one in common, here two namespaces.
check "the system EID is in use" says "enabled" in_ns server smcd seid
check "give the server an EID of its own" in_ns server smcd ueid add SERVER.EXAMPLE
check "and leave it without the system's" in_ns server smcd seid disable
check "nothing in common" ends 1 in_ns client smc check "$there:5002"
check "is named as the reason" says "declined, 0x03030006" in_ns client smc check "$there:5002"
check "with the advice to add an EID" says "ueid add NAME" in_ns client smc check "$there:5002"
check "add it" in_ns client smcd ueid add SERVER.EXAMPLE
check "it is shown" says "SERVER.EXAMPLE" in_ns client smcd ueid
check "now they have one in common" ends 0 in_ns client smc check "$there:5002"
check "take the EID away again" in_ns client smcd ueid flush
check "switch the system's on" in_ns server smcd seid enable
check "this works as well" ends 0 in_ns client smc check "$there:5002"

# Physical networks
check "put an interface into a physical network" in_ns client smc_pnet -a NET1 -I eth0
check "it is shown" says "NET1 eth0" in_ns client smc_pnet
refuse "it is in one network only" in_ns client smc_pnet -a NET2 -I eth0
check "SMC-D on one host does not mind" ends 0 in_ns client smc check "$there:5002"
check "take it out" in_ns client smc_pnet -d NET1
is "nothing is left" "$(in_ns client smc_pnet)" ""

# Programs want JSON
check "smc check speaks JSON" says '"mode":"SMCD"' in_ns client smc -j check "$there:5002"

# shellcheck disable=SC2154 # set by serve
kill "$server_5001" "$server_5002"
wait
ip netns del client
ip netns del server
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A connection that falls back at a limit of memory for buffers: each end tells whose limit it was.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc smc_diag
# timeout: 240

# shellcheck disable=SC3043,SC2317,SC2154 # local is known; check() calls these functions; the
# variables are of eval
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Both keep their connections until they are killed
serve="
import socket, sys
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
listener.bind(('0.0.0.0', int(sys.argv[1])))
listener.listen()
kept = []
while True:
    kept.append(listener.accept())"
connect="
import signal, socket, sys
kept = [socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256) for _ in range(12)]
for sock in kept:
    sock.connect((sys.argv[1], int(sys.argv[2])))
print('connected', flush=True)
signal.pause()"

# reasons NAMESPACE: of the fallbacks there
reasons() {
	in_ns "$1" smcss -j | python3 -c "
import json, sys
print(*sorted({'/'.join(part['code'] for part in sock['fallback'].values())
               for sock in json.load(sys.stdin) if 'fallback' in sock}))"
}

# falls_back NAMESPACE: whether that end knows of a fallback by now
falls_back() {
	[ -n "$(reasons "$1")" ]
}

# says TEXT COMMAND...: whether the command prints the text, whatever its exit status.
says() {
	local text="$1"

	shift
	"$@" >"$_work/said" 2>&1
	tr -s ' \n' ' ' <"$_work/said" | grep -qF -- "$text" && return
	cat "$_work/said"
	return 1
}

# limited NAMESPACE CLIENT SERVER: what each end says when the limit of that namespace is reached.
# The port of the last server may still be taken.
limited() {
	port=$((port + 1))
	check "a limit in the namespace of the $1" in_ns "$1" sysctl -qw net.smc.buffer_limit=1
	ip netns exec server python3 -c "$serve" $port &
	server=$!
	wait_listen $port server || die "no server"
	ip netns exec client python3 -c "$connect" "$there" $port >"$_work/client" &
	client=$!
	wait_for "the connections" test -s "$_work/client" || die "no connections"
	wait_for "fallbacks of the client" falls_back client
	wait_for "fallbacks of the server" falls_back server
	is "the client says" "$(reasons client)" "$2"
	is "the server says" "$(reasons server)" "$3"
}

unlimited() {
	kill $client $server
	wait $client $server
	rm "$_work/client"
	in_ns "$1" sysctl -qw net.smc.buffer_limit=0
}

ns_pair client server
for ns in client server; do
	in_ns $ns sysctl -qw net.smc.rmem_start=524288	# few connections reach the limit
done
there=$(addr server)
port=5000

limited server 0x05000000/0x03100006 0x03100006
check "smc check says whose it is" says "The limit is the server's: net.smc.buffer_limit" \
	in_ns client smc check "$there:$port"
unlimited server
limited client 0x03100006 0x05000000/0x03100006
check "smc check says whose it is" says "The limit is that of this end: net.smc.buffer_limit" \
	in_ns client smc check "$there:$port"
unlimited client

ip netns del client
ip netns del server
smc_expect_clean "no object is left over"
done_testing

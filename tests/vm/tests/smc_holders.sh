#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module is in use: "smcss -aNp" names each process that has a socket, also in network namespaces
# without a name, and the module can be unloaded when these processes have ended.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc smc_diag
# timeout: 240

# shellcheck disable=SC3043,SC2317,SC2154 # local is known; check() calls these functions; hold()
# sets variables
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Prints its descriptor, and keeps a listening socket until it is killed
holder="
import os, signal, socket
sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
sock.bind(('0.0.0.0', 7001))
sock.listen()
print(os.readlink('/proc/self/ns/net').removeprefix('net:'), sock.fileno(), flush=True)
signal.pause()"

# hold NAME COMMAND...: start it; sets NAME to its process, space and fd to what it has said
hold() {
	local name="$1"

	shift
	"$@" python3 -c "$holder" >"$_work/$name" &
	eval "$name=$!"
	wait_for "$name holds a socket" test -s "$_work/$name" || die "no socket"
	read -r space fd <"$_work/$name"
}

# shows TEXT: whether a line of "smcss -aNp" ends with it
shows() {
	smcss -aNp >"$_work/said" 2>&1 || { cat "$_work/said"; return 1; }
	grep -qF -- "$1" "$_work/said" && return
	cat "$_work/said"
	return 1
}

# pids: of all that have a socket, as a script would ask
pids() {
	smcss -ajNp | python3 -c "
import json, sys
print(*sorted({process['pid'] for sock in json.load(sys.stdin) for process in sock['processes']}))"
}

# unheld: whether no process has one
unheld() {
	[ -z "$(pids)" ]
}

check "at first no process has one" unheld

ip netns add blue
hold named exec ip netns exec blue
check "a process in a namespace with a name" \
	shows " netns:blue users:((\"python3\",pid=$named,fd=$fd))"
hold nameless exec unshare -n
check "one in a namespace without a name" \
	shows " netns:$space users:((\"python3\",pid=$nameless,fd=$fd))"
hold here exec
check "one in this namespace" shows " netns:$space users:((\"python3\",pid=$here,fd=$fd))"
check "without -N, only that" test "$(smcss -lp | grep -c users:)" = 1
is "JSON has all of them" "$(pids)" "$(printf '%s\n' "$named" "$nameless" "$here" | sort -n | xargs)"

refuse "the module is in use" rmmod smc_diag smc
insmod "$VM_MODULES/smc_diag.ko" || die "cannot load smc_diag"
# shellcheck disable=SC2046 # words
kill $(pids)
wait
check "no process has one any more" wait_for "the end of the sockets" unheld
check "the module can be unloaded" unload smc_diag smc
insmod "$VM_MODULES/smc.ko" && insmod "$VM_MODULES/smc_diag.ko"

ip netns del blue
smc_expect_clean "no object is left over"
done_testing

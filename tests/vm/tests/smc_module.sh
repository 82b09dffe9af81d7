#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module comes and goes: it registers the family, cannot go while a socket
# exists, goes afterwards, and comes back as new.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# modules: smc
# timeout: 240

# shellcheck disable=SC3043,SC2317 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

AF_SMC=43
SOL_SMC=286

family_is_there() {
	python3 -c "import socket; socket.socket($AF_SMC, socket.SOCK_STREAM, 0)"
}

# hold: a process with a socket, until its input ends; what it prints comes after socket().
hold() {
	python3 -c "
import socket, sys
s = socket.socket($AF_SMC, socket.SOCK_STREAM, 0)
s.setsockopt($SOL_SMC, 1, 1)	# so there is something of ours to count
open('$_work/held', 'w').close()
sys.stdin.read()" <"$_work/input"
}

check "the family is registered" family_is_there
is "no socket is left over" "$(objects sock live)" 0

mkfifo "$_work/input"
hold &
exec 8>"$_work/input"
check "a socket is open" wait_for "the socket" test -e "$_work/held"
is "it is counted" "$(objects sock live)" 1
refuse "the module stays while there is a socket" rmmod smc
check "the family is still there" family_is_there
exec 8>&-
wait $!
smc_expect_clean "it is gone"

check "the module goes when it is closed" unload smc
refuse "the family is gone" family_is_there
for round in 1 2 3; do
	check "load it again, round $round" insmod "$VM_MODULES/smc.ko"
	check "use it" family_is_there
	check "unload it" unload smc
done
done_testing

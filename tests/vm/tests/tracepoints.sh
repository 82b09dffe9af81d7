#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Trace events of a handshake, of data, of an abort and of a fallback, with their fields; those which
# the distribution's module has as well have its fields. Events of links happen in smcr_netlink.sh.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240

# shellcheck disable=SC3043,SC2317 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

tracing=$_work/tracing
mkdir "$tracing"
mount -t tracefs none "$tracing" || die "no tracefs"
ip link set lo up

# traced PATTERN: whether an event matches.
traced() {
	grep -qE -- "$1" "$_work/trace"
}

# formats FOLDER: a line for each field of the events that both modules have, and the text they are
# printed as. Fields that every event has are left out, and offsets, which programs read from here.
formats() {
	local name format

	mkdir "$_work/$1" || return
	for name in smc_tx_sendmsg smc_rx_recvmsg smc_switch_to_fallback smcr_link_down; do
		format=$tracing/events/smc/$name/format
		sed -n 's/^\tfield:\(.*\);\toffset:[0-9]*;\t\(size:.*\)$/\1 \2/p' "$format" |
			grep -v ' common_' >"$_work/$1/$name"
		sed -n 's/^print fmt: "\([^"]*\)".*/\1/p' "$format" >"$_work/$1/$name.text"
		test -s "$_work/$1/$name" -a -s "$_work/$1/$name.text" || return
	done
}

# begins_as FILE: ours begins as theirs does.
begins_as() {
	case "$(cat "$_work/ours/$1")" in
	"$(cat "$_work/theirs/$1")"*) ;;
	*)
		diff "$_work/theirs/$1" "$_work/ours/$1"
		return 1
		;;
	esac
}

# record PYTHON: what happens while it runs; both kinds of sockets are there.
record() {
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/smc/enable"
	PYTHONPATH=$(dirname "$0")/../../selftests/netlink python3 -Bc "
import smc, socket, struct
$1" || fail "the script ran to its end"
	echo 0 >"$tracing/events/smc/enable"
	cat "$tracing/trace" >"$_work/trace"
}

for name in smc_tx_sendmsg smc_rx_recvmsg smc_switch_to_fallback smcr_link_down smcr_link_up \
	smcr_llc smc_clc smc_handshake smc_group smc_cdc smc_abort; do
	check "event $name" test -e "$tracing/events/smc/$name/format"
done

record "
p = smc.Pair()
p.client.sendall(bytes(12345))
got = 0
while got < 12345:
    got += len(p.server.recv(20000))
p.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
p.client.close()
try:
    p.server.recv(1)
except ConnectionResetError:
    pass
p.close()"
check "Proposal sent" traced 'smc_clc: sk=[0-9a-f]+ net=[0-9]+ sent type=1'
check "Proposal received" traced 'smc_clc: sk=[0-9a-f]+ net=[0-9]+ received type=1'
check "Accept received" traced 'smc_clc: sk=[0-9a-f]+ net=[0-9]+ received type=2'
check "Confirm received" traced 'smc_clc: sk=[0-9a-f]+ net=[0-9]+ received type=3'
check "end of the client's handshake" \
	traced 'smc_handshake: sk=[0-9a-f]+ net=[0-9]+ role=client outcome=smc reason=0(x0)? us=[0-9]+'
check "end of the server's" traced 'smc_handshake: .* role=server outcome=smc'
check "link group" traced 'smc_group: net=[0-9]+ id=0x[0-9a-f]+ mode=[0-9] up'
# The first flag is "." only with bottom halves and interrupts on, so no lock of the groups is held
check "its event comes without a lock" traced '\] +\.[^ ]* +[0-9.]+: smc_group: .* up'
refuse "and none comes with one" traced '\] +[^. ][^ ]* +[0-9.]+: smc_group:'
check "data sent" traced 'smc_tx_sendmsg: smc=[0-9a-f]+ net=[0-9]+ len=12345 dev=lo'
check "data received" traced 'smc_rx_recvmsg: smc=[0-9a-f]+ net=[0-9]+ len=[0-9]+ dev=lo'
check "control message sent" \
	traced 'smc_cdc: sk=[0-9a-f]+ sent seqno=[0-9]+ producer=[0-9]+ consumer=[0-9]+ flags=..:..'
check "control message received" traced 'smc_cdc: sk=[0-9a-f]+ received'
check "abort here" traced 'smc_abort: sk=[0-9a-f]+ net=[0-9]+ by=us error=104'
check "abort there" traced 'smc_abort: sk=[0-9a-f]+ net=[0-9]+ by=peer error=104'
refuse "no fallback" traced smc_switch_to_fallback

record "
smc.Pair(server=smc.tcp_socket).close()"
check "fallback" traced 'smc_switch_to_fallback: sk=[0-9a-f]+ clcsk=[0-9a-f]+ net=[0-9]+ fallback_rsn=50397184 \(0x3010000\)'
smc_expect_clean "no object is left over"
check "formats of this module" formats ours
check "the distribution's module takes its place" eval 'unload smc && modprobe smc'
check "formats of that module" formats theirs
for name in "$_work/theirs"/*; do
	check "format ${name##*/}" begins_as "${name##*/}"
done
umount "$tracing"
check "that module goes" unload smc
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Ten thousand connections at once: opened, used, closed; how long that takes and how much memory
# it needs, compared with TCP. All of them go over SMC, also in a machine of one GiB, because buffers
# begin small. With large ones from the start, memory for buffers runs out: the rest is TCP, and works.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: ``smcr_forming`` with 60 SMC connections at once, ``hostile_crowd`` with 1,000
# instead: handshakes, ``memory_share`` for memory that runs out. Only ``make test-all`` has
# instead: thousands of connections.
# modules: smc
# cpus: 2
# memory: 1024
# timeout: 240

# shellcheck disable=SC3043,SC2317 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../programs.sh
. "$(dirname "$0")/../programs.sh"

CONNECTIONS=10000

# connections OPTION...: in this namespace
connections() {
	scale -n "$CONNECTIONS" "$@" >"$_work/scale" 2>&1 || { cat "$_work/scale"; return 1; }
}

# What the program said; in a function that check() calls, it would be shown after a failure only
tell() {
	log "$mode: $(sed 's/^# //' "$_work/scale")"
}

all_over_smc() {
	went_over $((128 * CONNECTIONS)) && [ "$(conns)" = $((2 * CONNECTIONS)) ]
}

# Every connection has two ends, over SMC or over TCP
all_counted() {
	[ "$(conns)" -gt 0 ] && [ $(($(conns) + $(fallbacks))) = $((2 * CONNECTIONS)) ]
}

ip link set lo up
allow_slow_handshakes
echo 200000 >/proc/sys/fs/file-max
echo 200000 >/proc/sys/fs/nr_open

# The first connection makes the link group
mode=smc
check "one connection" scale -n 1

mode=tcp
check "$CONNECTIONS connections over TCP" connections -t
tell

mode=smc
count_from .
check "$CONNECTIONS connections" connections
tell
check "they went over SMC" all_over_smc

large=$(cat /proc/sys/net/smc/rmem)
echo "$large" >/proc/sys/net/smc/rmem_start
count_from .
check "$CONNECTIONS connections with buffers of $large bytes" connections
tell
log "$(($(conns) / 2)) over SMC, $(($(fallbacks) / 2)) over TCP"
check "they went over SMC or TCP" all_counted
smc_expect_clean "nothing is left over"
done_testing

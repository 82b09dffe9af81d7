#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Socket calls do what TCP's do: the same tests for TCP, for all kinds of AF_SMC
# sockets, and for AF_SMC sockets that fall back.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# smaller: eight of the eleven kinds of sockets, four on each kernel.
# modules: smc smc_diag
# timeout: 480
# variables: DAILY

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Packets to 192.0.2.2 and 2001:db8::2 leave and never come back.
ip link add dummy0 type dummy
ip addr add 192.0.2.1/24 dev dummy0
ip addr add 2001:db8::1/64 dev dummy0 nodad
ip link set dummy0 up

# A debug kernel is ten times slower: one of each kind, and TCP itself is not its subject
case $VM_KERNEL${DAILY:+ daily} in
debug-* | kcsan-*) set -- -v smc -v smc_accepted -v fallback_client -v fallback_server ;;
"stock-6.12 daily") set -- -v smc -v smc6 -v smc_both -v fallback_client ;;
"stock-6.1 daily") set -- -v smc_accepted -v ipproto_smc6 -v fallback_server -v tcp ;;
esac
exec socket_test -s "$VM_SLOW" -j 12 "$@"

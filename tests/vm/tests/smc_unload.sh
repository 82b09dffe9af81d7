#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An operator tries to unload the module in each step of a connection's life. It stays while a socket or a call depends
# on it, and goes afterwards; what became TCP goes on without it.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
# Packets to 192.0.2.2 leave and never come back.
ip link add dummy0 type dummy
ip addr add 192.0.2.1/24 dev dummy0
ip link set dummy0 up
cases unload.py "$VM_MODULES"
smc_expect_clean "no object is left over"
done_testing

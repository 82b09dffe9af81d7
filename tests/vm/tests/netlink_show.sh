#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC_GEN_NETLINK: commands, privileges and errors, and every field that is shown,
# as specified in Documentation/netlink/specs/smc.yaml.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc
# timeout: 240

# shellcheck disable=SC2317 # check() calls functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

# alias_is_there MODULE NAME: what the kernel asks for when somebody needs it
alias_is_there() {
	modinfo -F alias "$VM_MODULES/$1" | grep -qx "$2"
}

for name in net-pf-43 net-pf-2-proto-256-type-1 net-pf-10-proto-256-type-1 \
	net-pf-16-proto-16-family-SMC_GEN_NETLINK net-pf-16-proto-16-family-SMC_PNETID; do
	check "smc.ko is $name" alias_is_there smc.ko "$name"
done
check "smc_diag.ko is net-pf-16-proto-4-type-43" alias_is_there smc_diag.ko net-pf-16-proto-4-type-43

ip link set lo up
ip netns add other
ip -n other link set lo up
cases show.py
ip netns del other
smc_expect_clean "no object is left over"
done_testing

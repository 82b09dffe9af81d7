#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Root ends a listening socket of AF_SMC, and TCP may give its connections to a TCP socket of the same
# port. Such a connection points to a function of the module, which nobody can take back; so the module
# stays. Without migration it goes.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc_charge
# boot: smc_killed
# timeout: 240

# shellcheck disable=SC2317 # check() calls this function
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

no_socket_left() {
	[ "$(objects sock live)" = 0 ]
}

ip link set lo up
check "load the module" insmod "$VM_MODULES/smc.ko"
check "end a socket whose connections stay" python3 -B "$VM_DIR/../selftests/netlink/killed.py"
check "unload the module" unload smc
check "load it again" insmod "$VM_MODULES/smc.ko"
check "end a socket whose connections migrate" \
	python3 -B "$VM_DIR/../selftests/netlink/killed.py" migrate
check "no socket is left over" wait_for "the sockets to go" no_socket_left
refuse "the module stays" rmmod smc
done_testing

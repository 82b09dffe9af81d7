#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A TCP socket that descends from one of AF_SMC asks nobody any more when a SYN comes in, although the module is
# gone and another one came. That gets another address than the first one, as others are in the way.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# modules: smc
# timeout: 240

# shellcheck disable=SC2317 # check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

listens() {
	grep -q listens "$_work/said"
}

ip link set lo up
mkfifo "$_work/input"
python3 -B "$VM_DIR/../selftests/netlink/reloaded.py" <"$_work/input" >"$_work/said" &
exec 8>"$_work/input"
check "a descendant listens" wait_for "a socket that listens" listens
smc_expect_clean "no object is left over"
check "another module is behind it" modprobe tcp_dctcp
check "unload the module" unload smc
check "another module is in its place" modprobe tcp_vegas
check "load it again" insmod "$VM_MODULES/smc.ko"
exec 8>&-
check "a connection to it is TCP" wait $!
rmmod tcp_dctcp tcp_vegas
done_testing

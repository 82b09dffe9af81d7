#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A connection that TCP has given to a TCP socket of the same port, when a listening socket of AF_SMC
# ended, has nothing of the module any more: it works when that is unloaded.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# modules: smc
# timeout: 240

# shellcheck disable=SC2317 # check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

has_migrated() {
	grep -q migrated "$_work/said"
}

ip link set lo up
echo 1 >/proc/sys/net/ipv4/tcp_migrate_req
mkfifo "$_work/input"
python3 -B "$VM_DIR/../selftests/netlink/migrated.py" <"$_work/input" >"$_work/said" &
exec 8>"$_work/input"
check "a connection migrates" wait_for "a connection that migrates" has_migrated
smc_expect_clean "no object is left over"
check "unload the module" unload smc
exec 8>&-
check "the connection works without it" wait $!
echo 0 >/proc/sys/net/ipv4/tcp_migrate_req
done_testing

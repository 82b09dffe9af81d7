#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# When a listening socket of AF_SMC ends, TCP gives each of its connections to another socket of the
# same port, if that was switched on before it listened. A connection that TCP has given to a TCP
# socket has nothing of the module any more: it works when that is unloaded.
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
check "each connection migrates" python3 -B "$VM_DIR/../selftests/netlink/migrated.py" all
mkfifo "$_work/input"
python3 -B "$VM_DIR/../selftests/netlink/migrated.py" late <"$_work/input" >"$_work/said" &
exec 8>"$_work/input"
check "a connection migrates" wait_for "a connection that migrates" has_migrated
smc_expect_clean "no object is left over"
check "unload the module" unload smc
exec 8>&-
check "the connection works without it" wait $!
echo 0 >/proc/sys/net/ipv4/tcp_migrate_req
done_testing

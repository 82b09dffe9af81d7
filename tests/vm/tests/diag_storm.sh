#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers of everything during a storm of connections, aborts, changed settings and ending
# namespaces: no entry is torn or wrong, no counter goes backwards, and nothing stays behind.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc smc_diag
# timeout: 300
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
case $VM_KERNEL in
debug-*) cases storm.py 20 2 ;;
*) cases storm.py 200 ;;
esac
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sock_diag with 10,000 sockets: each dump has all of them, takes no time to speak of, and keeps
# no program from connecting; sockets may come and go meanwhile, and readers may give up.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# smaller: 2,000 sockets in place of 10,000.
# modules: smc smc_diag
# timeout: 240
# variables: DAILY
# memory: 1536
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
case $VM_KERNEL${DAILY:+ daily} in
debug-* | *' daily') cases scale.py 2000 ;;
*) cases scale.py 10000 ;;
esac
smc_expect_clean "no object is left over"
done_testing

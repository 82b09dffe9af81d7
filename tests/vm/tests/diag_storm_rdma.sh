#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers of everything during a storm of SMC-R connections whose RDMA devices are deleted and
# added again: no entry is torn or wrong, no counter goes backwards, no connection outlives its device,
# each link and group is reported once when it comes and once when it goes, and nothing stays behind.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: none
# instead: ``diag_storm`` over SMC-D; ``smcr_netlink``, in which one device goes and comes back. No
# instead: daily test reads while RDMA devices come and go all the time.
# modules: smc smc_diag smc_rdma
# timeout: 300
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
smcd ueid add SMCSTORM
case $VM_KERNEL in
debug-*) cases storm_rdma.py 12 2 ;;
*) cases storm_rdma.py 200 ;;
esac
rdma_unwire
smc_expect_clean "no object is left over"
done_testing

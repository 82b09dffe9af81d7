#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# SMC-R seen through netlink, sock_diag and trace events: devices, link groups, links and connections
# field by field; who is told when they come and go; a device that is deleted under a connection;
# and the sizes of buffers.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc smc_diag smc_rdma
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

tracing=$_work/tracing
mkdir "$tracing"
mount -t tracefs none "$tracing" || die "no tracefs"
modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
cases exclusive.py
ip netns add other
cases smcr.py "$tracing"
ip netns del other
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
cases send_buffers.py
cases elements.py
rdma_unwire
umount "$tracing"
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# As memcg_limit.sh, over SMC-R: elements of RMBs and send rings have one share together.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: nothing; its subject is the share of SMC-R, which only ``make test-all`` looks at.
# instead: ``memcg_limit`` has the share of SMC-D.
# modules: smc smc_rdma
# cpus: 2
# memory: 1536
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

top=$_work/cgroup
mkdir "$top"
mount -t cgroup2 none "$top" || die "no cgroup2"
echo +memory >"$top/cgroup.subtree_control" || die "no memory controller"
modprobe brd rd_nr=1 rd_size=65536 || die "no block device"
modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
smcd ueid add SMCTEST
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
echo 32768 >/proc/sys/net/smc/smcr_rmem	# a send ring has the size of the peer's element
cases memcg_limit.py "$top" 10.9.0.1 /dev/ram0
rdma_unwire
rmmod brd
umount "$top"
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A program in a memory cgroup has as many connections with SMC as with TCP before it is killed at
# the limit: buffers leave the cgroup room, and connections beyond their share are TCP connections.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# smaller: three of seven comparisons: a client, a limit of an ancestor, page cache.
# modules: smc
# cpus: 2
# variables: MEMCG_LIMIT DAILY
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

top=$_work/cgroup
mkdir "$top"
mount -t cgroup2 none "$top" || die "no cgroup2"
echo +memory >"$top/cgroup.subtree_control" || die "no memory controller"
ip link set lo up
modprobe brd rd_nr=1 rd_size=65536 || die "no block device"
# shellcheck disable=SC2086 # sides
cases memcg_limit.py "$top" 127.0.0.1 /dev/ram0 $MEMCG_LIMIT
rmmod brd
umount "$top"
smc_expect_clean "no object is left over"
done_testing

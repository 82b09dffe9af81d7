#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's NFS server and its iSCSI initiator take over sockets of programs, and overwrite their
# sk_user_data and callbacks. The server works over TCP with a listening SMC socket. The initiator
# learns at once that it cannot use an SMC connection. A network block device, which needs no
# callbacks, works over one. Nothing is left over.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240
# allow-log: detected conn error

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
modprobe nfsd || die "no nfsd"
modprobe iscsi_tcp || die "no iscsi_tcp"
modprobe nbd || die "no nbd"
mkdir "$_work/nfsd"
mount -t nfsd none "$_work/nfsd" || die "no nfsd file system"
export VM_SLOW
cases services.py nfsd "$_work/nfsd"
smc_expect_clean "the NFS server leaves nothing behind"
cases services.py iscsi
smc_expect_clean "the iSCSI initiator leaves nothing behind"
cases services.py nbd
smc_expect_clean "the block device leaves nothing behind"
umount "$_work/nfsd"
done_testing

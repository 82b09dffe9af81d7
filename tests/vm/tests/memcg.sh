#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Buffers, fresh or reused, and the TCP sockets of children are charged to the memory cgroup of the
# socket that has them, also when the work queue allocates them: for children of a listening socket, and
# for clients that do not wait. The kernel can trace a charge that it
# refuses at the limit of the cgroup. It does not slow the work queue down for a cgroup beyond
# memory.high. A server whose cgroup has no memory left gets its connections as over TCP, and no client
# has to reclaim memory of that cgroup; the OOM killer reports, with a call trace, that it may kill no
# task there.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc smc_charge
# timeout: 240
# allow-log: Call Trace:

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

top=$_work/cgroup
mkdir "$top"
mount -t cgroup2 none "$top" || die "no cgroup2"
echo +memory >"$top/cgroup.subtree_control" || die "no memory controller"
mkdir "$top/server" "$top/client"
tracing=$_work/tracing
mkdir "$tracing"
mount -t tracefs none "$tracing" || die "no tracefs"
debug=$_work/debug
mkdir "$debug"
mount -t debugfs none "$debug" || die "no debugfs"
ip link set lo up
cases memcg.py "$top/server" "$top/client" "$tracing" "$debug"
umount "$tracing" "$debug"
rmdir "$top/server" "$top/client"
umount "$top"
smc_expect_clean "no object is left over"
done_testing

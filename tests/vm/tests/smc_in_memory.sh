#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The messages of a handshake go through memory if both ends are in this kernel, and the client may
# take the steps of the server; otherwise through TCP, also if the server does not get the ACK.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

mkdir "$_work/tracing"
mount -t tracefs none "$_work/tracing" || die "no tracefs"
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || mount -t cgroup2 none /mnt || die "no cgroups"
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
mkdir "$cgroups/server" || die "no cgroup"
ns_pair client server

cases in_memory.py "$_work/tracing" "$cgroups/server" client server

rmdir "$cgroups/server"
umount "$_work/tracing"
smc_expect_clean "no object is left over"
done_testing

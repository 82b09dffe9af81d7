#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Clients whose cgroup has no quota left in the middle of connect(): the server and its other
# clients do not wait for them.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# cpus: 2
# timeout: 180

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || mount -t cgroup2 none /mnt || die "no cgroups"
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
echo +cpu >"$cgroups/cgroup.subtree_control" || die "no cpu controller"
mkdir "$cgroups/clients" "$cgroups/quota" || die "no cgroup"
# The first quota changes the code of the scheduler, which emulated processors may not survive
echo 100000 >"$cgroups/quota/cpu.max"
ip link set lo up

cases held_client.py "$cgroups/clients"

rmdir "$cgroups/clients" "$cgroups/quota"
smc_expect_clean "no object is left over"
done_testing

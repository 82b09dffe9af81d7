#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A server that sleeps in accept(), or polls, and then gets no processor: its clients' connect()
# returns as over TCP.
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
mkdir "$cgroups/server" "$cgroups/quota" || die "no cgroup"
# The first quota changes the code of the scheduler, which emulated processors may not survive
echo 100000 >"$cgroups/quota/cpu.max"
ip link set lo up
# As from another host, packets do not come on top of connect(), which takes no steps of the server
tc qdisc add dev lo root netem delay 100us || die "no netem"
# The server is killed before it has seen the client's last message
echo 2 >/proc/sys/net/ipv4/tcp_fin_timeout

cases held_server.py "$cgroups/server"

rmdir "$cgroups/server" "$cgroups/quota"
smc_expect_clean "no object is left over"
done_testing

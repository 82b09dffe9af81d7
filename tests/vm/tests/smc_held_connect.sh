#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Clients that stop in the middle of connect(), at each point where they have a child of the server:
# the server and its other clients do not wait for them, and no connection is lost. Nor does an
# operator who changes other RDMA devices than the one that a client looks at.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc smc_rdma memrdma smc_hold
# cpus: 2
# boot: ibt=off
# timeout: 180

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

debug=$_work/debug
mkdir "$debug"
mount -t debugfs none "$debug" || die "no debugfs"
ip link set lo up
ip link add veth0 type veth peer name veth1 || die "no network devices"
ip link set veth0 up
ip link set veth1 up

cases held_connect.py "$debug" veth0 veth1

umount "$debug"
smc_expect_clean "no object is left over"
done_testing

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

ip link set lo up
# The server is killed before it has seen the client's last message
echo 2 >/proc/sys/net/ipv4/tcp_fin_timeout

cases_with_quota held_server.py
smc_expect_clean "no object is left over"
done_testing

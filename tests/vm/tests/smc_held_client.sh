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

ip link set lo up

cases_with_quota held_client.py
smc_expect_clean "no object is left over"
done_testing

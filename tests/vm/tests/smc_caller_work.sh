#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Connections between programs of one cgroup need no kworker: connect() and close() take the steps.
# For a program of another cgroup they do not, because the quota of a cgroup stops its tasks.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up

cases_with_cgroup caller_work.py
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Connections between programs of one host need no kworker: connect() and close() take the steps,
# whatever the cgroup, the user and the priority of the programs are.
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

cases_with_cgroup connect_steps.py
smc_expect_clean "no object is left over"
done_testing

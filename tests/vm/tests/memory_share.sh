#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No namespace takes the memory for buffers away from others, and closed connections that wait for
# their peers are few.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# modules: smc
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ip link set lo up
sysctl -qw kernel.unprivileged_userns_clone=1 2>/dev/null
cases share.py
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fallback reasons and counters of both sides, for each cause that can be had without breaking the
# protocol.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc smc_diag
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

ns_pair nl-client nl-server
cases fallback.py nl-client nl-server "$(addr nl-server)"
ip netns del nl-client
ip netns del nl-server
smc_expect_clean "no object is left over"
done_testing

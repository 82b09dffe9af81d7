#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How link groups are formed: a crowd of clients at once shares few, what is above their limits is TCP;
# over a path that does not work the first connection is TCP in time, and the next ones at once.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.12
# smaller: a crowd of 60 in place of 220.
# modules: smc smc_rdma
# timeout: 240
# variables: DAILY
# cpus: 2
# memory: 2048

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
rdma_another_address || die "no second address"
smcd ueid add SMCFORMING
crowd=220
[ -z "$DAILY" ] || crowd=60
cases badpath.py
cases crowd.py smcr $crowd
cases crowd.py smcd $crowd
rdma_unwire
smc_expect_clean "no object is left over"
done_testing

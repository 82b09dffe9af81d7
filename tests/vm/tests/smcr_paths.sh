#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The ways that SMC-R takes: VLANs, routers, and ports that the operator has named.
#
# kernels: stock-6.12
# daily: none
# instead: ``tests/uml/paths``, with all checkers: VLANs with IPv4, routers with IPv6.
# modules: smc smc_rdma
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

export RDMA_LIB="$VM_DIR/../lib/rdma.sh"
modprobe rdma_rxe || die "no software RoCE"
smcd ueid add SMCPATHS
cases paths.py
smc_expect_clean "no object is left over"
done_testing

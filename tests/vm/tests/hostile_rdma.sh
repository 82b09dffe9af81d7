#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A peer that has an SMC-R connection and a queue pair of its own, in both roles and versions: LLC
# and CDC that are malformed, unsolicited, forged or too many, memory that is not there, silence
# at each step. Links and connections end as they should, in time; two honest programs talk over
# the same wire all the while.
#
# On the debug kernel, which is preemptible, software RoCE itself does not survive it (known issues
# in CHANGELOG.rst); tests/uml/hostile has the same points with all checkers.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: ``tests/uml/hostile``: the same peer with all checkers, one role of each version.
# modules: smc smc_rdma smc_synopt
# timeout: 600

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"
# shellcheck source=../../lib/rdma_peer.sh
. "$(dirname "$0")/../../lib/rdma_peer.sh"

modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
smcd ueid add SMCTEST
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
export SOCKET_TEST_HOST=10.9.0.2 SOCKET_TEST_HOST6=fd09::2 RDMA_PEER_EID=SMCTEST
rdma_peer_beside_talk "$VM_DIR/../selftests/interop/talk.py"
rdma_unwire

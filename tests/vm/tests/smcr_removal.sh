#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What SMC-R needs is taken away at some moments of a first contact and of a transfer: an RDMA
# device, a network device, the wire, a namespace between, the modules. Both programs are told in time,
# and nothing stays behind.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: ``tests/uml/links``, ``memrdma`` and ``smcr_netlink`` for devices, ``tests/uml/paths``
# instead: for the wire, each once or a few times. Only ``make test-all`` takes namespaces and
# instead: modules away from SMC-R connections, and tries many moments.
# modules: smc smc_rdma
# timeout: 900
# variables: REMOVAL_STEPS REMOVAL_KINDS

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

export RDMA_LIB="$VM_DIR/../lib/rdma.sh" SMC_RDMA="$VM_MODULES/smc_rdma.ko" MODPROBE="modprobe rdma_rxe"
smcd ueid add SMCREMOVAL
# shellcheck disable=SC2086,SC2154 # several; variables of the caller
cases removal.py "${REMOVAL_STEPS:-4}" ${REMOVAL_KINDS-}
smc_expect_clean "no object is left over"
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# programs_servers.sh over SMC-R and software RoCE: nginx, sshd, rsync, PostgreSQL, iperf3.
#
# kernels: stock-6.12
# daily: none
# instead: ``smcr_intree``, ``smcr_peers`` and ``tests/uml/talk``, with a program of the tree.
# modules: smc smc_rdma
# variables: PROGRAMS_MB PROGRAMS
# cpus: 2
# memory: 3072
# timeout: 600

# shellcheck disable=SC2034 # for programs.sh
TRANSPORT=rdma
# shellcheck source=programs_servers.sh
. "$(dirname "$0")/programs_servers.sh"

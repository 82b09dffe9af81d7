#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A peer that has an SMC-D connection and forges cursors and flags: his connection
# is aborted and counted, and nothing else happens.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.12
# modules: smc smc_synopt smc_forge
# timeout: 240
# cpus: 2

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

exec clc_peer -s "$VM_SLOW" -j 4 -v hostile_writer

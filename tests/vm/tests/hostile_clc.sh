#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A peer that speaks CLC itself, in both roles, and wrong in every way: each
# handshake ends as it should, in time, and no other connection notices.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# modules: smc smc_synopt smc_diag
# timeout: 300
# allow-log: Possible SYN flooding on port

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

exec clc_peer -s "$VM_SLOW" -j 4 -v hostile_client -v hostile_server

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Many connections at once, which move data in all ways and end in all ways,
# over loopback ISM and TCP: every byte is right, and nothing is left over.
#
# For longer, and with more of them:
#   TORTURE_MINUTES=10 tests/vm/run --kernel stock-6.12 --memory 3000 --timeout 900 torture_loopback
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.12
# modules: smc smc_diag
# variables: TORTURE_MINUTES
# cpus: 2
# memory: 2048
# boot: slab_debug=FZPU
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

set -- -t 10 -n 50
[ -z "$TORTURE_MINUTES" ] || set -- -t $((60 * TORTURE_MINUTES)) -n 200
torture -m -p $((120 * VM_SLOW)) "$@"
status=$?
smcd -d stats | sed 's/^/# /'	# with the reasons of connections that became TCP
exit $status

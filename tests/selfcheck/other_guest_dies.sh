#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Guest b panics, and guest a waits for it at a barrier.
#
# expect: panic bail-out exit-status
# kernels: stock-6.12
# guests: 2
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

if [ "$VM_GUEST" = b ]; then
	defect panic
fi
sync forever
done_testing

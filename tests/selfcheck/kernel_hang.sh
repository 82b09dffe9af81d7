#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The only processor loops with interrupts off: the guest is as good as dead.
#
# expect: hang
# follows: lockup
# kernels: stock-6.12
# modules: selfcheck
# timeout: 4

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect kernel-hang
done_testing

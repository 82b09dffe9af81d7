#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No defect: a test that loads a module with counters itself, and leaves it, must pass. No counter is
# above zero, so the agent need not wait.
#
# expect: 
# kernels: stock-6.12

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

check "load the module" insmod "$VM_MODULES/selfcheck.ko"
done_testing

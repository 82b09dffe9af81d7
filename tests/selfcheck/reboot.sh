#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest resets itself in the middle of a test.
#
# expect: reboot
# kernels: stock-6.12

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

echo b >/proc/sysrq-trigger
wait_for "the end" false
done_testing

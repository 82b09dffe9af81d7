#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A BUG() in the kernel; oops=panic makes it the end of the guest.
#
# expect: bug panic
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect bug
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A panic.
#
# expect: panic
# kernels: stock-6.12
# modules: selfcheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

defect panic
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The script says nothing at all.
#
# expect: no-verdict
# kernels: stock-6.12

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

exit 0

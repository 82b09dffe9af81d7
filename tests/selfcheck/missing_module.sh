#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A module that does not exist.
#
# expect: load
# kernels: stock-6.12
# modules: no_such_module

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pass "never comes here"
done_testing

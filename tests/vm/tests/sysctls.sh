#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# net.smc.*: names, defaults, ranges, one set for each namespace, as documented.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc
# timeout: 240

# shellcheck disable=SC2154 # _work is set
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../selftests/netlink/cases.sh
. "$(dirname "$0")/../../selftests/netlink/cases.sh"

tracing=$_work/tracing
mkdir "$tracing"
mount -t tracefs none "$tracing" || die "no tracefs"
ip link set lo up
cases sysctls.py "$tracing"
umount "$tracing"
smc_expect_clean "no object is left over"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Where the kernel may not sleep, socket calls allocate no page in a way that may sleep. Debug kernels
# find that wherever it happens, but that of 6.1 runs by hand only; this looks every day.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.1
# modules: smc
# timeout: 300

# shellcheck disable=SC2317 # check() calls this function
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

tracing=$_work/tracing
mkdir "$tracing"
mount -t tracefs none "$tracing" || die "no tracefs"
ip link set lo up

event=$tracing/events/kmem/mm_page_alloc
# __GFP_DIRECT_RECLAIM with preemption off, or with bottom halves off
sleeping="gfp_flags & 0x400"
echo "$sleeping && (common_preempt_count & 15 || common_flags & 128)" >"$event/filter" ||
	die "the filter is refused"

# run_socket_tests: those of one variant that move data.
run_socket_tests() {
	socket_test -s "$VM_SLOW" -v smc -v smc_accepted 'both_directions' 'odd_sizes' '*vectors' 'splice*' 'sendfile*' 'peek*'
}

# allocations: what was traced.
allocations() {
	grep -v '^#' "$tracing/trace" | tee /dev/stderr | wc -l
}

echo 1 >"$event/enable"
check "the socket tests pass" run_socket_tests
echo 0 >"$event/enable"
is "no allocation may sleep where that is not allowed" "$(allocations)" 0

echo "$sleeping" >"$event/filter"
echo 1 >"$event/enable"
head -c 100000 /dev/zero >"$_work/pages"
echo 0 >"$event/enable"
check "the event sees those that may sleep" test "$(allocations 2>/dev/null)" -gt 0
smc_expect_clean "no object is left over"
done_testing

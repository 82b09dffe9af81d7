#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A link that ends while messages pour in posts nothing to its receive queue once that is drained:
# such a request might complete after the queue pair is gone. The one request then is the drain's own.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: nothing; only ``make test-all`` counts the requests. ``tests/uml/hostile`` has the same
# instead: flood, with all checkers on one processor.
# modules: smc smc_rdma smc_synopt
# cpus: 2
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../lib/rdma.sh
. "$(dirname "$0")/../../lib/rdma.sh"

trace=/sys/kernel/tracing

# recorded: for each queue pair that was drained, how many receive requests it got since then
recorded() {
	awk '{ qp = $NF }
	     / drain: / { drained[qp] = 1; posts[qp] = 0 }
	     / post: / && drained[qp] { posts[qp]++ }
	     / destroy: / && drained[qp] { print posts[qp]; drained[qp] = 0 }' $trace/trace
}

modprobe rdma_rxe || die "no software RoCE"
rdma_wire || die "no wire"
smcd ueid add SMCTEST
echo 5 >/proc/sys/net/smc/variants	# SMC-D would come first
mount -t tracefs tracefs $trace 2>/dev/null
echo 20000 >$trace/buffer_size_kb
printf 'p:%s qp=%%di\n' 'drain ib_drain_qp' 'post rxe_post_recv' 'destroy ib_destroy_qp_user' \
	>$trace/kprobe_events || die "no probes"
echo 1 >$trace/events/kprobes/enable
export SOCKET_TEST_HOST=10.9.0.2 SOCKET_TEST_HOST6=fd09::2 RDMA_PEER_EID=SMCTEST
check "links end under a flood" \
	rdma_peer -s "$VM_SLOW" -v client_v2 flood_while_link_ends
echo 0 >$trace/events/kprobes/enable
recorded >/tmp/posts
echo >$trace/kprobe_events
check "queue pairs were drained" [ "$(wc -l </tmp/posts)" -ge 4 ]
check "nothing was posted meanwhile" [ "$(sort -u /tmp/posts)" = 1 ]
rdma_unwire
smc_expect_clean "no object is left over"
done_testing

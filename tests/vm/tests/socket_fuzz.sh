#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All socket calls at random, by threads that share their sockets: no byte of another connection, none
# lost or twice, no call that hangs, and nothing is left over. First the seeds that have found
# something, then a new one, also for a user without any rights.
#
#   SOCKFUZZ_SECONDS=3600 VM_TIMEOUT_SCALE=20 make vm T=socket_fuzz KERNEL=6.12
#   SOCKFUZZ_ARGS='-s 4711 -m smc' make vm T=socket_fuzz KERNEL=6.12
#
# Rings that are given back: those in the pool are zero, which is no byte of a stream; what the kernel
# gets is overwritten because of init_on_free.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.12
# smaller: 10 seconds as root and 5 as a user in place of 40 and 15, with another seed each
# smaller: time.
# modules: smc smc_diag
# variables: SOCKFUZZ_SECONDS SOCKFUZZ_ARGS DAILY
# cpus: 2
# memory: 2048
# boot: init_on_free=1 slab_debug=FZPU
# timeout: 300

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

as_root=40 as_user=15	# seconds
[ -z "$DAILY" ] || as_root=10 as_user=5
seeds=$VM_DIR/../selftests/sockfuzz/seeds

# fuzz NAME COMMAND...: one test point; what the program says is shown in any case
fuzz() {
	name=$1
	shift
	log "$*"
	"$@" >/tmp/sockfuzz.out 2>&1
	status=$?
	sed -n 's/^#/# /p' /tmp/sockfuzz.out
	check "$name" [ $status = 0 ]
}

ip link set lo up
if [ -n "$SOCKFUZZ_ARGS$SOCKFUZZ_SECONDS" ]; then
	# shellcheck disable=SC2086	# words
	fuzz "as asked for" sockfuzz -p "$VM_SLOW" -t "${SOCKFUZZ_SECONDS:-60}" $SOCKFUZZ_ARGS
	smc_expect_clean "no object is left over"
	done_testing
fi
while read -r line; do
	words=${line%%	*}
	case $words in
	-*)
		# shellcheck disable=SC2086	# words
		fuzz "seed of before: $words" sockfuzz -p "$VM_SLOW" -t 5 $words
		;;
	esac
done <"$seeds"
seed=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
fuzz "as root" sockfuzz -p "$VM_SLOW" -t $as_root -s "$seed"
cp "$(command -v sockfuzz)" /tmp/sockfuzz	# where everybody may go
fuzz "as a user without rights" setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \
	sh -c 'ip link set lo up; exec /tmp/sockfuzz "$@"' sh -p "$VM_SLOW" -t $as_user -s "$seed"
smc_expect_clean "no object is left over"
done_testing

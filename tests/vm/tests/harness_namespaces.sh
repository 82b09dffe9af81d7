#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The helpers in lib.sh do what they say: namespaces are joined, waiting works.
#
# kernels: stock-6.12 stock-6.1 debug-6.12
# daily: stock-6.1
# timeout: 240

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ns_pair left right
is "address of the left namespace" "$(addr left)" 10.1.0.1
is "IPv6 address of the right one" "$(addr right 6)" fd00:1::2
check "they see each other" wait_for "an answer" in_ns left ping -c 1 -W 1 10.1.0.2
check "also with IPv6" wait_for "an answer" in_ns left ping -c 1 -W 1 fd00:1::2

in_ns right iperf3 -s -1 -p 5001 >/dev/null 2>&1 &
check "a listener is waited for" wait_listen 5001 right
check "TCP runs between them" in_ns left iperf3 -c 10.1.0.2 -p 5001 -n 1M

refuse "a wrong command is a failure" false
done_testing

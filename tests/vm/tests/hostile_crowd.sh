#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Thousands of handshakes that an attacker begins and does not end, of each kind: what they cost, and
# how long others take to connect beside them. Thousands of sockets that are closed while they become
# TCP.
#
# kernels: stock-6.12 stock-6.1
# daily: stock-6.12
# smaller: 1,000 handshakes in place of 5,000.
# modules: smc smc_synopt
# timeout: 400
# variables: DAILY
# cpus: 2
# allow-log: Possible SYN flooding on port

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

[ -z "$DAILY" ] || export CROWD=1000
exec clc_peer -s "$VM_SLOW" -v hostile_crowd

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# programs_servers.sh by "smc on" for the namespaces: nginx, sshd, rsync, PostgreSQL, iperf3 are started
# as ever, and nothing is preloaded.
#
# kernels: stock-6.12
# daily: none
# instead: ``policy`` and ``policy_service``, with small programs of the tree.
# modules: smc
# variables: PROGRAMS_MB PROGRAMS
# cpus: 2
# memory: 2048
# timeout: 400

mount -t bpf -o mode=0700 bpf /sys/fs/bpf
# shellcheck disable=SC2034 # for programs.sh
SWITCH=policy
trap 'smc off >/dev/null' EXIT
# shellcheck source=programs_servers.sh
. "$(dirname "$0")/programs_servers.sh"

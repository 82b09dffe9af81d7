# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043,SC2034,SC2154,SC2119,SC2120 # "local" is in every shell we use; the variables
# are those of lib.sh and of the tests
#
# For tests of "smc on", sourced behind lib.sh: a place for policies and cgroups, programs in them,
# and what became of their sockets.

TCP=6
UDP=17
SMC=256
MPTCP=262

# policy_begin: the file systems, and a cgroup of the test in $cgroups
policy_begin() {
	mount -t bpf -o mode=0700 bpf /sys/fs/bpf || die "no file system of BPF"
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || mount -t cgroup2 none /mnt ||
		die "no cgroups"
	cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	cgroups=$cgroups/${VM_TEST:-policy}
	mkdir "$cgroups" || die "no cgroup"
}

policy_end() {
	find "$cgroups" -depth -type d -exec rmdir {} \;
}

# inside CGROUP COMMAND...: in a cgroup below that of the test
inside() {
	local cgroup="$1"

	shift
	sh -c "echo \$\$ >'$cgroups/$cgroup/cgroup.procs' && exec \"\$@\"" sh "$@"
}

# protocol [FAMILY TYPE PROTOCOL]: prints the protocol of a new socket
protocol() {
	plain_tcp protocol "$@"
}

# says TEXT COMMAND...: whether the command fails, and says so in one line, with that text
says() {
	local text="$1" status

	shift
	"$@" >"$_work/said" 2>&1
	status=$?
	[ $status != 0 ] && [ "$(wc -l <"$_work/said")" = 1 ] &&
		grep -qF -- "$text" "$_work/said" && return
	echo "status $status"
	cat "$_work/said"
	return 1
}

# shows TEXT COMMAND...: whether the command prints the text, whatever its status
shows() {
	local text="$1"

	shift
	"$@" >"$_work/said" 2>&1
	tr -s ' \n' ' ' <"$_work/said" | grep -qF -- "$text" && return
	cat "$_work/said"
	return 1
}

# is_off: there is no policy, and nothing of one
is_off() {
	local status=0

	smc status >/dev/null || status=$?
	[ $status = 1 ] && [ ! -e /sys/fs/bpf/smc ] && [ "$(protocol)" = $TCP ]
}

# refused NAME TEXT ARGUMENT...: "smc ARGUMENT..." is refused in one sentence, and nothing has changed
refused() {
	local name="$1" text="$2"

	shift 2
	check "$name" says "$text" smc "$@"
	check "  nothing has changed" is_off
}

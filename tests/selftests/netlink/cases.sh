# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043,SC2154 # local and _work are fine
#
# cases SCRIPT [ARGUMENT...]: runs a Python test of this folder; each of its points becomes one of
# the test which calls it, and so does its end.
cases() {
	local line status=0 script="$1"

	shift
	python3 -B "$(dirname "$0")/../../selftests/netlink/$script" "$@" >"$_work/cases" 2>&1 ||
		status=$?
	while IFS= read -r line; do
		case $line in
		"ok - "*) pass "${line#ok - }" ;;
		"not ok - "*) fail "${line#not ok - }" ;;
		*) log "$line" ;;
		esac
	done <"$_work/cases"
	# 1: a point has failed
	[ $status = 0 ] || { [ $status = 1 ] && grep -q '^not ok - ' "$_work/cases"; } ||
		fail "$script ended with status $status"
	grep -q '^ok - ' "$_work/cases" || fail "$script has passed nothing"
}

# mount_cgroups: mounts cgroups of version 2, and sets _cgroups
mount_cgroups() {
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || mount -t cgroup2 none /mnt ||
		die "no cgroups"
	_cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
}

# cases_with_quota SCRIPT: the same; the script's argument is a cgroup without processes that may
# have a quota of processor time.
cases_with_quota() {
	mount_cgroups
	echo +cpu >"$_cgroups/cgroup.subtree_control" || die "no cpu controller"
	mkdir "$_cgroups/other" "$_cgroups/quota" || die "no cgroup"
	# The first quota changes the code of the scheduler, which emulated processors may not survive
	echo 100000 >"$_cgroups/quota/cpu.max"
	cases "$1" "$_cgroups/other"
	rmdir "$_cgroups/other" "$_cgroups/quota"
}

# cases_with_cgroup SCRIPT [ARGUMENT...]: the same; the script's first arguments are a tracefs and a
# cgroup of version 2 without processes.
cases_with_cgroup() {
	local script="$1" tracing="$_work/tracing"

	shift
	mkdir "$tracing"
	mount -t tracefs none "$tracing" || die "no tracefs"
	echo 0 >"$tracing/options/record-cmd"	# else an event changes the code of the scheduler, too
	mount_cgroups
	mkdir "$_cgroups/other" || die "no cgroup"
	cases "$script" "$tracing" "$_cgroups/other" "$@"
	rmdir "$_cgroups/other"
	umount "$tracing"
}

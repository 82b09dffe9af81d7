#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "smc on" where it cannot be: bad input, other users, no module, another BPF program at work, leftovers
# of another version. Each time one sentence says why, and sockets are what they were.
#
# kernels: stock-6.12
# modules: smc
# timeout: 240

# shellcheck disable=SC3043,SC2317,SC2154,SC2119 # local is known; check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

# Others can read that folder
mkdir "$_work/tools"
cp "$VM_TOOLS/smc" "$_work/tools"
chmod 755 "$_work" "$_work/tools"

# as_nobody COMMAND...
as_nobody() {
	setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}

# as_fake_root COMMAND...: in a user namespace
as_fake_root() {
	as_nobody unshare -Ur "$@"
}

# ends STATUS COMMAND...
ends() {
	local want="$1" got=0

	shift
	"$@" >/dev/null 2>&1 || got=$?
	[ "$got" = "$want" ]
}

# hidden COMMAND...: in a mount namespace without the file system of BPF
hidden() {
	unshare -m sh -c 'umount /sys/fs/bpf && exec "$@"' sh "$@"
}

policy_begin
ip netns add blue
check "off, at first" is_off

# --- who may ---------------------------------------------------------------------------------------

for command in "on --host" off status; do
	# shellcheck disable=SC2086 # words
	check "a user: $command" says "only root" as_nobody "$_work/tools/smc" $command
	# shellcheck disable=SC2086
	check "root of a user namespace: $command" says "cannot lock" \
		as_fake_root "$_work/tools/smc" $command
done
check "without the right to load BPF programs" says "CAP_BPF" \
	setpriv --bounding-set -sys_admin,-bpf,-perfmon smc on --host
check "  nothing has changed" is_off

# --- words -----------------------------------------------------------------------------------------

refused "an unknown cgroup" "there is no cgroup /nowhere" on --cgroup /nowhere
refused "a folder that is none" "not one of version 2" on --cgroup "$_work"
refused "an unknown network namespace" "there is no network namespace green" on --netns green
refused "a file that is none" "is not a network namespace" on --netns /proc/self/ns/mnt
refused "an unknown user" "there is no user nemo" on --user nemo
refused "a number too large for a user" "there is no user 4294967295" on --user 4294967295
refused "the path of a program" "without its folder" on --program /usr/bin/ssh
refused "something twice" "named twice" on --netns blue --except-netns blue
refused "one of several is wrong" "there is no user nemo" on --host --netns blue --user nemo
refused "nothing" "on for what?" on
refused "--persistent for all" "smc-policy.service" on --host --persistent
refused "no systemd" "systemd" on --unit nginx
check "an unknown option" ends 2 smc on --hots
check "a word too many" ends 2 smc on --host now
check "an option of another command" ends 2 smc status --host
check "nothing has changed" is_off

# --- the kernel and what is in it ------------------------------------------------------------------

umount /sys/fs/bpf
check "the file system of BPF is mounted if it is not" smc on --host
is "on" "$(protocol)" $SMC
check "off" smc off
chmod 777 /sys/fs/bpf
refused "others could change the policy" "others may write" on --host
chmod 700 /sys/fs/bpf
check "in another mount namespace" says "this mount namespace" hidden smc on --host
check "  nothing has changed" is_off
check "it was not on there, either" shows "was not on" hidden smc off

check "on" smc on --netns blue
for command in "on --host" "off --netns blue" off status; do
	# shellcheck disable=SC2086 # words
	check "in another mount namespace: $command" says "SMC is on, but" hidden smc $command
	# shellcheck disable=SC2086
	check "in ip netns exec: $command" says "SMC is on, but" ip netns exec blue smc $command
done
check "the exit status is that of not known" ends 2 hidden smc status
mount -t bpf bpf /sys/fs/bpf
check "another file system of BPF is in front" says "SMC is on, but" smc off
umount /sys/fs/bpf
is "it is still on" "$(ip netns exec blue plain_tcp protocol)" $SMC
check "off" smc off
check "that is gone" is_off

# The same program under another name
LC_ALL=C sed 's/smc_policy/foo_policy/g' "$VM_TOOLS/smc" >"$_work/foreign"
chmod +x "$_work/foreign"
check "another tool is on" "$_work/foreign" on --netns blue
mv /sys/fs/bpf/smc /sys/fs/bpf/foreign
refused "another BPF program decides" "another BPF program" on --host
mv /sys/fs/bpf/foreign /sys/fs/bpf/smc

# Rules and state have changed places: no version had these
mv /sys/fs/bpf/smc/rules /sys/fs/bpf/smc/new
mv /sys/fs/bpf/smc/state /sys/fs/bpf/smc/rules
mv /sys/fs/bpf/smc/new /sys/fs/bpf/smc/state
for command in "on --host" "off --host" status; do
	# shellcheck disable=SC2086 # words
	check "a policy of another version: $command" says "another version" smc $command
done
check "off" smc off
check "that is gone" is_off

mkdir /sys/fs/bpf/smc
check "a command was interrupted" sh -c 'smc status | grep -q interrupted'
check "the next one" smc on --host
is "does not mind" "$(protocol)" $SMC
check "off" smc off
check "all is gone" is_off

# --- the module --------------------------------------------------------------------------------------

unload smc || die "the module stays"
# The kernel's own is not to be found either
mkdir "$_work/empty"
mount --bind "$_work/empty" "/lib/modules/$(uname -r)" || die "cannot hide the modules"
refused "no module" "the module smc is missing" on --host
umount "/lib/modules/$(uname -r)"
insmod "$VM_MODULES/smc.ko"
check "with it" smc on --host
check "off" smc off

ip netns del blue
policy_end
smc_expect_clean "nothing is left over"
done_testing

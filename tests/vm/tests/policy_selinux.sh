#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "smc on" under SELinux: where it is enforcing, only with --force. No SELinux policy is loaded, so
# SELinux itself denies nothing here.
#
# kernels: stock-6.12
# modules: smc
# boot: security=selinux enforcing=1
# timeout: 240

# shellcheck disable=SC2317,SC2154,SC2119 # check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

enforce=/sys/fs/selinux/enforce

policy_begin
mount -t selinuxfs none /sys/fs/selinux || die "no file system of SELinux"
is "SELinux is enforcing" "$(cat $enforce)" 1
refused "the whole host" "--force switches SMC on anyway" on --host
refused "a cgroup" "SELinux is enforcing" on --cgroup "$cgroups"
check "--force" smc on --force --host
is "sockets are SMC" "$(protocol)" $SMC
refuse "a further rule needs it, too" smc on --user nobody
check "off, with the same words" smc off --force --host
check "that is off" is_off

echo 0 >$enforce
is "SELinux is permissive" "$(cat $enforce)" 0
check "no --force is needed" smc on --host
is "sockets are SMC" "$(protocol)" $SMC
check "off" smc off
check "that is off" is_off
policy_end
smc_expect_clean "nothing is left over"
done_testing

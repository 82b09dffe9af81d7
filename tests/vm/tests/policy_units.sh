#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# "smc on --unit": a service gets SMC sockets now and each time it starts. A script plays systemd: it
# starts a service in a new cgroup, with what its drop-ins say. On 6.1, where the kernel cannot do it, that
# is the library of smc_run, and all else is refused.
#
# kernels: stock-6.12 stock-6.1
# modules: smc
# timeout: 240

# shellcheck disable=SC2317,SC2154,SC2119 # check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

DROP_IN=run/systemd/system/sample.service.d/50-smc.conf
KEPT=etc/systemd/system/sample.service.d/50-smc.conf
PATH=$_work/bin:$PATH

# play_systemd: systemctl as far as smc asks it; "sample" is the one unit, and "gone" is of a removed file
play_systemd() {
	mkdir -p "$_work/bin" /run/systemd/system
	cat >"$_work/bin/systemctl" <<-END
		#!/bin/sh
		case "\$*" in
		*daemon-reload) echo reload >>$_work/reloads ;;
		*--\ sample | *--\ sample.service)
			echo Id=sample.service
			echo LoadState=loaded
			[ ! -e $cgroups/sample ] || echo "ControlGroup=/${cgroups##*/}/sample" ;;
		*) printf 'Id=%s\nLoadState=not-found\nControlGroup=\n' "\$4" ;;
		esac
	END
	chmod +x "$_work/bin/systemctl"
}

# commands KEY: the values of a key in the drop-ins, without the prefix that says "as root, may fail"
commands() {
	cat /$DROP_IN /$KEPT 2>/dev/null | sed -n "s/^$1=\(-+\)\{0,1\}//p"
}

# start: a new cgroup, the commands before the service, and the service: which has the same protocol?
start() {
	local before

	mkdir "$cgroups/sample" || return 1
	commands ExecStartPre | while read -r before; do
		inside sample sh -c "$before" >"$_work/before" 2>&1 || cat "$_work/before"
	done
	# shellcheck disable=SC2046 # words
	inside sample env $(commands Environment) plain_tcp protocol
}

stop() {
	commands ExecStopPost | while read -r after; do
		inside sample sh -c "$after" >"$_work/after" 2>&1 || cat "$_work/after"
	done
	rmdir "$cgroups/sample"
}

reloads() {
	grep -c reload "$_work/reloads"
}

policy_begin
play_systemd
: >"$_work/reloads"
refused "an unknown unit" "there is no unit nothing" on --unit nothing
case $VM_KERNEL in
*-6.1)
	refused "the kernel cannot" "Linux 6.6 is the first" on --host
	refused "nor for a cgroup" "use --unit" on --cgroup "$cgroups"
	check "status says it, too" shows "cannot be switched on" smc status
	check "JSON, too" shows '"obstacle"' smc status -j
	check "off" smc off
	check "a unit gets the library" shows "does nothing for static" smc on --unit sample
	is "systemd is told" "$(reloads)" 1
	check "it is preloaded" grep -qx "Environment=LD_PRELOAD=libsmc-preload.so" /$DROP_IN
	check "off" smc off --unit sample
	;;
*)
	is "a service" "$(start)" $TCP
	mount --bind -o ro /etc /etc
	check "the drop-in cannot be written" says "cannot create" smc on --unit sample --persistent
	umount /etc
	is "what runs is TCP" "$(inside sample plain_tcp protocol)" $TCP
	refuse "no policy is left" ls /sys/fs/bpf/smc
	check "on for it" smc on --unit sample
	is "systemd is told" "$(reloads)" 1
	is "what runs has it" "$(inside sample plain_tcp protocol)" $SMC
	check "again, where SELinux may be enforcing" smc on --force --unit sample
	check "each start goes ahead, too" grep -q "on --force --cgroup self" /$DROP_IN
	check "again" smc on --unit sample
	refuse "they do not any more" grep -q -e --force /$DROP_IN
	stop
	is "it starts again" "$(start)" $SMC
	check "after it has ended," stop
	is "no rule is left" "$(smc status | grep -c "cgroup")" 0
	check "status says that it will ask for SMC" shows "start of sample.service asks for SMC" \
		smc status

	smc off >"$_work/off" 2>&1
	check "off for all says so, too" grep -q "smc off --unit sample.service" "$_work/off"
	is "it starts" "$(start)" $SMC
	check "off for it" smc off --unit sample
	is "what runs is TCP" "$(inside sample plain_tcp protocol)" $TCP
	stop
	is "it starts again" "$(start)" $TCP
	stop

	check "on for good" smc on --unit sample --persistent
	check "this is in /etc" test -e /$KEPT
	unload smc || die "the module stays"
	mkdir "$_work/empty"
	mount --bind "$_work/empty" "/lib/modules/$(uname -r)"
	is "without the module, it starts with TCP" "$(start | tail -n 1)" $TCP
	stop
	umount "/lib/modules/$(uname -r)"
	insmod "$VM_MODULES/smc.ko"
	is "with it, over SMC" "$(start)" $SMC
	stop
	check "off" smc off --unit sample
	;;
esac
refuse "no drop-in is left" ls /run/systemd/system/sample.service.d /etc/systemd/system/sample.service.d
check "off" is_off
policy_end
smc_expect_clean "nothing is left over"
done_testing

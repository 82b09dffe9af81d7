#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The agent: process 1 of a test guest. It takes commands from the runner on
# ttyS1, one per line with tab-separated fields, and answers there: lines that
# begin with @ are the agent's own, lines that begin with | are a test's output.
#
#   run NAME SCRIPT MODULES   run one test, with the modules loaded for it
#   rest                      wait for what comes late, and scan for leaked memory
#   shell MODULES             interactive shell on the console
#   load MODULES              only load modules
#
# What is a failure is decided by the runner alone; the agent reports facts.

# shellcheck source=/dev/null
set -a && . /run/vm/config && set +a
exec 3<>/dev/ttyS1 4>/dev/kmsg

OBJECTS=/sys/kernel/debug/smc/objects
LIMIT=$((${VM_LIMIT:-60} * ${VM_SLOW:-1}))	# seconds for what comes at once on an idle machine
TAB='	'

say() {
	printf '%s\n' "$*" >&3
}

# kmsg TEXT: a mark in the kernel log, so that its lines can be given to a test. No other line
# has a lower level: a console that shows the mark shows all.
kmsg() {
	echo "<7>smc-vm: $*" >&4
}

setup() {
	echo "vm-$VM_GUEST" >/proc/sys/kernel/hostname
	[ ! -e /proc/sys/kernel/hung_task_timeout_secs ] ||
		echo $((60 * ${VM_SLOW:-1})) >/proc/sys/kernel/hung_task_timeout_secs
	# Booting printed warnings only; from here on every line counts, also if a test lowers the level.
	echo Y >/sys/module/printk/parameters/ignore_loglevel
	[ ! -e /sys/kernel/debug/kmemleak ] || echo clear >/sys/kernel/debug/kmemleak
}

is_loaded() {
	[ -d "/sys/module/$1/holders" ]
}

# load_module NAME: our own build first, the distribution's for all it needs.
load_module() {
	is_loaded "$1" && return 0
	if [ -z "$VM_MODULES" ] || [ ! -e "$VM_MODULES/$1.ko" ]; then
		case $VM_INTREE$1 in
		smc*)
			# Never test the distribution's module instead of ours.
			echo "there is no $1.ko in the folder '$VM_MODULES'"
			return 1
			;;
		esac
		modprobe "$1"
		return
	fi
	eval "_deps=\$VM_DEPENDS_$1"
	# shellcheck disable=SC2154 # from the configuration
	for _dep in $_deps; do
		load_module "$_dep" || return 1
	done
	insmod "$VM_MODULES/$1.ko" || return 1
	[ ! -r "/sys/module/$1/sections/.text" ] ||
		say "@module $1 $(cat "/sys/module/$1/sections/.text") $VM_MODULES/$1.ko"
}

load_modules() {
	for _m in "$@"; do
		if ! load_module "$_m" >/run/vm/load 2>&1; then
			say "@load-failed $_m: $(tr '\n' ' ' </run/vm/load)"
			return 1
		fi
	done
}

# unload_module NAME: the last socket lets its module go a moment after it was counted.
unload_module() {
	_tries=$((10 * LIMIT))
	until rmmod "$1" >/run/vm/unload 2>&1; do
		_tries=$((_tries - 1))
		[ $_tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# Unloaded in reverse order; a module that stays is named with its users.
unload_modules() {
	_reverse=
	for _m in "$@"; do
		_reverse="$_m $_reverse"
	done
	for _m in $_reverse; do
		is_loaded "$_m" || continue
		unload_module "$_m" ||
			say "@unload-failed $_m: $(tr '\n' ' ' </run/vm/unload)"
	done
}

live_objects() {
	[ -e $OBJECTS ] || return 0
	while read -r _name _live _rest; do
		echo "$_name $_live"
	done <$OBJECTS
}

# held_objects: the counters that are not zero. Without the module there is no counter.
held_objects() {
	live_objects | while read -r _name _live; do
		[ "$_live" = 0 ] || echo "$_name $_live"
	done
}

# settle BEFORE: closes may linger for a while, so wait for the counters to return to what
# held_objects printed before the test. The test may have loaded or unloaded the module.
settle() {
	_tries=$((10 * LIMIT))
	until [ "$(held_objects)" = "$1" ]; do
		if [ $_tries = 0 ]; then
			say "@unsettled"
			return
		fi
		sleep 0.1
		_tries=$((_tries - 1))
	done
}

report_objects() {
	live_objects | while read -r _name _live; do
		say "@objects $1 $_name $_live"
	done
}

run_script() {
	# A mount and a PID namespace of its own: whatever a test leaves running
	# or mounted is gone with it, and holds no socket afterwards.
	{
		unshare -mpf --mount-proc --kill-child "$1" 2>&1
		echo $? >/run/vm/status
	} </dev/null 3>&- 4>&- | sed -u 's/^/|/' >&3 4>&-
	read -r _status </run/vm/status
	say "@exit $_status"
}

run_test() {
	_test=$1 _script=$2 _modules=$3
	kmsg "begin $_test"
	say "@begin $_test"
	say "@phase load"
	# shellcheck disable=SC2086 # a list of words
	if load_modules $_modules; then
		[ -e $OBJECTS ] || ! is_loaded smc || [ -n "$VM_INTREE" ] || say "@no-objects"
		_before=$(held_objects)
		report_objects before
		say "@phase run"
		VM_TEST=$_test run_script "$_script"
		say "@phase settle"
		settle "$_before"
		report_objects after
	fi
	say "@phase unload"
	# shellcheck disable=SC2086
	unload_modules $_modules
	# Not with "read", which takes bytes one by one: a sysctl has no second one.
	say "@taint $(cat /proc/sys/kernel/tainted)"
	kmsg "end $_test"
	say "@end $_test"
}

# kmemleak only reports what is older than five seconds; a first scan marks, a
# second one confirms. The kernel refuses both once kmemleak has switched itself off.
kmemleak() {
	if [ ! -e /sys/kernel/debug/kmemleak ]; then
		say "@kmemleak none"
		return
	fi
	sleep 6
	if echo scan >/sys/kernel/debug/kmemleak && echo scan >/sys/kernel/debug/kmemleak; then
		sed -u 's/^/@leak /' /sys/kernel/debug/kmemleak >&3
		echo clear >/sys/kernel/debug/kmemleak
	else
		say "@leak kmemleak is switched off"
	fi
	say "@kmemleak scanned"
}

# What a test has started in the kernel, a timer, a work or an RCU callback, may fail after its end.
rest() {
	sleep "${VM_SLOW:-1}"
	kmemleak
	kmsg "rest"
	say "@rest"
}

shell() {
	# shellcheck disable=SC2086
	load_modules $1
	[ -z "$VM_WINDOW" ] || stty -F /dev/ttyS0 rows "${VM_WINDOW%x*}" cols "${VM_WINDOW#*x}"
	# shellcheck disable=SC2016 # the new shell expands it
	setsid -c sh -c '. "$VM_DIR/guest/shell.sh"' </dev/ttyS0 >/dev/ttyS0 2>&1 3>&- 4>&-
	say "@shell done"
}

setup
say "@hello $VM_RELEASE"
kmsg "hello"
# shellcheck disable=SC2086 # lists of words
while IFS=$TAB read -r command a b c <&3; do
	case $command in
	run) run_test "$a" "$b" "$c" ;;
	rest) rest ;;
	shell) shell "$a" ;;
	load) load_modules $a ;;
	esac
done

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# smc-policy.service switches off what it has switched on, and nothing else: neither rules typed by
# hand nor those of units; a bad word in its file changes nothing. A script plays systemd: it reads the
# environment files anew before each command.
#
# kernels: stock-6.12
# modules: smc
# timeout: 240

# shellcheck disable=SC3043,SC2317,SC2154,SC2119,SC2086 # local is known; check() calls these
# functions; numbers and words
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

service=$_work/smc-policy.service
words=/etc/default/smc-policy

# run_commands KEY: those of the service, until one fails
run_commands() {
	local line load

	load="set -a; $(sed -n 's/^EnvironmentFile=-\{0,1\}\(.*\)/[ ! -e \1 ] || . \1;/p' "$service")"
	sed -e ':joined' -e '/\\$/{N;s/\\\n//;b joined}' "$service" |
		sed -n "s/^$1=//p" >"$_work/commands"
	[ -s "$_work/commands" ] || return 1
	while read -r line; do
		sh -c "$load $line" </dev/null || return 1
	done <"$_work/commands"
}

start() {
	mkdir -p /run/smc-policy
	run_commands ExecStartPre
	run_commands ExecStart
}

stop() {
	local status=0

	run_commands ExecStop >"$_work/stopped" || status=1
	rm -rf /run/smc-policy
	return $status
}

# set_words WORD...: what an administrator writes
set_words() {
	echo "SMC_POLICY=\"$*\"" >$words
}

# in_netns NAME: the protocol of a new socket there
in_netns() {
	ip netns exec "$1" plain_tcp protocol
}

policy_begin
sed "s|@BINDIR@|$VM_TOOLS|" "$VM_DIR/../../tools/smc/policy/smc-policy.service.in" >"$service"
mkdir -p /etc/default "$cgroups/box" "$cgroups/gone"
for name in blue green red; do
	ip netns add $name
done

check "a check" smc on --check --netns blue --except-user nobody
check "  changes nothing" is_off
set_words --netns blue --except-user nobody
check "start" start
is "its rule holds" "$(in_netns blue)" $SMC
check "somebody switches on more" smc on --netns green
check "a unit does so" inside box smc on --cgroup self
check "stop" stop
is "its rule is gone" "$(in_netns blue)" $TCP
is "its exception is gone" "$(smc status | grep -c nobody)" 0
is "that of somebody holds" "$(in_netns green)" $SMC
is "that of the unit holds" "$(inside box plain_tcp protocol)" $SMC

check "start" start
set_words --netns red
is "another file changes nothing yet" "$(in_netns blue)$(in_netns red)" $SMC$TCP
check "reload" run_commands ExecReload
is "now it does" "$(in_netns blue)$(in_netns red)" $TCP$SMC
is "that of somebody holds" "$(in_netns green)" $SMC
set_words --netns blue --user nemo
refuse "reload, with a user who is not there" run_commands ExecReload
is "it changes nothing" "$(in_netns blue)$(in_netns red)" $TCP$SMC
set_words --netns blue --except-netns green
refuse "reload, with the opposite of somebody's rule" run_commands ExecReload
is "what it had is back" "$(in_netns blue)$(in_netns red)$(in_netns green)" $TCP$SMC$SMC
set_words --netns blue
check "stop, with another file" stop
is "what it had is off" "$(in_netns blue)$(in_netns red)" $TCP$TCP
is "that of somebody holds" "$(in_netns green)" $SMC

set_words --netns blue --cgroup "$cgroups/gone" --user temporary
echo "temporary:x:54321:54321::/:/bin/sh" >>/etc/passwd
check "start" start
sed -i /^temporary:/d /etc/passwd
rmdir "$cgroups/gone"
check "stop, when a user and a cgroup are gone" stop
check "it says that the cgroup's rule is off" grep -x "off: cgroup /${cgroups##*/}/gone" \
	"$_work/stopped"
check "an unknown cgroup, with some on" shows "there is no cgroup /nemo, and no rule for it" \
	smc off --cgroup /nemo
check "an unknown user, with some on" says "there is no user nemo, and no rule for it" \
	smc off --user nemo
is "the rest is off" "$(in_netns blue)" $TCP
is "the user's rule is gone" "$(smc status | grep -c temporary)" 0
is "that of somebody holds" "$(in_netns green)" $SMC

printf ' \tSMC_POLICY="--netns blue"\n' >$words
check "start, with blanks before the name" start
is "its rule holds" "$(in_netns blue)" $SMC
check "stop" stop
is "its rule is gone" "$(in_netns blue)" $TCP
is "that of somebody holds" "$(in_netns green)" $SMC
set_words --netns blue
check "start" start
rm /run/smc-policy/on
check "stop, when nobody knows what it had" stop
is "no rule has gone" "$(in_netns blue)$(in_netns green)" $SMC$SMC

check "off" smc off
check "that is off" is_off
rm $words
for name in blue green red; do
	ip netns del $name
done
policy_end
smc_expect_clean "nothing is left over"
done_testing

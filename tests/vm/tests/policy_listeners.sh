#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# "smc on" names the programs that listen already and have to be restarted: those to which its rules
# apply, with their ports and network namespaces.
#
# kernels: stock-6.12
# modules: smc smc_diag
# timeout: 240

# shellcheck disable=SC2317,SC2154,SC2119 # check() calls these functions
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

# Others can read that folder
mkdir "$_work/tools"
cp "$VM_SELFTESTS/plain_tcp" "$_work/tools/plain_tcp"
cp "$VM_SELFTESTS/plain_tcp" "$_work/tools/other"
chmod 755 "$_work" "$_work/tools" "$_work/tools/"*
PATH=$_work/tools:$PATH
servers=

# listen PORT COMMAND...: a server in the background
listen() {
	local port="$1"

	shift
	"$@" serve "$port" >/dev/null 2>&1 &
	servers="$servers $!"
}

# named OPTION...: the programs that "smc on" names with these; it is off again afterwards
named() {
	smc on "$@" | sed -n 's/^These programs listen already and stay TCP until they are restarted: //p'
	smc off >/dev/null
}

policy_begin
mkdir "$cgroups/box"
ip netns add blue
is "nobody listens: nothing is said" "$(named --host)" ""

# Not by inside(): a function in the background is a shell, which could be killed without the program
# shellcheck disable=SC2016 # for the inner shell
listen 5001 sh -c 'echo $$ >"$0/cgroup.procs" && exec plain_tcp "$@"' "$cgroups/box"
listen 5002 ip netns exec blue plain_tcp
listen 5001 ip netns exec blue plain_tcp
listen 5003 setpriv --reuid nobody --regid nogroup --clear-groups plain_tcp
listen 5004 other
listen 5005 other
for port in 5001 5003 5004 5005; do
	wait_listen $port
done
wait_listen 5001 blue
wait_listen 5002 blue

is "all of them" "$(named --host)" \
	"other (5004, 5005), plain_tcp (5001, 5003, 5001 in netns blue, 5002 in netns blue)"
is "those in a cgroup" "$(named --cgroup "$cgroups/box")" "plain_tcp (5001)"
is "those in the cgroup above" "$(named --cgroup "$cgroups")" "plain_tcp (5001)"
is "those in a network namespace" "$(named --netns blue)" \
	"plain_tcp (5001 in netns blue, 5002 in netns blue)"
is "those of a user" "$(named --user nobody)" "plain_tcp (5003)"
is "those of a name" "$(named --program other)" "other (5004, 5005)"
is "not those that are exceptions" \
	"$(named --host --except-program other --except-netns blue --except-user nobody)" \
	"plain_tcp (5001)"
is "none at all" "$(named --host --except-cgroup "$cgroups" --except-program plain_tcp \
	--except-program other)" ""

# shellcheck disable=SC2086 # numbers
kill $servers
# shellcheck disable=SC2086
wait $servers 2>/dev/null
check "on" smc on --host
listen 5006 other
wait_listen 5006
is "who listens with an SMC socket is not named" \
	"$(smc on --program other)" "on: program other"
# shellcheck disable=SC2086
kill $servers 2>/dev/null
wait
check "off" smc off

ip netns del blue
policy_end
smc_expect_clean "nothing is left over"
done_testing

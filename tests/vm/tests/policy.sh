#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "smc on" and "smc off": programs that ask for TCP get SMC sockets, by cgroup, network namespace, user,
# name, or all of them, but for exceptions. The module stays as long as sockets depend on it.
#
# kernels: stock-6.12
# smaller: the module comes and goes twice in place of five and six times.
# modules: smc smc_diag
# cpus: 2
# threads: 1
# timeout: 240
# variables: DAILY

# shellcheck disable=SC3043,SC2317,SC2154,SC2086,SC2119 # local is known; check() calls these
# functions; numbers and words
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../programs.sh
. "$(dirname "$0")/../programs.sh"
# shellcheck source=../policy.sh
. "$(dirname "$0")/../policy.sh"

port=5000
at_once_rounds='1 2 3 4 5' storm_rounds='1 2 3 4 5 6'
[ -z "$DAILY" ] || at_once_rounds='1 2' storm_rounds='1 2'

# exchange MODE: plain_tcp, a static program, from the cgroup "box" to a server in it
exchange() {
	local server

	mode=$1
	port=$((port + 1))
	count_from .
	inside box plain_tcp serve $port >"$_work/server" &
	server=$!
	wait_listen $port || return 1
	inside box plain_tcp talk 127.0.0.1 $port && wait $server && went_over $((1 << 20))
}

# fetch MODE SERVER CLIENT: the same with programs of others: the server sends a file. The input of the
# client, descriptor 7, does not end: nc would end with it.
fetch() {
	local server

	mode=$1
	count_from .
	# A function in the background is a shell, which could be killed without the program
	sh -c "echo \$\$ >'$cgroups/box/cgroup.procs' && exec $2" <"$_work/file" >/dev/null 2>&1 &
	server=$!
	wait_listen $port || return 1
	inside box $3 <&7 >"$_work/got" 2>"$_work/errors" || cat "$_work/errors"
	kill $server 2>/dev/null
	wait $server
	cmp "$_work/file" "$_work/got" && went_over $((1 << 18))
}

# begin_talk HOW: a client that has its socket, and waits for a line; its input is descriptor 8
begin_talk() {
	port=$((port + 1))
	mkfifo "$_work/go.$port"
	inside box plain_tcp serve $port >"$_work/server" &
	server=$!
	wait_listen $port || return 1
	inside box plain_tcp talk ::1 $port "$1" <"$_work/go.$port" >"$_work/client" 2>&1 &
	client=$!
	exec 8>"$_work/go.$port"
	wait_for "its socket" test -s "$_work/client"
}

end_talk() {
	echo >&8
	exec 8>&-
	wait $client && wait $server
}

# meanwhile HOW: a connection whose client does something else between socket() and connect()
meanwhile() {
	mode=smc
	count_from .
	begin_talk "$1" && exec 8>&- && wait $client && wait $server && went_over $((1 << 20)) &&
		return
	cat "$_work/client"
	kill $server
	return 1
}

# moved: out of the cgroup
moved() {
	mode=smc
	count_from .
	begin_talk wait && echo $client >"$cgroups/other/cgroup.procs" && end_talk &&
		went_over $((1 << 20))
}

# at_once: "smc off" ends when the kernel has let all of it go, and not before
at_once() {
	# shellcheck disable=SC2034
	for round in $at_once_rounds; do
		smc on --host >/dev/null && smc off >/dev/null && rmmod smc &&
			insmod "$VM_MODULES/smc.ko" || return 1
	done
}

# storm: no socket() may fail while the module comes and goes, with a policy or without
storm() {
	local round

	plain_tcp open 1000000000 >"$_work/storm" 2>&1 &
	sockets=$!
	# shellcheck disable=SC2034
	for round in $storm_rounds; do
		smc on --host >/dev/null || return 1
		! rmmod smc 2>/dev/null || return 1
		smc off >/dev/null || return 1
		wait_for "the module to go" rmmod smc || return 1
		insmod "$VM_MODULES/smc.ko" || return 1
	done
	# It must have gone on until now
	kill $sockets
}

policy_begin
allow_slow_handshakes
mkdir "$cgroups/box" "$cgroups/box/inner" "$cgroups/other"
head -c 1000000 /dev/urandom >"$_work/file"
cp "$VM_SELFTESTS/plain_tcp" "$_work/other_name"
cp "$VM_SELFTESTS/plain_tcp" "$_work/tools"
cat >"$_work/fetch.py" <<-END
	import sys, urllib.request
	sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())
END
mkfifo "$_work/endless"
exec 7<>"$_work/endless"
ip link set lo up
ns_pair blue red

check "off, at first" is_off
is "a program asks for TCP, and has it" "$(inside box plain_tcp protocol)" $TCP

# --- a cgroup ---------------------------------------------------------------------------------

check "on for a cgroup" smc on --cgroup "$cgroups/box"
is "a program in it has an SMC socket" "$(inside box plain_tcp protocol)" $SMC
is "and below it" "$(inside box/inner plain_tcp protocol)" $SMC
is "another has not" "$(inside other plain_tcp protocol)" $TCP
is "nor has this one" "$(protocol)" $TCP
is "IPv6" "$(inside box plain_tcp protocol 10 1 6)" $SMC
is "with flags of socket()" "$(inside box plain_tcp protocol 2 $((1 | 04000 | 02000000)) 0)" $SMC
is "MPTCP" "$(inside box plain_tcp protocol 2 1 $MPTCP)" $SMC
is "not UDP" "$(inside box plain_tcp protocol 2 2 0)" $UDP
is "not what io_uring makes" "$(inside box plain_tcp uring)" $TCP
check "a static program exchanges data over SMC" exchange smc
port=$((port + 1))
check "busybox does, which is static" fetch smc "busybox nc -l -p $port" \
	"busybox nc 127.0.0.1 $port"
port=$((port + 1))
check "Python does" fetch smc \
	"/usr/bin/python3 -m http.server -b 127.0.0.1 -d $_work $port" \
	"/usr/bin/python3 $_work/fetch.py http://127.0.0.1:$port/file"

check "a socket stays what it is in another cgroup" moved
check "after exec()" meanwhile exec
check "after fork()" meanwhile fork

check "status knows the cgroup" shows "cgroup /${cgroups##*/}/box since" smc status
check "and counts" shows "to be MPTCP" smc status
check "and says what is not caught" shows "io_uring creates" smc status
check "JSON" shows '"kind":"cgroup"' smc status -j
is "one was to be MPTCP" "$(smc status -j | sed 's/.*"mptcp":\([0-9]*\).*/\1/')" 1

# --- the module stays ---------------------------------------------------------------------------

rmmod smc_diag
refuse "the module cannot be unloaded" rmmod smc
is "and sockets are as before" "$(inside box plain_tcp protocol)" $SMC
insmod "$VM_MODULES/smc_diag.ko"

# --- off ------------------------------------------------------------------------------------------

mode=smc
count_from .
check "a connection begins" begin_talk wait
check "it is switched off" smc off
check "there is nothing left" is_off
is "new sockets are TCP at once" "$(inside box plain_tcp protocol)" $TCP
check "the old one goes on" end_talk
check "over SMC" went_over $((1 << 20))
check "a new one is TCP" exchange tcp
check "off when it is off" shows "was not on" smc off

# --- overlapping policies -------------------------------------------------------------------------

check "on for a cgroup" smc on --cgroup "${cgroups##*/}/box"
check "and for one below it" smc on --cgroup "$cgroups/box/inner"
check "again" shows "already on" smc on --cgroup "$cgroups/box/inner"
check "an exception is not the same" says "is on already" \
	smc on --except-cgroup "$cgroups/box/inner"
check "off below: who has it on is said" shows "still on there, by --cgroup" \
	smc off --cgroup "$cgroups/box/inner"
is "it is" "$(inside box/inner plain_tcp protocol)" $SMC
check "an exception below" smc on --except-cgroup "$cgroups/box/inner"
is "it counts more" "$(inside box/inner plain_tcp protocol)" $TCP
is "there only" "$(inside box plain_tcp protocol)" $SMC
check "off, one by one" smc off --cgroup "$cgroups/box"
check "the exception is left" shows "except cgroup" smc status
check "the last one takes the policy away" smc off --except-cgroup "$cgroups/box/inner"
check "all is gone" is_off

mkdir "$cgroups/box/short"
check "on for a cgroup that will go" smc on --cgroup "$cgroups/box/short" --netns red
rmdir "$cgroups/box/short"
check "status says that it has gone" shows "gone" smc status
check "another command" smc off --netns red
check "takes such rules away" is_off

# --- network namespaces, users, programs, all ----------------------------------------------------

check "on for a network namespace" smc on --netns blue
is "there" "$(in_ns blue plain_tcp protocol)" $SMC
is "not in another" "$(in_ns red plain_tcp protocol)" $TCP
is "not here" "$(protocol)" $TCP
check "on for another by its path" smc on --netns /run/netns/red
is "there, too" "$(in_ns red plain_tcp protocol)" $SMC
in_ns red plain_tcp serve 4999 >"$_work/server" &
wait_listen 4999 red
check "data goes between them" in_ns blue plain_tcp talk "$(addr red)" 4999
wait $!
check "status sees sockets of other namespaces" shows "in 3 network namespaces" smc status
ip netns del red
check "off for one that has gone, and for one that never was" shows "off: netns /run/netns/red" \
	smc off --netns green --netns /run/netns/red
check "off for the other" smc off --netns blue
check "all is gone" is_off

check "on for a user" smc on --user nobody
is "hers are SMC" "$(setpriv --reuid nobody --clear-groups "$_work/other_name" protocol)" $SMC
is "those of others are not" "$(protocol)" $TCP
check "on for a program as well" smc on --program other_name
is "it has SMC" "$("$_work/other_name" protocol)" $SMC
is "others have not" "$(protocol)" $TCP
check "off" smc off

check "on for all but some" smc on --host --except-program other_name --except-user nobody \
	--except-netns blue
is "all" "$(protocol)" $SMC
is "but a program" "$("$_work/other_name" protocol)" $TCP
is "but a user" "$(setpriv --reuid nobody --clear-groups /bin/sh -c "exec $_work/tools/plain_tcp protocol")" \
	$TCP
is "but a namespace" "$(in_ns blue plain_tcp protocol)" $TCP
check "exceptions count" shows "except netns blue since" smc status
check "status counts 1 for each" shows "1 sockets left alone" smc status
check "a connection" exchange smc
check "off" smc off
check "all is gone" is_off

# --- the module comes and goes --------------------------------------------------------------------

rmmod smc_diag
check "it can go as soon as the policy is off" at_once
check "no socket() fails meanwhile" storm
is "none has" "$(cat "$_work/storm")" ""
insmod "$VM_MODULES/smc_diag.ko"

ip netns del blue
policy_end
smc_expect_clean "nothing is left over"
done_testing

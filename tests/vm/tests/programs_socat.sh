#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# socat in all its modes for streams: each does the same over TCP, over SMC, and where it has to
# fall back.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: ``socket_calls``: socket calls without this program.
# modules: smc
# cpus: 2
# memory: 2048
# timeout: 240

# shellcheck disable=SC2317,SC2086,SC2154 # check() calls these functions; $via is a word or none
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../programs.sh
. "$(dirname "$0")/../programs.sh"

WAIT_LIMIT=$((60 * VM_SLOW))
PORT=7001

# serve PORT ARGUMENT...: a socat in the server's namespace
serve() {
	local port="$1"

	shift
	# The port was in use a moment ago, and what stands behind may answer late
	set -- "${@/LISTEN:$port/LISTEN:$port,reuseaddr}"
	ip netns exec server $via socat -t $((20 * VM_SLOW)) "$@" 2>>"$_work/socat.log" &
	servers+=($!)
	wait_listen "$port" server
}

end_servers() {
	kill "${servers[@]}" 2>/dev/null
	wait "${servers[@]}" 2>/dev/null
	servers=()
}

client() {
	in_ns client $via socat -t $((20 * VM_SLOW)) "$@"
}

# both SERVER-ADDRESS CLIENT-ADDRESS [OPTION...]: the server echoes through a program; what comes
# back to the client is what it sent
both() {
	local server="$1" address="$2"

	shift 2
	serve $PORT "$server" EXEC:cat || return 1
	client "$@" - "$address" <"$_work/data" >"$_work/back" || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/back"
}

# oneway SERVER-OPTION CLIENT-OPTION: to a file on the other side
oneway() {
	serve $PORT -u "TCP-LISTEN:$PORT,$1" "CREATE:$_work/there" || return 1
	client -u "FILE:$_work/data" "TCP:$host:$PORT,$2" || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/there"
}

pull() {
	serve $PORT -U "TCP-LISTEN:$PORT" "FILE:$_work/data" || return 1
	client -u "TCP:$host:$PORT" "CREATE:$_work/there" || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/there"
}

# Clients one after the other and at once, each with a process of the server
forked() {
	local n pids=()

	serve $PORT "TCP-LISTEN:$PORT,fork,max-children=4,backlog=10" SYSTEM:"tr a-z A-Z" || return 1
	for n in 1 2 3 4 5 6; do
		echo "line $n" | client - "TCP:$host:$PORT" >"$_work/line$n" &
		pids+=($!)
	done
	wait "${pids[@]}" || return 1
	end_servers
	for n in 1 2 3 4 5 6; do
		[ "$(cat "$_work/line$n")" = "LINE $n" ] || return 1
	done
}

# A chain: client, forwarder, server
chained() {
	serve 7002 "TCP-LISTEN:7002" EXEC:cat || return 1
	both_via "TCP-LISTEN:$PORT" "TCP:127.0.0.1:7002"
}

both_via() {
	serve $PORT "$1" "$2" || return 1
	client - "TCP:$host:$PORT" <"$_work/data" >"$_work/back" || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/back"
}

# Something that looks like a proxy, for one connection: answers a request, and then is the server
proxy() {
	cat >"$_work/proxy" <<-'END'
		#!/bin/bash
		case $1 in
		http)
			while IFS= read -r line && [ "${line%$'\r'}" ]; do :; done
			printf 'HTTP/1.0 200 OK\r\n\r\n'
			;;
		socks*)
			head -c 8 >/dev/null
			IFS= read -r -d '' user
			[ "$1" = socks ] || IFS= read -r -d '' host
			printf '\0\132\0\0\0\0\0\0'
			;;
		esac
		exec cat
	END
	chmod +x "$_work/proxy"
	serve $PORT "TCP-LISTEN:$PORT" "EXEC:$_work/proxy $1" || return 1
	client - "$2" <"$_work/data" >"$_work/back" || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/back"
}

# What stands behind the descriptor is up to a terminal
terminal() {
	serve $PORT "TCP-LISTEN:$PORT" EXEC:cat,pty,raw,echo=0 || return 1
	head -c 3000 "$_work/data" | base64 >"$_work/text"
	client - "TCP:$host:$PORT,shut-none" <"$_work/text" >"$_work/back" &
	wait_for "the text" cmp "$_work/text" "$_work/back" || return 1
	kill $!
	end_servers
}

urgent() {
	serve $PORT -u "TCP-LISTEN:$PORT,oobinline" "CREATE:$_work/there" || return 1
	client -u "FILE:$_work/data" "TCP:$host:$PORT,oobinline,nodelay" || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/there"
}

retried() {
	client - "TCP:$host:$PORT,retry=600,interval=0.1" <"$_work/data" >"$_work/back" \
		2>>"$_work/socat.log" &
	late=$!
	# It may listen for a moment only
	ip netns exec server $via socat -t $((20 * VM_SLOW)) "TCP-LISTEN:$PORT,reuseaddr" EXEC:cat \
		2>>"$_work/socat.log" &
	servers+=($!)
	wait $late || return 1
	wait "${servers[@]}" && servers=()
	cmp "$_work/data" "$_work/back"
}

# limit_time: a client whose server says nothing gives up by itself
limit_time() {
	serve $PORT "TCP-LISTEN:$PORT" PIPE || return 1
	client -T 0.3 "TCP:$host:$PORT" PIPE || return 1
	end_servers
}

run_all() {
	local l="TCP-LISTEN:$PORT" c="TCP:$host:$PORT"

	check "$mode: echo" both "$l" "$c"
	check "$mode: echo, IPv4 and IPv6 by name" both "TCP4-LISTEN:$PORT" "TCP4:$host:$PORT"
	check "$mode: echo over IPv6" both "TCP6-LISTEN:$PORT" "TCP6:[$host6]:$PORT"
	check "$mode: IPv4 client of an IPv6 listener" both "TCP6-LISTEN:$PORT,ipv6only=0" "$c"
	check "$mode: small blocks" both "$l" "$c" -b 1000
	check "$mode: large blocks" both "$l" "$c" -b 1000000
	check "$mode: options of both levels" both \
		"$l,keepalive,keepidle=10,rcvbuf=65536,sndbuf=65536,nodelay,linger=10" \
		"$c,nodelay,keepalive,rcvbuf=32768,sndbuf=131072,mss=1000,bind=$(addr client)"
	check "$mode: options late" both "$l,rcvbuf-late=100000" "$c,sndbuf-late=100000,cork=0"
	check "$mode: from a port" both "$l,range=10.0.0.0/8" "$c,sourceport=$((PORT + 5)),reuseaddr"
	check "$mode: non-blocking connect" both "$l,accept-timeout=$((60 * VM_SLOW))" \
		"$c,connect-timeout=$((60 * VM_SLOW)),nonblock"
	check "$mode: half-close by shutdown" both "$l,shut-down" "$c,shut-down"
	check "$mode: TLS" both "OPENSSL-LISTEN:$PORT,cert=$_work/both.pem,verify=0" \
		"OPENSSL:$host:$PORT,verify=0"
	check "$mode: one way" oneway backlog=3 nodelay
	check "$mode: one way, closed at once" oneway end-close shut-close
	check "$mode: one way, with a null packet behind it" oneway null-eof shut-none,end-close
	check "$mode: the other way" pull
	check "$mode: a process for each client" forked
	check "$mode: a chain" chained
	check "$mode: through a proxy (CONNECT)" proxy http \
		"PROXY:$host:somewhere:80,proxyport=$PORT"
	check "$mode: through a proxy (SOCKS4)" proxy socks \
		"SOCKS4:$host:10.9.9.9:80,socksport=$PORT,socksuser=nobody"
	check "$mode: through a proxy (SOCKS4A)" proxy socks4a \
		"SOCKS4A:$host:somewhere:80,socksport=$PORT,socksuser=nobody"
	check "$mode: a terminal" terminal
	check "$mode: urgent data in line" urgent
	check "$mode: a listener that comes late" retried
	check "$mode: a limit of time" limit_time
}

ns_pair client server
in_ns client ip link set lo up
host=$(addr server)
host6=$(addr server 6)
servers=()
head -c 700000 /dev/urandom >"$_work/data"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server \
	-keyout "$_work/key.pem" -out "$_work/cert.pem" 2>/dev/null
cat "$_work/key.pem" "$_work/cert.pem" >"$_work/both.pem"

for mode in tcp smc declined stripped; do
	set_mode $mode client server
	count_from client server
	begin=$(cut -d' ' -f1 /proc/uptime)
	run_all
	log "$mode: from $begin to $(cut -d' ' -f1 /proc/uptime)"
	check "$mode: they went over it" went_over 10000000
done
[ ! -s "$_work/socat.log" ] || log "$(cat "$_work/socat.log")"
ip netns del client
ip netns del server
smc_expect_clean "nothing is left over"
done_testing

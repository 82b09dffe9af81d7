#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Servers and clients from outside between two namespaces: each does the same over TCP, over SMC
# and over a connection whose handshake ends with a Decline, and the counters say which it was.
#
# The variable PROGRAMS_MB is the size of large files (8), PROGRAMS names some of the programs.
#
# kernels: stock-6.12 stock-6.1
# daily: none
# instead: ``socket_calls``; ``smc_containers`` and ``operator_walk`` with unmodified programs
# instead: (iperf3, Python).
# modules: smc
# variables: PROGRAMS_MB PROGRAMS
# cpus: 2
# memory: 2048
# timeout: 400

# shellcheck disable=SC2317,SC2086,SC2154 # check() calls these functions; $via is a word or none
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../programs.sh
. "$(dirname "$0")/../programs.sh"

MB=${PROGRAMS_MB:-8}
WAIT_LIMIT=$((60 * VM_SLOW))
server_pid=

# serve PORT COMMAND...: starts a server and waits until it listens
serve() {
	local port="$1"

	shift
	ip netns exec server $via "$@" >>"$_work/server.log" 2>&1 &
	server_pid=$!
	wait_listen "$port" server
}

end_server() {
	[ -n "$server_pid" ] || return 0
	kill -"${1:-TERM}" "$server_pid" 2>/dev/null
	wait "$server_pid" 2>/dev/null
	server_pid=
}

client() {
	in_ns client $via "$@"
}

# same FILE...: all files have the content of the big one
same() {
	local file

	for file; do
		cmp "$_work/big" "$file" || return 1
	done
}

# --- nginx: ab with and without keep-alive, wrk, curl with and without TLS -----------

prepare_web() {
	mkdir -p "$_work/www"
	cp "$_work/big" "$_work/www/big"
	head -c 3000 "$_work/big" >"$_work/www/small"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-subj /CN=server -keyout "$_work/key.pem" -out "$_work/cert.pem" 2>/dev/null
	cat >"$_work/nginx.conf" <<-END
		daemon off; user root; worker_processes 2; pid $_work/nginx.pid;
		error_log $_work/nginx-error.log warn;
		events { worker_connections 512; }
		http {
			access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000;
			ssl_certificate $_work/cert.pem; ssl_certificate_key $_work/key.pem;
			server {
				listen 80 reuseport; listen [::]:80; listen 443 ssl;
				root $_work/www;
				client_max_body_size 1g;
				location /put/ { dav_methods PUT; create_full_put_path on; }
				location /proxy/ { proxy_pass http://127.0.0.1:80/; }
			}
		}
	END
}

# benchmark NUMBER OPTION... URL: ab, all of whose requests have to work
benchmark() {
	local number="$1"

	shift
	client ab -q -n "$number" "$@" >"$_work/ab" 2>&1
	grep -q "^Failed requests: *0$" "$_work/ab" && ! grep -q "^Non-2xx" "$_work/ab" &&
		grep -q "^Complete requests: *$number$" "$_work/ab" && return
	cat "$_work/ab"
	return 1
}

# hammer OPTION... URL: wrk, without an error
hammer() {
	client wrk "$@" >"$_work/wrk" 2>&1
	grep -q "^ *[1-9][0-9]* requests in" "$_work/wrk" &&
		! grep -q "Socket errors\|Non-2xx" "$_work/wrk" && return
	cat "$_work/wrk"
	return 1
}

web() {
	local url="http://$host"

	prepare_web
	check "$mode: nginx starts" serve 80 nginx -e "$_work/nginx-error.log" \
		-c "$_work/nginx.conf"
	check "$mode: ab without keep-alive" benchmark 150 -c 10 "$url/small"
	check "$mode: ab with keep-alive" benchmark 400 -k -c 10 "$url/small"
	check "$mode: wrk" hammer -t 2 -c 20 -d 2s "$url/small"
	check "$mode: curl, a large file" client curl -sSf -o "$_work/got1" "$url/big"
	check "$mode: curl, over IPv6" client curl -sSf -o "$_work/got2" "http://[$host6]/big"
	check "$mode: curl, with TLS" client curl -sSfk -o "$_work/got3" "https://$host/big"
	check "$mode: curl, through a proxy of nginx" \
		client curl -sSf -o "$_work/got4" "$url/proxy/big"
	check "$mode: curl, upload" client curl -sSf -T "$_work/big" "$url/put/file"
	check "$mode: the files are right" same "$_work"/got[1-4] "$_work/www/put/file"
	end_server
	rm -rf "$_work"/got? "$_work/www"
}

# --- openssh and rsync -----------------------------------------------------------------

prepare_ssh() {
	mkdir -p /run/sshd
	rm -f "$_work"/id* "$_work"/hostkey*
	ssh-keygen -q -t ed25519 -N '' -f "$_work/id"
	ssh-keygen -q -t ed25519 -N '' -f "$_work/hostkey"
	cp "$_work/id.pub" "$_work/keys"
	cat >"$_work/sshd_config" <<-END
		Port 22
		HostKey $_work/hostkey
		AuthorizedKeysFile $_work/keys
		PermitRootLogin yes
		StrictModes no
		UsePAM no
		Subsystem sftp internal-sftp
	END
	cat >"$_work/ssh_config" <<-END
		IdentityFile $_work/id
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
	END
	mkdir -p "$_work/tree/sub"
	cp -r /usr/include/linux/netfilter "$_work/tree/sub"
	cp "$_work/big" "$_work/tree/big"
	cat >"$_work/rsyncd.conf" <<-END
		pid file = $_work/rsync.pid
		use chroot = no
		uid = root
		gid = root
		[tree]
			path = $_work/rsync
			read only = no
	END
}

forwarded() {
	client ssh -F "$_work/ssh_config" -fNM -S "$_work/control" -L 8022:127.0.0.1:22 \
		"$host" || return 1
	client scp -q -F "$_work/ssh_config" -P 8022 "127.0.0.1:$_work/big" "$_work/got3"
	client ssh -F "$_work/ssh_config" -S "$_work/control" -O exit "$host"
}

ssh_rsync() {
	prepare_ssh
	check "$mode: sshd starts" serve 22 /usr/sbin/sshd -D -e -f "$_work/sshd_config"
	check "$mode: scp there" client scp -q -F "$_work/ssh_config" "$_work/big" "$host:$_work/got1"
	check "$mode: scp back" client scp -q -F "$_work/ssh_config" "$host:$_work/big" "$_work/got2"
	check "$mode: scp through a forwarded port" forwarded
	check "$mode: the files are right" same "$_work"/got[1-3]
	check "$mode: rsync over ssh" client rsync -a -e "ssh -F $_work/ssh_config" "$_work/tree/" \
		"$host:$_work/copy/"
	check "$mode: the copy is right" diff -r "$_work/tree" "$_work/copy"
	end_server

	mkdir -p "$_work/rsync"
	check "$mode: rsyncd starts" serve 873 rsync --daemon --no-detach --config="$_work/rsyncd.conf"
	check "$mode: rsync there" client rsync -a "$_work/tree/" "rsync://$host/tree/"
	check "$mode: rsync of a change" client rsync -a --inplace --no-whole-file --checksum \
		"$_work/tree/" "rsync://$host/tree/"
	check "$mode: rsync back" client rsync -a "rsync://$host/tree/" "$_work/back/"
	check "$mode: the copies are right" diff -r "$_work/tree" "$_work/rsync"
	check "$mode: and the other" diff -r "$_work/tree" "$_work/back"
	end_server
	rm -rf "$_work"/{got?,copy,rsync,back,tree}
}

# --- PostgreSQL ------------------------------------------------------------------------

as_postgres() {
	setpriv --reuid postgres --regid postgres --clear-groups "$@"
}

prepare_database() {
	bin=$(echo /usr/lib/postgresql/*/bin)
	[ ! -e "$_work/data" ] || return 0
	mkdir -p "$_work/data"
	chown postgres:postgres "$_work/data"
	as_postgres "$bin/initdb" --no-sync -A trust -D "$_work/data" >"$_work/initdb" 2>&1 ||
		{ cat "$_work/initdb"; return 1; }
	echo "host all all 0.0.0.0/0 trust" >>"$_work/data/pg_hba.conf"
}

database_ready() {
	client psql -h "$host" -U postgres -qtAc 'select 1' postgres
}

large_result() {
	client psql -h "$host" -U postgres -qtAc \
		"select repeat(md5(n::text), 100) from generate_series(1, 1000) n" \
		-o "$_work/result.$mode" postgres && [ "$(wc -l <"$_work/result.$mode")" = 1000 ]
}

database() {
	check "$mode: a database is made" prepare_database
	check "$mode: postgres starts" serve 5432 setpriv --reuid postgres --regid postgres \
		--clear-groups "$bin/postgres" -D "$_work/data" -h "$host" -k "$_work/data" -F
	check "$mode: psql" wait_for "the database" database_ready
	check "$mode: pgbench prepares" client pgbench -q -i -s 1 -h "$host" -U postgres postgres
	check "$mode: pgbench" client pgbench -n -c 4 -j 2 -t 30 -h "$host" -U postgres postgres
	check "$mode: pgbench with a connection for each transaction" \
		client pgbench -n -C -S -c 4 -t 10 -h "$host" -U postgres postgres
	check "$mode: a large result" large_result
	check "$mode: it is the same as over TCP" cmp "$_work/result.$mode" "$_work/result.tcp"
	end_server INT
}

# --- iperf3 ----------------------------------------------------------------------------

measured() {
	ip netns exec server $via iperf3 -s -1 -p 5201 >>"$_work/server.log" 2>&1 &
	wait_listen 5201 server || return 1
	client iperf3 -c "$host" -p 5201 "$@" && wait $!
}

iperf() {
	check "$mode: iperf3 in both directions" measured --bidir -t 1
	check "$mode: iperf3, four streams" measured -P 4 -n 4M
	check "$mode: iperf3 with sendfile, the other way" measured -Z -R -n 4M
	check "$mode: iperf3, small writes without delay" measured -N -l 100 -n 200K
}

# ---------------------------------------------------------------------------------------

pair
head -c $((MB << 20)) /dev/urandom >"$_work/big"

# The names of the functions above, which PROGRAMS chooses from
for program in ${PROGRAMS:-web ssh_rsync database iperf}; do
	for mode in $modes; do
		set_mode $mode $ends
		count_from $ends
		begin=$(cut -d' ' -f1 /proc/uptime)
		$program
		log "$mode $program: from $begin to $(cut -d' ' -f1 /proc/uptime)"
		check "$mode: $program went over it" went_over $((1 << 20))
	done
done
[ ! -s "$_work/nginx-error.log" ] || log "$(cat "$_work/nginx-error.log")"
unpair
smc_expect_clean "nothing is left over"
done_testing

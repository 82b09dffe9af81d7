# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The hostile peer of SMC-R (selftests/rdma), while two honest programs talk over the same wire.
# After rdma_wire (rdma.sh); with smc_run and rdma_peer in the path, and smc_synopt loaded.

# rdma_peer_strangers: on the wire, as the application sees it, are addresses that nobody has, from
# 10.9.0.128 on, and one of the attacker's that is not known yet, 10.9.0.3.
rdma_peer_strangers() {
	ip route add 10.9.0.128/25 dev smc1 src 10.9.0.2 && ip addr add 10.9.0.3/24 dev smc0 &&
		ip rule add pref 21 to 10.9.0.3 lookup 101 &&
		ip route add 10.9.0.3 dev smc1 src 10.9.0.2 table 101 || return 1
	until grep -qs 'ffff:0a09:0003$' /sys/class/infiniband/rxe0/ports/1/gids/*; do
		sleep 0.1
	done
}

# rdma_peer_beside_talk TALK.PY: runs rdma_peer; prints TAP, with one more test: all that the honest
# programs did meanwhile was good.
rdma_peer_beside_talk() {
	peer_talk=$1
	rdma_peer_strangers || { echo "Bail out! no strangers" && return 1; }
	peer_work=$(mktemp -dt rdma-peer.XXXXXX)
	# The next test in this guest finds the settings as they were
	grep -H '' /proc/sys/net/smc/* /proc/sys/net/ipv4/tcp_fin_timeout >"$peer_work/settings"
	echo 65536 >/proc/sys/net/smc/rmem	# there is memory for hundreds
	echo 2 >/proc/sys/net/smc/smcr_max_links_per_lgr	# what is said of a second one is tested
	echo 0 >/proc/sys/net/smc/smcr_path_retry_time	# what fails is tried again at once
	export RDMA_PEER_OTHER_ADDRESS=10.9.0.3	# rdma_peer_strangers has added it
	# For closed ones whose peer says nothing; an honest one on a busy machine needs some time
	echo $((3 * ${VM_SLOW:-1})) >/proc/sys/net/ipv4/tcp_fin_timeout
	smc_run "$peer_talk" serve "$SOCKET_TEST_HOST" 5999 2>"$peer_work/server" &
	peer_server=$!
	until ss -Hltn "sport = :5999" | grep -q LISTEN; do
		sleep 0.1
	done
	touch "$peer_work/go-on"
	peer_honest >"$peer_work/said" 2>&1 &
	peer_caller=$!

	# Four floods at once leave the honest link some time, and take no longer than eight
	# shellcheck disable=SC2086	# names of tests, all by default
	rdma_peer -s "${VM_SLOW:-1}" -j 4 ${RDMA_PEER_TESTS-} >"$peer_work/tap"
	peer_status=$?
	grep -v '^1\.\.' "$peer_work/tap"
	peer_points=$(sed -n 's/^1\.\.\([1-9][0-9]*\)$/\1/p' "$peer_work/tap")
	rm "$peer_work/go-on"
	wait $peer_caller
	kill $peer_server
	while IFS=: read -r peer_file peer_value; do
		echo "$peer_value" >"$peer_file"
	done <"$peer_work/settings"
	if [ -z "$peer_points" ] || [ $peer_status -gt 1 ]; then
		echo "Bail out! rdma_peer ended with status $peer_status, planned ${peer_points:-nothing}"
		return 1
	fi
	peer_verdict $((peer_points + 1))
}

# As long as the file is there, and once at least. With pauses: what others wait for is not its work.
peer_honest() {
	while
		timeout $((300 * ${VM_SLOW:-1})) smc_run "$peer_talk" call "$SOCKET_TEST_HOST" 5999 \
			round_trips half_close urgent short || echo "not ok, $?"
		[ -e "$peer_work/go-on" ]
	do
		sleep 1
	done
}

peer_verdict() {
	if ! grep -q '^not ok' "$peer_work/said" && grep -q '^ok' "$peer_work/said"; then
		echo "ok $1 - honest programs beside it"
	else
		echo "not ok $1 - honest programs beside it"
		sort "$peer_work/said" | uniq -c | sed 's/^/# /'
	fi
	echo "# $(grep -c '^ok' "$peer_work/said") honest conversations"
	echo "1..$1"
	rm -r "$peer_work"
}

// SPDX-License-Identifier: GPL-2.0-only
/* Sockets as JSON. smcss(8) lists the keys */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "attr.h"
#include "print.h"
#include "reason.h"

static void json_end_point(struct json *j, const struct sock *sk, bool peer)
{
	char addr[SOCK_ADDR_LEN];
	unsigned int port = sock_address(&sk->base.id, peer, addr);

	json_object(j, peer ? "peer" : "local");
	json_string(j, "address", addr);
	json_uint(j, "port", port);
	json_object_end(j);
}

static void json_reason(struct json *j, const char *key, uint32_t code)
{
	json_object(j, key);
	json_hex(j, "code", code, 8);
	json_string(j, "name", reason_name(code));
	json_string(j, "text", reason_text(code));
	json_object_end(j);
}

static void json_fallback(struct json *j, const struct sock *sk)
{
	json_object(j, "fallback");
	json_reason(j, "reason", sk->fallback.reason);
	if (sk->fallback.peer_diagnosis)
		json_reason(j, "peer_reason", sk->fallback.peer_diagnosis);
	json_object_end(j);
}

static void json_cursor(struct json *j, const char *key,
			const struct smc_diag_cursor *cursor)
{
	json_object(j, key);
	json_uint(j, "wrap", cursor->wrap);
	json_uint(j, "count", cursor->count);
	json_object_end(j);
}

static void json_conn(struct json *j, const struct sock *sk)
{
	const struct smc_diag_conninfo *conn = &sk->conn;

	json_object(j, "connection");
	json_hex(j, "token", conn->token, 8);
	json_uint(j, "send_buffer", conn->sndbuf_size);
	json_uint(j, "receive_buffer", conn->rmbe_size);
	if (sk->rcvbuf_max)
		json_uint(j, "receive_buffer_max", sk->rcvbuf_max);
	json_uint(j, "peer_buffer", conn->peer_rmbe_size);
	json_cursor(j, "rx_prod", &conn->rx_prod);
	json_cursor(j, "rx_cons", &conn->rx_cons);
	json_cursor(j, "tx_prod", &conn->tx_prod);
	json_cursor(j, "tx_cons", &conn->tx_cons);
	json_cursor(j, "tx_prep", &conn->tx_prep);
	json_cursor(j, "tx_sent", &conn->tx_sent);
	json_cursor(j, "tx_fin", &conn->tx_fin);
	json_hex(j, "rx_prod_flags", conn->rx_prod_flags, 2);
	json_hex(j, "rx_state_flags", conn->rx_conn_state_flags, 2);
	json_hex(j, "tx_prod_flags", conn->tx_prod_flags, 2);
	json_hex(j, "tx_state_flags", conn->tx_conn_state_flags, 2);
	json_object_end(j);
}

static void json_fixed_text(struct json *j, const char *key, const __u8 *text, size_t size)
{
	char copy[IB_DEVICE_NAME_MAX + 1];

	json_string(j, key, attr_text(text, size, copy, sizeof(copy)));
}

static void json_link(struct json *j, const struct smc_diag_lgrinfo *lgr)
{
	const struct smc_diag_linkinfo *link = &lgr->lnk[0];

	json_object(j, "link");
	json_string(j, "role", lgr->role ? "server" : "client");
	json_uint(j, "id", link->link_id);
	json_fixed_text(j, "device", link->ibname, sizeof(link->ibname));
	json_uint(j, "port", link->ibport);
	json_fixed_text(j, "gid", link->gid, sizeof(link->gid));
	json_fixed_text(j, "peer_gid", link->peer_gid, sizeof(link->peer_gid));
	json_object_end(j);
}

/* Hardware has 64-bit GIDs, emulated devices have 128-bit GIDs */
static void json_dmb_gid(struct json *j, const char *key, uint64_t gid, uint64_t ext)
{
	char text[40];
	int len = 0;

	if (ext)
		len = sprintf(text, "%016" PRIx64, ext);
	sprintf(text + len, "%016" PRIx64, gid);
	json_string(j, key, text);
}

static void json_dmb(struct json *j, const struct smc_tools_dmbinfo *dmb)
{
	json_object(j, "dmb");
	json_hex(j, "group", dmb->linkid, 8);
	json_dmb_gid(j, "gid", dmb->my_gid, dmb->my_gid_ext);
	json_dmb_gid(j, "peer_gid", dmb->peer_gid, dmb->peer_gid_ext);
	json_hex(j, "token", dmb->token, 16);
	json_hex(j, "peer_token", dmb->peer_token, 16);
	json_object_end(j);
}

static void json_open_sock(struct json *j, const struct sock *sk)
{
	static const char * const modes[] = {
		[SMC_DIAG_MODE_SMCR]		= "SMCR",
		[SMC_DIAG_MODE_FALLBACK_TCP]	= "TCP",
		[SMC_DIAG_MODE_SMCD]		= "SMCD",
	};
	uint8_t mode = sk->base.diag_mode;

	json_end_point(j, sk, true);
	json_string(j, "mode", mode > SMC_DIAG_MODE_SMCD ? "TCP" : modes[mode]);
	json_bool(j, "shutdown_receive", sk->shutdown & 1);
	json_bool(j, "shutdown_send", sk->shutdown & 2);
	if (mode == SMC_DIAG_MODE_FALLBACK_TCP && sk->has_fallback)
		json_fallback(j, sk);
	if (sk->has_conn)
		json_conn(j, sk);
	if (sk->has_link)
		json_link(j, &sk->link);
	if (sk->has_dmb)
		json_dmb(j, &sk->dmb);
}

static void json_netns(struct json *j, const struct netns *ns)
{
	json_object(j, "netns");
	json_uint(j, "inode", ns->inode);
	if (ns->name)
		json_string(j, "name", ns->name);
	json_object_end(j);
}

static void json_processes(struct json *j, const struct process_list *list,
			   const struct sock *sk)
{
	const struct process *process;
	size_t count, i;

	process = process_list_find(list, sk->base.diag_inode, &count);
	json_array(j, "processes");
	for (i = 0; i < count; i++) {
		json_object(j, NULL);
		json_string(j, "name", process[i].name);
		json_uint(j, "pid", process[i].pid);
		json_uint(j, "fd", process[i].fd);
		json_object_end(j);
	}
	json_array_end(j);
}

void print_sock_json(struct json *j, const struct owner *owner, const struct sock *sk)
{
	char number[8];

	json_object(j, NULL);
	json_string(j, "state", sock_state_name(sk->base.diag_state, number,
						sizeof(number)));
	json_uint(j, "uid", sk->base.diag_uid);
	json_uint(j, "inode", sk->base.diag_inode);
	json_uint(j, "interface", sk->base.id.idiag_if);
	if (sk->base.diag_state != STATE_INIT)
		json_end_point(j, sk, false);
	if (sock_is_open(sk))
		json_open_sock(j, sk);
	if (owner->netns)
		json_netns(j, owner->netns);
	if (owner->processes)
		json_processes(j, owner->processes, sk);
	json_object_end(j);
}

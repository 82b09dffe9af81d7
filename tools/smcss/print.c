// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of sockets. Scripts parse its words and columns, so the layout is part of the
 * interface; smcss(8) describes it.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "attr.h"
#include "print.h"
#include "reason.h"

#define ADDR_WIDTH	23

static void print_debug_header(void)
{
	printf("Shutd %-8s %-8s %-8s %-8s ", "Token", "Sndbuf", "Rcvbuf", "Peerbuf");
	printf("%-13s %-13s rxFlags ", "rxprod", "rxcons");
	printf("%-13s %-13s txFlags ", "txprod", "txcons");
	printf("%-13s %-13s %-13s ", "txprep", "txsent", "txfin");
}

void print_header(const struct view *view)
{
	printf("%-14s %-5s %-7s %-*s %-*s Intf Mode ", "State", "UID", "Inode",
	       ADDR_WIDTH, "Local Address", ADDR_WIDTH, "Peer Address");
	if (view->debug)
		print_debug_header();
	if (view->smcr)
		printf("Role %-15s Port Linkid %-40s Peer-GID", "IB-device", "GID");
	if (view->smcd)
		printf("%-16s %-16s %-16s %-16s Linkid", "GID", "Token",
		       "Peer-GID", "Peer-Token");
	if (view->netns)
		fputs(" Netns", stdout);
	if (view->processes)
		fputs(" Process", stdout);
	putchar('\n');
}

/* A long address is cut off, but the port always stays visible */
static void print_address(const struct view *view, const struct sock *sk, bool peer)
{
	char addr[SOCK_ADDR_LEN], port[8];
	int room;

	snprintf(port, sizeof(port), ":%u", sock_address(&sk->base.id, peer, addr));
	room = ADDR_WIDTH - strlen(port);
	if (!view->wide && (int)strlen(addr) > room)
		strcpy(addr + room - 2, "..");
	strcat(addr, port);
	printf("%-*s ", ADDR_WIDTH, addr);
}

static void print_reason(const struct view *view, const struct sock *sk)
{
	uint32_t reason = sk->fallback.reason;
	uint32_t diagnosis = sk->fallback.peer_diagnosis;

	if (!sk->has_fallback)
		return;
	printf("0x%08x", reason);
	if (diagnosis)
		printf("/0x%08x", diagnosis);
	if (!view->explain)
		return;
	printf(" %s", reason_text(reason));
	if (diagnosis)
		printf(": %s", reason_text(diagnosis));
}

static void print_cursor(const struct smc_diag_cursor *cursor)
{
	printf("%04x:%08x ", cursor->wrap, cursor->count);
}

static void print_conn(const struct sock *sk)
{
	const struct smc_diag_conninfo *conn = &sk->conn;

	printf(" %c-%c  ", sk->shutdown & 1 ? 'R' : '<', sk->shutdown & 2 ? 'W' : '>');
	if (!sk->has_conn)
		return;
	printf("%08x %08x %08x %08x ", conn->token, conn->sndbuf_size,
	       conn->rmbe_size, conn->peer_rmbe_size);
	print_cursor(&conn->rx_prod);
	print_cursor(&conn->rx_cons);
	printf("%02x:%02x   ", conn->rx_prod_flags, conn->rx_conn_state_flags);
	print_cursor(&conn->tx_prod);
	print_cursor(&conn->tx_cons);
	printf("%02x:%02x   ", conn->tx_prod_flags, conn->tx_conn_state_flags);
	print_cursor(&conn->tx_prep);
	print_cursor(&conn->tx_sent);
	print_cursor(&conn->tx_fin);
}

static void print_link(const struct sock *sk)
{
	const struct smc_diag_linkinfo *link = &sk->link.lnk[0];
	char device[sizeof(link->ibname) + 1];
	char gid[sizeof(link->gid) + 1], peer_gid[sizeof(link->peer_gid) + 1];

	if (!sk->has_link)
		return;
	/* fixed-size arrays, not necessarily NUL-terminated */
	attr_text(link->ibname, sizeof(link->ibname), device, sizeof(device));
	attr_text(link->gid, sizeof(link->gid), gid, sizeof(gid));
	attr_text(link->peer_gid, sizeof(link->peer_gid), peer_gid, sizeof(peer_gid));
	printf("%s %-15s %02x   %02x     %-40s %s", sk->link.role ? "SERV" : "CLNT",
	       device, link->ibport, link->link_id, gid, peer_gid);
}

static void print_dmb(const struct sock *sk)
{
	const struct smc_tools_dmbinfo *dmb = &sk->dmb;

	if (!sk->has_dmb)
		return;
	printf("%016llx %016llx %016llx %016llx %08x", dmb->my_gid, dmb->token,
	       dmb->peer_gid, dmb->peer_token, dmb->linkid);
}

static const char *mode_column(const struct sock *sk)
{
	switch (sk->base.diag_mode) {
	case SMC_DIAG_MODE_SMCR:
		return "SMCR ";
	case SMC_DIAG_MODE_SMCD:
		return "SMCD ";
	default:
		return "TCP ";
	}
}

/* Columns from the second address on, for sockets with a peer */
static void print_peer(const struct view *view, const struct sock *sk)
{
	print_address(view, sk, true);
	printf("%04x ", sk->base.id.idiag_if);
	if (sk->base.diag_state == STATE_CLOSED)
		return;
	fputs(mode_column(sk), stdout);
	if (sk->base.diag_mode == SMC_DIAG_MODE_FALLBACK_TCP) {
		print_reason(view, sk);
		return;
	}
	if (view->debug)
		print_conn(sk);
	if (view->smcr)
		print_link(sk);
	if (view->smcd)
		print_dmb(sk);
}

static void print_netns(const struct netns *ns)
{
	if (ns->name)
		printf(" netns:%s", ns->name);
	else
		printf(" netns:[%llu]", (unsigned long long)ns->inode);
}

/* Same format as ss(8); nothing if no process has the socket open */
static void print_processes(const struct process_list *list, const struct sock *sk)
{
	const struct process *process;
	size_t count, i;

	process = process_list_find(list, sk->base.diag_inode, &count);
	for (i = 0; i < count; i++)
		printf("%s(\"%s\",pid=%d,fd=%d)", i ? "," : " users:(", process[i].name,
		       process[i].pid, process[i].fd);
	if (count)
		putchar(')');
}

void print_sock(const struct view *view, const struct owner *owner, const struct sock *sk)
{
	char number[8];

	printf("%-14s %05u %07llu ",
	       sock_state_name(sk->base.diag_state, number, sizeof(number)),
	       sk->base.diag_uid, sk->base.diag_inode);
	if (sk->base.diag_state != STATE_INIT)
		print_address(view, sk, false);
	if (sock_is_open(sk))
		print_peer(view, sk);
	if (owner->netns)
		print_netns(owner->netns);
	if (owner->processes)
		print_processes(owner->processes, sk);
	putchar('\n');
}

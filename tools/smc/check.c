// SPDX-License-Identifier: GPL-2.0-only
/*
 * smc check: test the prerequisites of a connection step by step, then connect and examine the
 * result.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advice.h"
#include "attr.h"
#include "check.h"
#include "endpoint.h"
#include "genl.h"
#include "module.h"
#include "policy/pins.h"
#include "reason.h"
#include "report.h"
#include "smc_socket.h"
#include "sock.h"
#include "uapi.h"

enum status {
	USES_SMC	= 0,
	USES_TCP	= 1,
	UNKNOWN		= 2,
};

static int finish_report(struct report *report, enum status status, const char *mode,
			 const char *text)
{
	report_end(report, mode, text);
	return status;
}

static bool check_kernel(struct report *report)
{
	int fd = smc_socket(AF_INET);

	if (fd >= 0) {
		close(fd);
		report_finding(report, GOOD, "kernel", NULL, "SMC sockets are available");
		return true;
	}
	if (errno == EAFNOSUPPORT)
		report_finding(report, BAD, "kernel",
			       "Install the module smc for this kernel; \"modprobe smc\" says what it lacks.",
			       "no SMC in this kernel: module smc is missing or cannot be loaded");
	else
		report_finding(report, BAD, "kernel", "A policy may forbid SMC sockets.",
			       "cannot open an SMC socket: %s", strerror(errno));
	return false;
}

/* Returns: number of entries of one type, or -1 if the kernel does not answer */
static int count_entries(struct genl *g, int command, int type)
{
	const struct nlattr *tb[SMC_GEN_MAX + 1];
	struct netlink_list list;
	int number = 0;
	size_t i;

	if (genl_dump(g, command, &list))
		return -1;
	for (i = 0; i < list.count; i++)
		if (genl_parse(list.msg[i], tb, SMC_GEN_MAX) >= 0 && tb[type])
			number++;
	netlink_list_free(&list);
	return number;
}

static bool is_handshake_limited(struct genl *g)
{
	const struct nlattr *tb[SMC_NLA_HS_LIMITATION_MAX + 1];
	struct netlink_list list;
	bool enabled = false;
	size_t i;

	if (genl_dump(g, SMC_NETLINK_DUMP_HS_LIMITATION, &list))
		return false;
	for (i = 0; i < list.count; i++)
		if (genl_parse(list.msg[i], tb, SMC_NLA_HS_LIMITATION_MAX) >= 0)
			enabled = attr_uint(tb[SMC_NLA_HS_LIMITATION_ENABLED], 0);
	netlink_list_free(&list);
	return enabled;
}

/* The kernel's own module has other devices and limits */
static void check_module(struct report *report, struct situation *situation)
{
	int variants = module_variants();

	situation->variants = variants < 0 ? MODULE_VARIANTS_ALL : variants;
	situation->is_other_module = variants == -ENOENT;
	if (situation->is_other_module)
		report_finding(report, NOTE, "module", MODULE_ADVICE, MODULE_IS_OTHER);
}

/* Variants of SMC that the operator has disabled */
static void check_variants(struct report *report, const struct situation *situation)
{
	bool d = situation->variants & MODULE_VARIANTS_D;
	bool r = situation->variants & MODULE_VARIANTS_R;

	if (situation->variants == MODULE_VARIANTS_ALL)
		return;
	report_finding(report, NOTE, "setting", advise_variants(),
		       "net.smc.variants=%d: %s", situation->variants,
		       !d && !r ? "all of SMC is off" : !d ? "SMC-D is off" :
		       !r ? "SMC-R is off" : "some versions are off");
}

/* These findings are no obstacle by themselves: that depends on the peer */
static void check_configuration(struct report *report, const struct situation *situation)
{
	int ism, rdma;
	struct genl g;

	if (genl_open(&g, SMC_GENL_FAMILY_NAME)) {
		report_finding(report, NOTE, "devices", NULL,
			       "the kernel does not list devices");
		return;
	}
	ism = count_entries(&g, SMC_NETLINK_GET_DEV_SMCD, SMC_GEN_DEV_SMCD);
	rdma = count_entries(&g, SMC_NETLINK_GET_DEV_SMCR, SMC_GEN_DEV_SMCR);
	if (ism > 0 || rdma > 0)
		report_finding(report, GOOD, "devices", NULL, "%d for SMC-D, %d for SMC-R",
			       ism > 0 ? ism : 0, rdma > 0 ? rdma : 0);
	else
		report_finding(report, NOTE, "devices", advice(0x03030000, situation),
			       "neither SMC-D nor SMC-R has a device");
	if (is_handshake_limited(&g))
		report_finding(report, NOTE, "limit",
			       "\"smcd hslimit disable\" switches it off.",
			       "while many handshakes are pending, connections use TCP");
	genl_close(&g);
}

/* Only SMC sockets support options of this level */
static bool is_smc_socket(int fd)
{
	socklen_t len = sizeof(int);
	int value;

	return !getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len);
}

/*
 * "ip netns exec" hides the BPF file system. If the policy applies to this program, a TCP socket
 * that it creates is an SMC socket.
 */
static bool is_policy_on(void)
{
	bool is_on;
	int fd;

	if (pins_exist())
		return true;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	is_on = is_smc_socket(fd);
	close(fd);
	return is_on;
}

static void check_local(struct report *report, struct situation *situation)
{
	situation->is_policy_on = is_policy_on();
	check_module(report, situation);
	check_configuration(report, situation);
	check_variants(report, situation);
}

static bool check_tcp_connect(struct report *report, const struct endpoint *ep)
{
	int fd = endpoint_connect(ep, socket(ep->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));

	if (fd >= 0) {
		close(fd);
		report_finding(report, GOOD, "tcp", NULL, "%s port %s answers", ep->text,
			       ep->port);
		return true;
	}
	report_finding(report, BAD, "tcp", "Without a TCP connection, SMC cannot work.",
		       "%s port %s: %s", ep->text, ep->port, strerror(-fd));
	return false;
}

/* Read the kernel's data of this program's socket @fd */
static bool find_socket(int fd, struct sock *sk)
{
	struct netlink_list list = { 0 };
	struct sock_filter filter = { };
	bool found = false;
	struct netlink nl;
	struct stat st;
	size_t i;

	if (fstat(fd, &st) || netlink_open(&nl, NETLINK_SOCK_DIAG))
		return false;
	filter.inode = st.st_ino;
	if (!sock_dump(&nl, 0, &filter, &list))
		for (i = 0; i < list.count && !found; i++)
			found = sock_decode(list.msg[i], sk) &&
				sk->base.diag_inode == st.st_ino;
	netlink_list_free(&list);
	netlink_close(&nl);
	return found;
}

/* The option has less information than sock_diag, but needs only the module smc */
static int judge_by_option(struct report *report, int fd)
{
	static const char load_diag[] = "\"modprobe smc_diag\" makes this visible.";

	if (is_smc_socket(fd)) {
		report_finding(report, GOOD, "smc", load_diag,
			       "the connection uses SMC; the kernel does not show which kind");
		return finish_report(report, USES_SMC, "SMC", "A connection to there uses SMC.");
	}
	report_finding(report, BAD, "smc", load_diag,
		       "the connection uses TCP; the kernel does not show why");
	return finish_report(report, USES_TCP, "TCP", "A connection to there uses TCP.");
}

static void explain_fallback(struct report *report, struct situation *situation,
			     const struct sock *sk)
{
	uint32_t reason = sk->fallback.reason;
	uint32_t peer = sk->fallback.peer_diagnosis;

	situation->peer_declined = peer;
	if (!sk->has_fallback)
		report_finding(report, BAD, "smc", NULL, "the connection uses TCP");
	else if (peer)
		report_finding(report, BAD, "smc", advice(peer, situation),
			       "the connection uses TCP: the peer declined, 0x%08x %s",
			       peer, reason_text(peer));
	else
		report_finding(report, BAD, "smc", advice(reason, situation),
			       "the connection uses TCP: 0x%08x %s", reason,
			       reason_text(reason));
}

static int judge_connection(struct report *report, struct situation *situation, int fd)
{
	struct sock sk;

	if (!find_socket(fd, &sk))
		return judge_by_option(report, fd);
	switch (sk.base.diag_mode) {
	case SMC_DIAG_MODE_SMCD:
		report_finding(report, GOOD, "smc", NULL, "the connection uses SMC-D");
		return finish_report(report, USES_SMC, "SMCD", "A connection to there uses SMC-D.");
	case SMC_DIAG_MODE_SMCR:
		report_finding(report, GOOD, "smc", NULL, "the connection uses SMC-R");
		return finish_report(report, USES_SMC, "SMCR", "A connection to there uses SMC-R.");
	default:
		explain_fallback(report, situation, &sk);
		return finish_report(report, USES_TCP, "TCP", "A connection to there uses TCP.");
	}
}

static int check_smc(struct report *report, struct situation *situation,
		     const struct endpoint *ep)
{
	int fd, status;

	fd = endpoint_connect(ep, smc_socket(ep->addr.ss_family));
	if (fd < 0) {
		report_finding(report, BAD, "smc", "The kernel log may say more.",
			       "TCP works, but an SMC socket cannot connect: %s",
			       strerror(-fd));
		return finish_report(report, UNKNOWN, NULL, "There is no connection to there.");
	}
	status = judge_connection(report, situation, fd);
	close(fd);
	return status;
}

int check(char *target, int family, bool json)
{
	struct situation situation = { .variants = MODULE_VARIANTS_ALL };
	struct report report;
	const char *problem;
	struct endpoint ep;
	bool smc;

	if (!endpoint_parse(&ep, target)) {
		fputs("smc: the host must be HOST, HOST:PORT or [ADDRESS]:PORT\n", stderr);
		return UNKNOWN;
	}
	report_begin(&report, json);
	smc = check_kernel(&report);
	if (smc)
		check_local(&report, &situation);
	problem = endpoint_resolve(&ep, family);
	if (problem) {
		report_finding(&report, BAD, "address", NULL, "%s: %s", ep.host, problem);
		return finish_report(&report, UNKNOWN, NULL, "There is no such host or port.");
	}
	situation.is_local = endpoint_is_local(&ep);
	report_finding(&report, GOOD, "address", NULL, "%s is %s%s", ep.host, ep.text,
		       situation.is_local ? ", this host" : "");
	if (!ep.port)
		return finish_report(&report, smc ? UNKNOWN : USES_TCP, smc ? NULL : "TCP",
				     "Name a port with a listening server to learn more.");
	if (!check_tcp_connect(&report, &ep))
		return finish_report(&report, UNKNOWN, NULL, "There is no connection to there.");
	if (!smc)
		return finish_report(&report, USES_TCP, "TCP", "A connection to there uses TCP.");
	return check_smc(&report, &situation, &ep);
}

// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "advice.h"
#include "module.h"

#define TCP_OPTION "A firewall on the path may remove the TCP option of SMC."
#define OPEN_BEFORE "sockets that were open before \"smc on\" stay TCP. \"smc status\" shows " \
	"for which programs it is on."
#define RESTART "Restart the server: " OPEN_BEFORE
#define RESTART_IF_LOCAL "If the server is on this host, for instance in a container, restart " \
	"it: " OPEN_BEFORE " On another host, start it with smc_run or restart it after " \
	"\"smc on\", and check that the module smc is loaded there. " TCP_OPTION
#define START "Start the server with smc_run, or restart it after \"smc on\"."
#define START_THERE "Start the program there with smc_run, or restart it after \"smc on\" " \
	"there, and check that the module smc is loaded there. " TCP_OPTION
#define OTHER_MODULE "Install and load the module of this tool, with which processes on one " \
	"kernel need no device; " MODULE_ADVICE "."
#define DEVICES "Between processes on one kernel no device is needed. Between hosts, both need " \
	"an RDMA device in the same network; see \"smcr device\" and smc_pnet(8)."
#define VARIANTS "net.smc.variants of this network namespace excludes variants of SMC: " \
	"\"sysctl -w net.smc.variants=15\" allows all."
#define VARIANTS_THERE "net.smc.variants of the server's network namespace may exclude " \
	"variants of SMC: see \"sysctl net.smc.variants\" there. "
#define EIDS "Both hosts need a user EID in common: \"smcr ueid add NAME\" on both."
#define RDMA "Check the RDMA network: \"smcr device\", \"rdma link\", and the kernel log."
#define PATH "RDMA packets do not reach the peer: check firewalls (UDP port 4791), the MTU " \
	"and the switches. The path is tried again after net.smc.smcr_path_retry_time."
#define OPTION "The program uses what SMC does not support: TCP Fast Open, TCP-MD5, TCP-AO, " \
	"hardware time stamps; or a BPF program has added the connection to a sockmap."
#define LIMITS "net.smc.buffer_limit of its network namespace, or buffer_limit_mb of the " \
	"module smc. \"smcd -d stats\" there shows both: raise the limit that is reached, or " \
	"close some connections."
#define MEMORY "Free memory; raise memory.max of the memory cgroup, of which buffers may use " \
	"a part; or use smaller buffers: net.smc.rmem."
#define SYN "The SYN that has TCP option 254 was lost or came late. If this happens " \
	"often, a firewall on the way drops such SYNs: let them pass. The option is tried again " \
	"after net.smc.syn_retry_time."
#define SYN_ACK "The client ended at once, or does not know that the server has SMC. If a " \
	"firewall on the way removes TCP option 254 from SYN-ACKs, let it pass."
#define LATER "This may be temporary; try again."

static const char *advise_program(const struct situation *situation)
{
	if (situation->is_policy_on)
		return situation->is_local ? RESTART : RESTART_IF_LOCAL;
	return situation->is_local ? START : START_THERE;
}

const char *advise_variants(void)
{
	return VARIANTS;
}

static const char *advise_devices(const struct situation *situation)
{
	if (situation->is_other_module)
		return OTHER_MODULE;
	if (situation->variants != MODULE_VARIANTS_ALL)
		return advise_variants();
	return situation->peer_declined ? VARIANTS_THERE DEVICES : DEVICES;
}

static const char *advise_modes(const struct situation *situation)
{
	if (situation->variants != MODULE_VARIANTS_ALL)
		return advise_variants();
	return "One end supports only SMC-D, the other only SMC-R. " VARIANTS_THERE DEVICES;
}

static const char *advise_buffers(const struct situation *situation)
{
	return situation->peer_declined ? "The limit is the server's: " LIMITS :
					  "The limit is that of this end: " LIMITS;
}

static const struct {
	uint32_t	reason;
	const char	*text;
} table[] = {
	{ 0x01010000, MEMORY },
	{ 0x02010000, RDMA },
	{ 0x02020000, RDMA },
	{ 0x03000000, "Check the kernel log, and \"smc_pnet\" on both ends." },
	{ 0x03020000, "Data protected by IPsec cannot move through shared memory." },
	{ 0x03030004, EIDS },
	{ 0x03030005, EIDS },
	{ 0x03030006, EIDS },
	{ 0x03030008, EIDS },
	{ 0x03060000, OPTION },
	{ 0x03070000, "SMC-R version 1 works within one subnet only. For version 2: " EIDS },
	{ 0x03080000, "Check the VLAN configuration of the interface." },
	{ 0x03090000, "Check the VLAN configuration of the interface." },
	{ 0x030a0000, RDMA },
	{ 0x030b0000, RDMA },
	{ 0x030c0000, EIDS },
	{ 0x030d0000, "Close some connections, or wait until others are closed." },
	{ 0x030e0000, "The RDMA device needs a route to the peer; check \"ip route\"." },
	{ 0x030f0000, "Check the routes between the RDMA devices of both ends." },
	{ 0x03100007, LATER },
	{ 0x03100008, "Raise net.smc.max_link_groups or max_link_groups_per_peer, or wait." },
	{ 0x03100009, PATH },
	{ 0x0310000a, SYN },
	{ 0x0310000b, SYN_ACK },
	{ 0x04000000, LATER },
	{ 0x09990000, LATER },
	{ 0x09990001, RDMA },
	{ 0x09990002, RDMA },
	{ 0x09990003, RDMA },
};

const char *advice(uint32_t reason, const struct situation *situation)
{
	size_t i;

	switch (reason) {
	case 0x03010000:
		return advise_program(situation);
	case 0x03030000:
	case 0x03030001:
	case 0x03030002:
	case 0x03030007:
		return advise_devices(situation);
	case 0x03040000:
		return advise_modes(situation);
	case 0x03100006:
		return advise_buffers(situation);
	}
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].reason == reason)
			return table[i].text;
	return NULL;
}

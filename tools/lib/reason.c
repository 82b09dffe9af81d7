// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fallback reasons. smcss(8) prints the texts, "stats" prints the names. The block 0x0310 is
 * specific to this tree's module; peers may use any other number.
 */
#include <stddef.h>

#include "reason.h"

static const struct {
	uint32_t	code;
	const char	*name;
	const char	*text;
} reasons[] = {
	{ 0x01010000, "MEMORY",     "out of memory" },
	{ 0x02010000, "TIMEOUT_CL", "timeout waiting for confirm link over the RDMA device" },
	{ 0x02020000, "TIMEOUT_AL", "timeout waiting for an RDMA device to be added" },
	{ 0x03000000, "CNF_ERR",    "configuration error" },
	{ 0x03010000, "PEER_NO_SMC", "peer does not support SMC" },
	{ 0x03020000, "IPSEC",      "connection uses IPsec" },
	{ 0x03030000, "NOSMCDEV",   "no SMC devices found (R and D)" },
	{ 0x03030001, "NOSMCDDEV",  "no ISM device for SMC-D" },
	{ 0x03030002, "NOSMCRDEV",  "no RDMA device for SMC-R" },
	{ 0x03030003, "NOISM2SUPP", "hardware has no ISMv2" },
	{ 0x03030004, "NOV2EXT",    "peer sent no SMCv2 extension" },
	{ 0x03030005, "NOV2DEXT",   "peer sent no SMC-Dv2 extension" },
	{ 0x03030006, "NOSEID",     "peer sent no SEID" },
	{ 0x03030007, "NOSMCD2DEV", "no SMC-Dv2 device, but required" },
	{ 0x03030008, "NOUEID",     "peer sent no UEID" },
	{ 0x03030009, "RELEASE",    "SMC release not supported" },
	{ 0x0303000a, "MAX_CONNS",  "connections per link group not acceptable" },
	{ 0x0303000b, "MAX_LINKS",  "links per link group not acceptable" },
	{ 0x03040000, "MODEUNSUPP", "SMC modes differ (R or D)" },
	{ 0x03050000, "RMBE_EC",    "peer has eyecatcher in RMBE" },
	{ 0x03060000, "OPTUNSUPP",  "socket option not supported" },
	{ 0x03070000, "DIFFPREFIX", "IP prefix / subnet mismatch" },
	{ 0x03080000, "GETVLANERR", "VLAN id of the IP device not found" },
	{ 0x03090000, "ISMVLANERR", "VLAN id not registered on the ISM device" },
	{ 0x030a0000, "NOACTLINK",  "no active SMC-R link in the group" },
	{ 0x030b0000, "NOSRVLINK",  "SMC-R link from the server not found" },
	{ 0x030c0000, "VERSMISMAT", "SMC version mismatch" },
	{ 0x030d0000, "MAX_DMB",    "SMC-D connection limit reached" },
	{ 0x030e0000, "NOROUTE",    "SMC-Rv2: no route to peer" },
	{ 0x030f0000, "INDIRECT",   "SMC-Rv2: direct/indirect differs from peer" },
	{ 0x03100000, "MALFORMED",  "malformed CLC message" },
	{ 0x03100001, "RESERVED",   "reserved buffer size or MTU code" },
	{ 0x03100002, "UNPAIRED",   "extended GID is incomplete" },
	{ 0x03100003, "NOTOFFERED", "peer chose what was not offered" },
	{ 0x03100004, "CONFDIFF",   "CLC Confirm contradicts Accept" },
	{ 0x03100005, "ADDRFAMILY", "IP version of the RDMA address differs" },
	{ 0x03100006, "BUFLIMIT",   "limit of buffer memory reached" },
	{ 0x03100007, "MAX_HS",     "too many handshakes at once" },
	{ 0x03100008, "MAX_LGR",    "too many link groups" },
	{ 0x03100009, "NO_PATH",    "RDMA path to the peer does not work" },
	{ 0x0310000a, "NO_ANSWER",  "no answer to a SYN with the SMC option" },
	{ 0x0310000b, "NO_PROPOSAL", "peer sent the SMC option, but no Proposal" },
	{ 0x04000000, "SYNCERR",    "synchronisation error" },
	{ 0x05000000, "PEERDECL",   "peer declined during the handshake" },
	{ 0x09990000, "INTERNAL",   "internal error" },
	{ 0x09990001, "RTOKEN",     "rtoken handling failed" },
	{ 0x09990002, "LINK",       "RDMA link failed" },
	{ 0x09990003, "REGBUF",     "RMB registration failed" },
};

static int find_reason(uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return i;
	return -1;
}

const char *reason_text(uint32_t code)
{
	int i = find_reason(code);

	return i < 0 ? "unknown reason" : reasons[i].text;
}

const char *reason_name(uint32_t code)
{
	int i = find_reason(code);

	return i < 0 ? "[unknown]" : reasons[i].name;
}

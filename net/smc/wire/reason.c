// SPDX-License-Identifier: GPL-2.0-only
/* The table of decline and termination codes */
#include <linux/errno.h>
#include <linux/types.h>

#include "reason.h"

/* The names are those that the monitoring tools print, if they have one */
const struct smc_reason_info smc_reason_table[SMC_REASON_COUNT] = {
	/* LLC DELETE LINK */
	{ SMC_LINK_LOST_PATH, "LOST_PATH", "path or device lost", -ENETDOWN, true },
	{ SMC_LINK_OPERATOR, "OPERATOR", "terminated by an operator", -ECONNABORTED, true },
	{ SMC_LINK_INACTIVE, "INACTIVE", "link not used", -ECONNABORTED, true },
	{ SMC_LINK_PROTOCOL, "PROTOCOL", "LLC protocol violated", -EPROTO, false },
	{ SMC_LINK_ASYMMETRIC, "ASYMMETRIC", "asymmetric link no longer needed",
	  -ECONNABORTED, true },
	{ SMC_LINK_UNKNOWN, "UNKNOWN_LINK", "no such link", -ENOLINK, false },

	/* Resources and timeouts */
	{ SMC_REASON_NO_MEMORY, "MEMORY", "out of memory", -ENOMEM, true },
	{ SMC_REASON_TIMEOUT_CONFIRM_LINK, "TIMEOUT_CL", "timeout waiting for CONFIRM LINK",
	  -ETIMEDOUT, true },
	{ SMC_REASON_TIMEOUT_ADD_LINK, "TIMEOUT_AL", "timeout waiting for ADD LINK",
	  -ETIMEDOUT, true },

	/* Configuration and offers */
	{ SMC_REASON_CONFIGURATION, "CNF_ERR", "configuration error", -EINVAL, false },
	{ SMC_REASON_PEER_NO_SMC, "PEER_NO_SMC", "peer does not support SMC",
	  -EOPNOTSUPP, false },
	{ SMC_REASON_IPSEC, "IPSEC", "connection uses IPsec", -EOPNOTSUPP, false },
	{ SMC_REASON_NO_DEVICE, "NOSMCDEV", "no SMC device found", -ENODEV, false },
	{ SMC_REASON_NO_ISM_DEVICE, "NOSMCDDEV", "no ISM device for SMC-D", -ENODEV, false },
	{ SMC_REASON_NO_RDMA_DEVICE, "NOSMCRDEV", "no RDMA device for SMC-R", -ENODEV, false },
	{ SMC_REASON_NO_ISM_V2, "NOISM2SUPP", "ISM device has no version 2", -ENODEV, false },
	{ SMC_REASON_NO_V2_EXT, "NOV2EXT", "peer sent no SMC version 2 extension",
	  -EPROTONOSUPPORT, false },
	{ SMC_REASON_NO_SMCD_V2_EXT, "NOV2DEXT", "peer sent no SMC-D version 2 extension",
	  -EPROTONOSUPPORT, false },
	{ SMC_REASON_NO_SEID, "NOSEID", "no common system EID", -EPROTONOSUPPORT, false },
	{ SMC_REASON_NO_ISM_V2_DEVICE, "NOSMCD2DEV", "no ISM device in common for SMC-D version 2",
	  -ENODEV, false },
	{ SMC_REASON_NO_UEID, "NOUEID", "no common user EID", -EPROTONOSUPPORT, false },
	{ SMC_REASON_RELEASE, "RELEASE", "release not supported", -EPROTONOSUPPORT, false },
	{ SMC_REASON_MAX_CONNS, "MAX_CONNS", "connections per link group not acceptable",
	  -EPROTONOSUPPORT, false },
	{ SMC_REASON_MAX_LINKS, "MAX_LINKS", "links per link group not acceptable",
	  -EPROTONOSUPPORT, false },
	{ SMC_REASON_MODE, "MODEUNSUPP", "SMC-R or SMC-D not supported by both",
	  -EPROTONOSUPPORT, false },
	{ SMC_REASON_EYE_CATCHER, "RMBE_EC", "peer uses eye catchers in RMB elements",
	  -EPROTONOSUPPORT, false },
	{ SMC_REASON_OPTION, "OPTUNSUPP", "socket option not supported with SMC",
	  -EOPNOTSUPP, false },
	{ SMC_REASON_PREFIX, "DIFFPREFIX", "IP subnets differ", -ENETUNREACH, false },
	{ SMC_REASON_VLAN_LOOKUP, "GETVLANERR", "VLAN id of the IP device not found",
	  -ENODEV, false },
	{ SMC_REASON_VLAN_ISM, "ISMVLANERR", "VLAN id not registered on the ISM device",
	  -ENODEV, false },
	{ SMC_REASON_NO_ACTIVE_LINK, "NOACTLINK", "no active link in the link group",
	  -ENOLINK, true },
	{ SMC_REASON_NO_SERVER_LINK, "NOSRVLINK", "link chosen by the server not found",
	  -ENOLINK, true },
	{ SMC_REASON_VERSION, "VERSMISMAT", "SMC versions differ", -EPROTONOSUPPORT, false },
	{ SMC_REASON_TOO_MANY_DMBS, "MAX_DMB", "too many DMBs", -ENOSPC, true },
	{ SMC_REASON_NO_ROUTE, "NOROUTE", "no route to the peer's RDMA address",
	  -EHOSTUNREACH, false },
	{ SMC_REASON_INDIRECT, "INDIRECT", "direct and indirect link differ from peer",
	  -EHOSTUNREACH, false },

	/* Specific to this implementation */
	{ SMC_REASON_MALFORMED, "MALFORMED", "malformed CLC message", -EPROTO, false },
	{ SMC_REASON_RESERVED_VALUE, "RESERVED", "reserved buffer size or MTU code",
	  -EPROTO, false },
	{ SMC_REASON_CHID_UNPAIRED, "UNPAIRED", "extended GID is incomplete", -EPROTO, false },
	{ SMC_REASON_NOT_OFFERED, "NOTOFFERED", "peer chose what was not offered",
	  -EPROTO, false },
	{ SMC_REASON_CONFIRM_DIFFERS, "CONFDIFF", "Confirm contradicts Accept", -EPROTO, false },
	{ SMC_REASON_ADDRESS_FAMILY, "ADDRFAMILY", "IP version of the RDMA address differs",
	  -EAFNOSUPPORT, false },
	{ SMC_REASON_BUFFER_LIMIT, "BUFLIMIT", "limit of buffer memory reached", -ENOBUFS, true },
	{ SMC_REASON_TOO_MANY_HANDSHAKES, "MAX_HS", "too many handshakes at once",
	  -EAGAIN, true },
	{ SMC_REASON_TOO_MANY_GROUPS, "MAX_LGR", "too many link groups", -EUSERS, true },
	{ SMC_REASON_NO_PATH, "NO_PATH", "RDMA path to the peer does not work", -EHOSTDOWN, true },
	{ SMC_REASON_NO_ANSWER, "NO_ANSWER", "no answer to a SYN with the SMC option",
	  -ETIMEDOUT, true },
	{ SMC_REASON_NO_PROPOSAL, "NO_PROPOSAL", "peer sent the SMC option, but no Proposal",
	  -EPROTO, true },

	/* During the handshake */
	{ SMC_REASON_OUT_OF_SYNC, "SYNCERR", "link group out of sync", -ECONNABORTED, true },
	{ SMC_REASON_PEER_DECLINED, "PEERDECL", "peer declined during the handshake",
	  -EOPNOTSUPP, true },
	{ SMC_REASON_INTERNAL, "INTERNAL", "internal error", -EIO, true },
	{ SMC_REASON_LINK_RTOKEN, "RTOKEN", "handling of memory keys failed", -EIO, true },
	{ SMC_REASON_LINK_NOT_READY, "LINK", "RDMA link not ready", -ENOLINK, true },
	{ SMC_REASON_LINK_BUFFER, "REGBUF", "buffer registration failed", -ENOMEM, true },
};

/* Binary search. Return: the row, or NULL */
const struct smc_reason_info *smc_reason_find(u32 code)
{
	unsigned int low = 0, high = SMC_REASON_COUNT;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (smc_reason_table[middle].code == code)
			return &smc_reason_table[middle];
		if (smc_reason_table[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Short name, "UNKNOWN" for codes of other systems, never NULL */
const char *smc_reason_name(u32 code)
{
	const struct smc_reason_info *info = smc_reason_find(code);

	return info ? info->name : "UNKNOWN";
}

/* Description in one line, never NULL */
const char *smc_reason_text(u32 code)
{
	const struct smc_reason_info *info = smc_reason_find(code);

	return info ? info->text : "unknown code";
}

/**
 * smc_reason_from_errno() - convert the error of a local operation to a reason
 * @error: negative errno
 *
 * For errors whose origin has not set a more exact reason.
 *
 * Return: an enum smc_reason.
 */
u32 smc_reason_from_errno(int error)
{
	switch (error) {
	case -ENOMEM:
		return SMC_REASON_NO_MEMORY;
	case -ENOBUFS:
		return SMC_REASON_BUFFER_LIMIT;
	case -ENOSPC:
		return SMC_REASON_TOO_MANY_DMBS;
	case -EPROTO:
	case -EBADMSG:
		return SMC_REASON_MALFORMED;
	case -ENODEV:
		return SMC_REASON_NO_DEVICE;
	case -ENOENT:
		return SMC_REASON_LINK_RTOKEN;
	case -ENOLINK:
		return SMC_REASON_NO_ACTIVE_LINK;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return SMC_REASON_NO_ROUTE;
	case -EOPNOTSUPP:
		return SMC_REASON_OPTION;
	case -EAGAIN:
		return SMC_REASON_TOO_MANY_HANDSHAKES;
	case -EUSERS:
		return SMC_REASON_TOO_MANY_GROUPS;
	case -EHOSTDOWN:
		return SMC_REASON_NO_PATH;
	default:
		return SMC_REASON_INTERNAL;
	}
}

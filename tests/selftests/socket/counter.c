// SPDX-License-Identifier: GPL-2.0-only
/* Counters of the module, by generic netlink, and what sock_diag tells of a socket */

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <string.h>

#include "counter.h"
#include "pair.h"

#define FAMILY			"SMC_GEN_NETLINK"
#define CMD_GET_STATS		7
#define ATTR_STATS		7	/* nest */
#define ATTR_VIOLATIONS		128	/* u64 in a nest for one technology, in that */
#define ATTR_BUFFER_USED	128	/* unsigned integer in that */
#define ATTR_SHARE_USED		134	/* the same */
#define ATTR_LLC_STRAYS		139	/* the same */

struct request {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	char attrs[64];
};

static int ask(int fd, uint16_t type, uint8_t cmd, uint16_t flags, const char *family, void *answer,
	       size_t size)
{
	struct request req = {
		.nlh = { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN), .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST | flags },
		.genl = { .cmd = cmd, .version = 1 },
	};
	struct nlattr *name = (void *)req.attrs;

	if (family) {
		name->nla_type = CTRL_ATTR_FAMILY_NAME;
		name->nla_len = NLA_HDRLEN + strlen(family) + 1;
		strcpy(req.attrs + NLA_HDRLEN, family);
		req.nlh.nlmsg_len += NLA_ALIGN(name->nla_len);
	}
	EQ(send(fd, &req, req.nlh.nlmsg_len, 0), req.nlh.nlmsg_len);
	return OK(recv(fd, answer, size, 0));
}

/* The attribute of this type among those in a buffer */
static struct nlattr *find(void *start, int len, uint16_t type)
{
	char *at = start;

	while (len >= NLA_HDRLEN) {
		struct nlattr *attr = (void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (attr->nla_len < NLA_HDRLEN)
			break;
		at += NLA_ALIGN(attr->nla_len);
		len -= NLA_ALIGN(attr->nla_len);
	}
	FAIL("no attribute %d in the answer", type);
}

static struct nlattr *in_message(void *answer, uint16_t type)
{
	struct nlmsghdr *nlh = answer;

	return find((char *)NLMSG_DATA(nlh) + GENL_HDRLEN,
		    nlh->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

static struct nlattr *in_nest(struct nlattr *nest, uint16_t type)
{
	return find((char *)nest + NLA_HDRLEN, nest->nla_len - NLA_HDRLEN, type);
}

static void *value(struct nlattr *attr)
{
	return (char *)attr + NLA_HDRLEN;
}

/* The nest with all statistics of this namespace; valid until the next call */
static struct nlattr *get_stats(void)
{
	static char answer[16384];
	int fd = OK(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
	uint16_t family;

	ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, FAMILY, answer, sizeof(answer));
	memcpy(&family, value(in_message(answer, CTRL_ATTR_FAMILY_ID)), sizeof(family));
	ask(fd, family, CMD_GET_STATS, NLM_F_DUMP, NULL, answer, sizeof(answer));
	close(fd);
	return in_message(answer, ATTR_STATS);
}

uint64_t counter_of(enum counters technology, uint16_t attribute)
{
	uint64_t count;

	memcpy(&count, value(in_nest(in_nest(get_stats(), technology), attribute)), sizeof(count));
	return count;
}

/* An unsigned integer of as many bytes as it needs */
static uint64_t number_of(uint16_t attribute)
{
	struct nlattr *attr = in_nest(get_stats(), attribute);
	uint64_t bytes = 0;

	/* A little-endian number of four or eight bytes */
	memcpy(&bytes, value(attr), attr->nla_len - NLA_HDRLEN);
	return bytes;
}

uint64_t buffer_bytes(void)
{
	return number_of(ATTR_BUFFER_USED);
}

uint64_t namespace_bytes(void)
{
	return number_of(ATTR_SHARE_USED);
}

uint64_t stray_replies(void)
{
	return number_of(ATTR_LLC_STRAYS);
}

uint64_t violations(void)
{
	return counter_of(COUNTERS_D, ATTR_VIOLATIONS);
}

static struct smc_diag_fallback get_fallback(int fd)
{
	struct {
		struct nlmsghdr nlh;
		struct smc_diag_req req;
	} query = {
		.nlh = { .nlmsg_len = sizeof(query), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .diag_family = AF_SMC, .id = { .idiag_sport = name_of(fd).in.sin_port } },
	};
	int diag = OK(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
	const int start = NLMSG_LENGTH(sizeof(struct smc_diag_msg));
	struct smc_diag_fallback fallback = {};
	char answer[4096];
	struct nlmsghdr *nlh = (void *)answer;

	EQ(send(diag, &query, sizeof(query), 0), sizeof(query));
	OK(recv(diag, answer, sizeof(answer), 0));
	close(diag);
	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return fallback;
	memcpy(&fallback, value(find(answer + start, nlh->nlmsg_len - start, SMC_DIAG_FALLBACK)),
	       sizeof(fallback));
	return fallback;
}

uint32_t fallback_reason(int fd)
{
	return get_fallback(fd).reason;
}

uint32_t peer_diagnosis(int fd)
{
	return get_fallback(fd).peer_diagnosis;
}

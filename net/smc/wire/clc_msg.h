/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between clc.c, which handles header and trailer, and the files for each message type. A
 * reader starts after the header and ends before the trailer; a writer starts after the space for
 * the header.
 */
#ifndef _NET_SMC_WIRE_CLC_MSG_H
#define _NET_SMC_WIRE_CLC_MSG_H

#include "bits.h"
#include "clc.h"

#define SMC_CLC_TRAILER_LEN	4

int smc_clc_parse_proposal(struct smc_reader *r, const struct smc_clc_header *header,
			   struct smc_clc_proposal *out);
int smc_clc_build_proposal(const struct smc_clc_proposal *in, struct smc_writer *w,
			   struct smc_clc_header *header);
int smc_clc_parse_accept(struct smc_reader *r, const struct smc_clc_header *header,
			 struct smc_clc_accept *out);
int smc_clc_build_accept(const struct smc_clc_accept *in, struct smc_writer *w,
			 struct smc_clc_header *header);

/* Read the IP address of an RDMA port, version 2 */
static inline void smc_get_ip_gid(struct smc_reader *r, struct smc_gid *out)
{
	smc_get_bytes(r, out->bytes, sizeof(out->bytes));
	smc_gid_map_ipv4(out);
}

#endif /* _NET_SMC_WIRE_CLC_MSG_H */

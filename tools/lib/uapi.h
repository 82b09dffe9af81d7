/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user ABI of AF_SMC, with the parts that headers of older distributions lack.
 *
 * #ifdef cannot test for enumerators. The macros below have the name and the value of the
 * enumerators in newer headers, so that both may be present. Which attributes a kernel sends is
 * known only at run time.
 */
#ifndef SMC_TOOLS_UAPI_H
#define SMC_TOOLS_UAPI_H

#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/types.h>

#ifndef AF_SMC
#define AF_SMC				43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC			256
#endif

/* Protocols of the family AF_SMC, in no header */
#define SMCPROTO_SMC			0	/* IPv4 addresses */
#define SMCPROTO_SMC6			1	/* IPv6 addresses */

#define SMC_MAX_PNETID_LEN		16

/* SMC_GEN_LGR_SMCR, not in Linux 6.1 */
#define SMC_NLA_LGR_R_SNDBUF_ALLOC	12	/* uint */
#define SMC_NLA_LGR_R_RMB_ALLOC		13	/* uint */

/* SMC_NLA_LGR_R_V2, not in Linux 6.1 */
#define SMC_NLA_LGR_R_V2_MAX_CONNS	2	/* u8 */
#define SMC_NLA_LGR_R_V2_MAX_LINKS	3	/* u8 */

/* SMC_GEN_LGR_SMCD, not in Linux 6.1 */
#define SMC_NLA_LGR_D_EXT_GID		10	/* u64 */
#define SMC_NLA_LGR_D_PEER_EXT_GID	11	/* u64 */
#define SMC_NLA_LGR_D_SNDBUF_ALLOC	12	/* uint */
#define SMC_NLA_LGR_D_DMB_ALLOC		13	/* uint */

/* SMC_NLA_STATS_*_TECH, not in Linux 6.1 */
#define SMC_NLA_STATS_T_RX_RMB_USAGE	20	/* uint */
#define SMC_NLA_STATS_T_TX_RMB_USAGE	21	/* uint */

/* In SMC_NLA_STATS_*_TECH, specific to this tree's module */
#define SMC_NLA_STATS_T_VIOLATION_CNT	128	/* u64 */
#define SMC_NLA_STATS_T_ABORT_TX_CNT	129	/* u64 */
#define SMC_NLA_STATS_T_ABORT_RX_CNT	130	/* u64 */
#define SMC_NLA_STATS_T_WAKEUP_SAVED_CNT 131	/* u64 */
#define SMC_NLA_STATS_T_BUSY_POLL_CNT	132	/* u64 */
#define SMC_NLA_STATS_T_ABORT_APP_CNT	136	/* u64 */
#define SMC_NLA_STATS_T_ABORT_TCP_CNT	137	/* u64 */
#define SMC_NLA_STATS_T_ABORT_LINK_CNT	138	/* u64 */
#define SMC_NLA_STATS_T_ABORT_TIMEOUT_CNT 139	/* u64 */
#define SMC_NLA_STATS_T_ABORT_ORPHAN_CNT 140	/* u64 */
#define SMC_NLA_STATS_T_RING_GROWN_CNT	141	/* u64 */
#define SMC_NLA_STATS_T_RING_STUCK_CNT	142	/* u64 */
#define SMC_NLA_STATS_T_RING_SHRUNK_CNT	143	/* u64 */

/* In SMC_GEN_STATS, specific to this tree's module */
#define SMC_NLA_STATS_BUFFER_USED	128	/* uint */
#define SMC_NLA_STATS_BUFFER_LIMIT	129	/* uint */
#define SMC_NLA_STATS_HS_NOW		130	/* uint */
#define SMC_NLA_STATS_HS_TIME		131	/* nest: u64 numbered from 1 */
#define SMC_NLA_STATS_PATH_FAIL_CNT	132	/* u64 */
#define SMC_NLA_STATS_PATHS_BAD		133	/* uint */
#define SMC_NLA_STATS_SHARE_USED	134	/* uint */
#define SMC_NLA_STATS_SHARE_LIMIT	135	/* uint */
#define SMC_NLA_STATS_ORPHANS		136	/* uint */
#define SMC_NLA_STATS_HS_MEMORY_CNT	137	/* u64 */
#define SMC_NLA_STATS_HS_WITHDRAWN_CNT	138	/* u64 */
#define SMC_NLA_STATS_LLC_STRAY_CNT	139	/* u64 */

/* After struct smc_diag_req, specific to this tree's module; others ignore them */
#define SMC_DIAG_REQ_STATES		1	/* u32 */
#define SMC_DIAG_REQ_MODES		2	/* u8 */
#define SMC_DIAG_REQ_INODE		3	/* u64 */

/* In the answer, with SMC_DIAG_CONNINFO */
#define SMC_DIAG_RMBE_LARGEST		128	/* u32 */

/* SMC_DIAG_DMBINFO, with the second halves of 128-bit GIDs, not in Linux 6.1 */
struct smc_tools_dmbinfo {
	__u32		linkid;
	__aligned_u64	peer_gid;
	__aligned_u64	my_gid;
	__aligned_u64	token;
	__aligned_u64	peer_token;
	__aligned_u64	peer_gid_ext;
	__aligned_u64	my_gid_ext;
};

#endif /* SMC_TOOLS_UAPI_H */

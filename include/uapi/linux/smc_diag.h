/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * User ABI of AF_SMC: monitoring of sockets, NETLINK_SOCK_DIAG.
 *
 * A request with struct smc_diag_req and NLM_F_DUMP dumps all sockets of a namespace; each answer
 * is a struct smc_diag_msg and attributes.
 */
#ifndef _SMC_DIAG_H_
#define _SMC_DIAG_H_

#include <linux/inet_diag.h>
#include <linux/types.h>

/*
 * Non-zero fields of @id must match: ports, addresses, interface, cookie. Attributes SMC_DIAG_REQ_*
 * may follow.
 */
struct smc_diag_req {
	__u8	diag_family;
	__u8	pad[2];
	__u8	diag_ext;		/* bit (extension - 1) for each requested extension */
	struct inet_diag_sockid	id;
};

/* Filters: dump only sockets with these properties */
enum {
	SMC_DIAG_REQ_UNSPEC,
	SMC_DIAG_REQ_STATES,		/* u32: bit (1 << diag_state) for each state */
	SMC_DIAG_REQ_MODES,		/* u8: bit (1 << diag_mode) for each mode */
	SMC_DIAG_REQ_INODE,		/* u64 */
	SMC_DIAG_REQ_PAD,		/* alignment */
	__SMC_DIAG_REQ_MAX,
	SMC_DIAG_REQ_MAX = __SMC_DIAG_REQ_MAX - 1
};

/* Addresses are those of the TCP connection */
struct smc_diag_msg {
	__u8		diag_family;
	__u8		diag_state;
	union {
		__u8	diag_mode;
		__u8	diag_fallback;	/* old name of the field */
	};
	__u8		diag_shutdown;
	struct inet_diag_sockid id;

	__u32		diag_uid;
	__aligned_u64	diag_inode;
};

/* diag_mode */
enum {
	SMC_DIAG_MODE_SMCR,		/* also: not decided yet */
	SMC_DIAG_MODE_FALLBACK_TCP,
	SMC_DIAG_MODE_SMCD,
};

/* Extensions. SHUTDOWN and FALLBACK are sent without a request */
enum {
	SMC_DIAG_NONE,
	SMC_DIAG_CONNINFO,		/* struct smc_diag_conninfo */
	SMC_DIAG_LGRINFO,		/* struct smc_diag_lgrinfo */
	SMC_DIAG_SHUTDOWN,		/* u8 */
	SMC_DIAG_DMBINFO,		/* struct smcd_diag_dmbinfo */
	SMC_DIAG_FALLBACK,		/* struct smc_diag_fallback */
	__SMC_DIAG_MAX,
};

#define SMC_DIAG_MAX (__SMC_DIAG_MAX - 1)

/* Comes with CONNINFO: u32, the size up to which the peer may make the receive buffer grow */
#define SMC_DIAG_RMBE_LARGEST	128

/* A position in a ring buffer */
struct smc_diag_cursor {
	__u16	reserved;
	__u16	wrap;			/* number of wraps */
	__u32	count;			/* offset in the ring */
};

struct smc_diag_conninfo {
	__u32			token;		/* alert token */
	__u32			sndbuf_size;
	__u32			rmbe_size;
	__u32			peer_rmbe_size;
	/* last received */
	struct smc_diag_cursor	rx_prod;
	struct smc_diag_cursor	rx_cons;
	/* last sent */
	struct smc_diag_cursor	tx_prod;
	struct smc_diag_cursor	tx_cons;
	__u8			rx_prod_flags;
	__u8			rx_conn_state_flags;
	__u8			tx_prod_flags;
	__u8			tx_conn_state_flags;
	/* in the send buffer */
	struct smc_diag_cursor	tx_prep;	/* written */
	struct smc_diag_cursor	tx_sent;	/* passed to the device */
	struct smc_diag_cursor	tx_fin;		/* completed */
};

struct smc_diag_linkinfo {
	__u8 link_id;			/* number within the group */
	__u8 ibname[64];		/* name of the RDMA device */
	__u8 ibport;
	__u8 gid[40];			/* text */
	__u8 peer_gid[40];		/* text */
};

struct smc_diag_lgrinfo {
	struct smc_diag_linkinfo	lnk[1];
	__u8				role;	/* 0 client, 1 server */
};

struct smc_diag_fallback {
	__u32 reason;
	__u32 peer_diagnosis;
};

struct smcd_diag_dmbinfo {
	__u32		linkid;		/* number of the link group */
	__aligned_u64	peer_gid;
	__aligned_u64	my_gid;
	__aligned_u64	token;		/* token of the local DMB */
	__aligned_u64	peer_token;	/* token of the peer's DMB */
	__aligned_u64	peer_gid_ext;	/* second halves of 128-bit GIDs */
	__aligned_u64	my_gid_ext;
};

#endif /* _SMC_DIAG_H_ */

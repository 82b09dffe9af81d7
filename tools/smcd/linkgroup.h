/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMCD_LINKGROUP_H
#define SMCD_LINKGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "json.h"
#include "uapi.h"

struct nlattr;

#define GID_LEN		41

/**
 * struct group_v2 - fields of groups of SMC version 2
 * @present: it is a group of version 2
 * @version: SMC version
 * @release: release that the peer announced
 * @os: operating system of the peer
 * @eid: negotiated EID
 * @host: host name of the peer
 */
struct group_v2 {
	bool		present;
	unsigned int	version;
	unsigned int	release;
	unsigned int	os;
	char		eid[SMC_MAX_EID_LEN + 1];
	char		host[SMC_MAX_HOSTNAME_LEN + 1];
};

/**
 * struct group - a link group of either technology
 * @smcd: SMC-D; else SMC-R
 * @id: its number
 * @role: SMC-R: 1 for the server
 * @type: SMC-R: how links are distributed over ports
 * @vlan: VLAN ID
 * @conns: number of connections
 * @pnetid: physical network
 * @v2: see struct group_v2
 * @direct: SMC-R v2: the first link uses no gateway
 * @max_conns: SMC-R v2: negotiated limit
 * @max_links: SMC-R v2: negotiated limit
 * @buffer_type: SMC-R: type of memory
 * @has_memory: @sndbuf and @rmb are valid
 * @sndbuf: bytes of send buffers
 * @rmb: bytes of receive buffers (RMBs or DMBs)
 * @gid: SMC-D: local GID
 * @gid_ext: SMC-D: second half of @gid
 * @peer_gid: SMC-D: GID of the peer
 * @peer_gid_ext: SMC-D: second half of @peer_gid
 * @chid: SMC-D: channel ID
 */
struct group {
	bool		smcd;
	uint32_t	id;
	unsigned int	role;
	unsigned int	type;
	unsigned int	vlan;
	uint32_t	conns;
	char		pnetid[SMC_MAX_PNETID_LEN + 1];
	struct group_v2	v2;
	bool		direct;
	unsigned int	max_conns;
	unsigned int	max_links;
	unsigned int	buffer_type;
	bool		has_memory;
	uint64_t	sndbuf;
	uint64_t	rmb;
	uint64_t	gid;
	uint64_t	gid_ext;
	uint64_t	peer_gid;
	uint64_t	peer_gid_ext;
	uint16_t	chid;
};

/**
 * struct link - an SMC-R link
 * @id: number in the group
 * @device: RDMA device
 * @port: port of the device
 * @gid: local GID
 * @peer_gid: GID of the peer
 * @conns: number of connections
 * @netdev: interface index
 * @uid: link UID
 * @peer_uid: link UID of the peer
 * @state: state of the link
 */
struct link {
	unsigned int	id;
	char		device[IB_DEVICE_NAME_MAX + 1];
	unsigned int	port;
	char		gid[GID_LEN];
	char		peer_gid[GID_LEN];
	uint32_t	conns;
	uint32_t	netdev;
	uint32_t	uid;
	uint32_t	peer_uid;
	uint32_t	state;
};

void group_decode_smcr(struct group *group, const struct nlattr *nest);
void group_decode_smcd(struct group *group, const struct nlattr *nest);
void link_decode(struct link *link, const struct nlattr *nest);

void group_print_header(bool smcd);
void group_print(const struct group *group);
void group_print_details(const struct group *group);
void group_print_json(struct json *j, const struct group *group);

void link_print_header(bool details, bool gids);
void link_print(const struct group *group, const struct link *link, bool details,
		bool gids);
void link_print_json(struct json *j, const struct group *group,
		     const struct link *link);

#endif /* SMCD_LINKGROUP_H */

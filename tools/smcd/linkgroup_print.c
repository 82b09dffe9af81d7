// SPDX-License-Identifier: GPL-2.0-only
/* Print link groups and links, as text or JSON */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "linkgroup.h"
#include "names.h"
#include "tool.h"

void group_print_header(bool smcd)
{
	if (smcd)
		puts("LG-ID    VLAN  #Conns  PNET-ID ");
	else
		puts("LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID ");
}

static void print_who(const struct group *group)
{
	char role[NAME_LEN], type[NAME_LEN];

	printf("%08x ", group->id);
	if (!group->smcd)
		printf("%-8s %-8s ", name_role(group->role, role),
		       name_group_type(group->type, type));
}

void group_print(const struct group *group)
{
	print_who(group);
	printf("%4x  %6u  %-17s\n", group->vlan, group->conns, group->pnetid);
}

static void print_v2(const struct group *group)
{
	const struct group_v2 *v2 = &group->v2;
	char host[sizeof(v2->host)], os[NAME_LEN];

	if (!v2->present) {
		puts("Version  : 1");
		return;
	}
	strcpy(host, v2->host);
	printf("Version  : %u\n", v2->version);
	printf("Peer-Rel : %u\n", v2->release);
	printf("Peer-Host: %s\n", tool_trim(host));
	printf("Peer-OS  : %s\n", name_peer_os(v2->os, os));
	if (!group->smcd)
		printf("Direct   : %s\n", group->direct ? "Yes" : "No");
	printf("EID      : %s\n", v2->eid);
}

void group_print_details(const struct group *group)
{
	char role[NAME_LEN], type[NAME_LEN];

	printf("LG-ID    : %08x\n", group->id);
	if (!group->smcd) {
		printf("LG-Role  : %s\n", name_role(group->role, role));
		printf("LG-Type  : %s\n", name_group_type(group->type, type));
	}
	printf("VLAN     : %x\n", group->vlan);
	printf("PNET-ID  : %s\n", group->pnetid);
	print_v2(group);
	printf("#Conns   : %u\n", group->conns);
	if (!group->has_memory)
		return;
	printf("Sndbuf   : %" PRIu64 " B\n", group->sndbuf);
	printf("%s      : %" PRIu64 " B\n", group->smcd ? "DMB" : "RMB", group->rmb);
}

static void json_v2(struct json *j, const struct group *group)
{
	const struct group_v2 *v2 = &group->v2;
	char host[sizeof(v2->host)], eid[sizeof(v2->eid)], os[NAME_LEN];

	json_uint(j, "version", v2->present ? v2->version : 1);
	if (!v2->present)
		return;
	strcpy(host, v2->host);
	strcpy(eid, v2->eid);
	json_uint(j, "peer_release", v2->release);
	json_string(j, "peer_host", tool_trim(host));
	json_string(j, "peer_os", name_peer_os(v2->os, os));
	json_string(j, "eid", tool_trim(eid));
	if (group->smcd)
		return;
	json_bool(j, "direct", group->direct);
	json_uint(j, "max_connections", group->max_conns);
	json_uint(j, "max_links", group->max_links);
}

static void json_smcr(struct json *j, const struct group *group)
{
	char text[NAME_LEN];

	json_string(j, "role", group->role ? "server" : "client");
	json_string(j, "type", name_group_type(group->type, text));
	json_string(j, "buffer_type", name_buffer_type(group->buffer_type, text));
}

static void json_group_gid(struct json *j, const char *key, uint64_t gid, uint64_t ext)
{
	char text[40];
	int len = 0;

	if (ext)
		len = sprintf(text, "%016" PRIx64, ext);
	sprintf(text + len, "%016" PRIx64, gid);
	json_string(j, key, text);
}

static void json_smcd_group(struct json *j, const struct group *group)
{
	json_group_gid(j, "gid", group->gid, group->gid_ext);
	json_group_gid(j, "peer_gid", group->peer_gid, group->peer_gid_ext);
	json_hex(j, "chid", group->chid, 4);
}

void group_print_json(struct json *j, const struct group *group)
{
	json_object(j, NULL);
	json_hex(j, "id", group->id, 8);
	json_uint(j, "vlan", group->vlan);
	json_string(j, "pnetid", group->pnetid);
	json_uint(j, "connections", group->conns);
	if (group->smcd)
		json_smcd_group(j, group);
	else
		json_smcr(j, group);
	json_v2(j, group);
	if (group->has_memory) {
		json_uint(j, "send_buffers", group->sndbuf);
		json_uint(j, "receive_buffers", group->rmb);
	}
	json_object_end(j);
}

void link_print_header(bool details, bool gids)
{
	fputs("LG-ID    LG-Role  LG-Type  Net-Dev         Link-State      #Conns  ",
	      stdout);
	if (details)
		fputs("Link-UID  Peer-UID  IB-Dev    IB-P  ", stdout);
	if (gids)
		printf("%-39s   Peer-GID  ", "Local-GID");
	putchar('\n');
}

void link_print(const struct group *group, const struct link *link, bool details,
		bool gids)
{
	char netdev[IF_NAMESIZE], state[NAME_LEN];

	print_who(group);
	printf("%-15s %-15s %6u  ", name_netdev(link->netdev, netdev),
	       name_link_state(link->state, state), link->conns);
	if (details)
		printf("%08x  %08x  %-8s  %4u  ", link->uid, link->peer_uid,
		       link->device, link->port);
	if (gids)
		printf("%-39s   %s  ", link->gid, link->peer_gid);
	putchar('\n');
}

void link_print_json(struct json *j, const struct group *group,
		     const struct link *link)
{
	char netdev[IF_NAMESIZE], text[NAME_LEN];

	json_object(j, NULL);
	json_hex(j, "group", group->id, 8);
	json_string(j, "role", group->role ? "server" : "client");
	json_string(j, "type", name_group_type(group->type, text));
	json_uint(j, "id", link->id);
	json_string(j, "netdev", name_netdev(link->netdev, netdev));
	json_string(j, "state", name_link_state(link->state, text));
	json_uint(j, "connections", link->conns);
	json_hex(j, "uid", link->uid, 8);
	json_hex(j, "peer_uid", link->peer_uid, 8);
	json_string(j, "device", link->device);
	json_uint(j, "port", link->port);
	json_string(j, "gid", link->gid);
	json_string(j, "peer_gid", link->peer_gid);
	json_object_end(j);
}

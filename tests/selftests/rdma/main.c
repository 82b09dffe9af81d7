// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile peer of SMC-R, with a queue pair of its own. Needs /dev/smc_synopt of tests/modules,
 * root, an RDMA port of the attacker (RDMA_PEER_DEVICE, RDMA_PEER_INTERFACE, RDMA_PEER_HOST), one
 * under the address of the application (SOCKET_TEST_HOST), and a user EID (RDMA_PEER_EID).
 */

#include "hostile.h"

static const struct variant application = {
	"application", { AF_SMC, SMCPROTO_SMC }, { AF_SMC, SMCPROTO_SMC }, AF_INET, AF_INET,
	.smc = true,
};

const struct variant *variant = &application;
int chosen;

bool as_client(int index)
{
	return index == CLIENT_V1 || index == CLIENT_V2;
}

bool as_server(int index)
{
	return !as_client(index);
}

bool with_v1(int index)
{
	return index == CLIENT_V1 || index == SERVER_V1;
}

bool with_v2(int index)
{
	return !with_v1(index);
}

bool as_client_v1(int index)
{
	return index == CLIENT_V1;
}

bool as_client_v2(int index)
{
	return index == CLIENT_V2;
}

bool as_server_v2(int index)
{
	return index == SERVER_V2;
}

static void select_variant(int index)
{
	chosen = index;
	set_sysctl("net/smc/handshake_timeout", HANDSHAKE_S);
	/* A failed test does not restore what it has changed */
	set_sysctl("net/smc/max_link_groups_per_peer", 256);
	set_sysctl("net/smc/smcr_idle_timeout", 1);
	set_sysctl("net/smc/smcr_path_retry_time", 0);
	set_sysctl("net/smc/smcr_testlink_time", 30);
	set_sysctl("net/ipv4/tcp_fin_timeout", FIN_TIMEOUT_S);
	bystanders_open();
}

static const char *name_of_variant(int index)
{
	static const char *const names[NR_VARIANTS] = {
		[CLIENT_V2] = "client_v2",
		[SERVER_V2] = "server_v2",
		[CLIENT_V1] = "client_v1",
		[SERVER_V1] = "server_v1",
	};

	return names[index];
}

int main(int argc, char **argv)
{
	static const struct suite suite = {
		.nr_variants = NR_VARIANTS,
		.variant_name = name_of_variant,
		.select = select_variant,
	};

	return harness_main(&suite, argc, argv);
}

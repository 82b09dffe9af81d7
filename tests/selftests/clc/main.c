// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile peer: speaks CLC on a TCP connection that has the SMC option, in both
 * roles and wrong in every way, or lies once it has an SMC connection. Needs
 * /dev/smc_synopt and /dev/smc_forge of tests/modules, and root.
 */

#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>

#include "peer.h"

static const struct variant application = {
	"application", { AF_SMC, SMCPROTO_SMC }, { AF_SMC, SMCPROTO_SMC }, AF_INET, AF_INET,
	.smc = true,
};

const struct variant *variant = &application;

bool client_attacks(int index)
{
	return index == HOSTILE_CLIENT;
}

bool server_attacks(int index)
{
	return index == HOSTILE_SERVER;
}

bool crowd_attacks(int index)
{
	return index == HOSTILE_CROWD;
}

void set_handshake_timeout(int seconds)
{
	set_sysctl("net/smc/handshake_timeout", seconds);
}

/* Each test has a network of its own, so that it can change settings */
static void select_attacker(int index)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	(void)index;
	OK(unshare(CLONE_NEWNET));
	fd = OK(socket(AF_INET, SOCK_DGRAM, 0));
	OK(ioctl(fd, SIOCSIFFLAGS, &lo));
	close(fd);
	/* A busy machine is no silent peer, and no expected answer comes from this timer */
	set_handshake_timeout(scaled(300));
}

static const char *attacker_name(int index)
{
	static const char *const names[NR_ATTACKERS] = {
		[HOSTILE_CLIENT] = "hostile_client",
		[HOSTILE_SERVER] = "hostile_server",
		[HOSTILE_WRITER] = "hostile_writer",
		[HOSTILE_CROWD] = "hostile_crowd",
	};

	return names[index];
}

int main(int argc, char **argv)
{
	static const struct suite suite = {
		.nr_variants = NR_ATTACKERS,
		.variant_name = attacker_name,
		.select = select_attacker,
	};

	return harness_main(&suite, argc, argv);
}

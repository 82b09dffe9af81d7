// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program sees of a socket: each test for TCP, which is the reference,
 * and for all ways to an AF_SMC socket, with and without SMC on the other side.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pair.h"

#define V4(proto)	{ AF_INET, proto }
#define V6(proto)	{ AF_INET6, proto }
#define SMC4		{ AF_SMC, SMCPROTO_SMC }
#define SMC6		{ AF_SMC, SMCPROTO_SMC6 }

static const struct variant variants[] = {
	{ "tcp", V4(0), V4(0), AF_INET, AF_INET },
	{ "tcp6", V6(0), V6(0), AF_INET6, AF_INET6, .swapped = true },
	{ "smc", SMC4, SMC4, AF_INET, AF_INET, .smc = true },
	{ "smc_accepted", SMC4, SMC4, AF_INET, AF_INET, .swapped = true, .smc = true },
	{ "smc6", SMC6, SMC6, AF_INET6, AF_INET6, .smc = true },
	{ "smc_both", SMC6, SMC4, AF_INET6, AF_INET, .smc = true },
	{ "ipproto_smc", V4(IPPROTO_SMC), V4(IPPROTO_SMC), AF_INET, AF_INET, .smc = true },
	{ "ipproto_smc6", V6(IPPROTO_SMC), V6(IPPROTO_SMC), AF_INET6, AF_INET6,
	  .swapped = true, .smc = true },
	{ "fallback_client", V4(0), SMC4, AF_INET, AF_INET },
	{ "fallback_server", SMC4, V4(0), AF_INET, AF_INET, .swapped = true },
	{ "fallback_server6", V6(IPPROTO_SMC), V6(0), AF_INET6, AF_INET6, .swapped = true },
};

#define NR_VARIANTS	((int)(sizeof(variants) / sizeof(*variants)))

const struct variant *variant = variants;

static bool kind_is_tcp(struct kind kind)
{
	return kind.family != AF_SMC && !kind.protocol;
}

bool only_tcp(int index)
{
	return kind_is_tcp(variants[index].server) && kind_is_tcp(variants[index].client);
}

bool not_tcp(int index)
{
	return !only_tcp(index);
}

bool only_smc(int index)
{
	return variants[index].smc;
}

bool only_fallback(int index)
{
	return not_tcp(index) && !variants[index].smc;
}

bool not_swapped(int index)
{
	return !variants[index].swapped;
}

bool options_bypass_smc(void)
{
	struct utsname name;
	int major, minor;

	OK(uname(&name));
	if (sscanf(name.release, "%d.%d", &major, &minor) != 2)
		FAIL("the kernel calls itself %s", name.release);
	return major < 6 || (major == 6 && minor < 8);
}

/* Such kernels have SO_REUSEPORT for sockets of the internet families only */
bool reuse_port_in_server(int index)
{
	return variants[index].server.family != AF_SMC || !options_bypass_smc();
}

/* Before Linux 6.8 a module with a TCP socket inside sees options at bind() and listen() */
bool late_options_in_server(int index)
{
	return kind_is_tcp(variants[index].server) || !options_bypass_smc();
}

/* Else the two ends have different addresses */
bool within_host(int index)
{
	(void)index;
	return !getenv("SOCKET_TEST_HOST");
}

bool only_smcd(int index)
{
	return only_smc(index) && within_host(index);
}

bool first_of_mode(int index)
{
	int i;

	for (i = 0; i < index; i++)
		if (only_smc(i) == only_smc(index) && only_tcp(i) == only_tcp(index))
			return false;
	return true;
}

bool only_ipv6(int index)
{
	return variants[index].server_address == AF_INET6 &&
	       variants[index].client_address == AF_INET6 && within_host(index);
}

bool same_family(int index)
{
	return variants[index].server_address == variants[index].client_address;
}

static const char *variant_name(int index)
{
	return variants[index].name;
}

static void variant_select(int index)
{
	variant = &variants[index];
}

/* The distribution's module has none of these sysctls */
static void set_knob(const char *name, int value)
{
	char path[100];

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	if (!access(path, W_OK))
		set_sysctl(name, value);
}

static void set_knobs(void)
{
	/* A handshake that hangs fails the test, also on a busy machine, and does not become TCP */
	set_knob("net/smc/handshake_timeout", 600);
	/* Nor does a connection whose first SYN is lost: some backlogs are full on purpose */
	set_knob("net/smc/syn_retry_time", 0);
}

int main(int argc, char **argv)
{
	static const struct suite suite = {
		.nr_variants = NR_VARIANTS,
		.variant_name = variant_name,
		.select = variant_select,
	};

	set_knobs();
	return harness_main(&suite, argc, argv);
}

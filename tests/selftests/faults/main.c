// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of a connection when memory is short, a queue pair cannot be created, a message
 * cannot be sent. Needs the modules with faults (tests/modules/smc_fault.h), root, and a clock that
 * jumps while all wait: "tests/uml/run --faults".
 */

#include "faults.h"

#define SMC4	{ AF_SMC, SMCPROTO_SMC }
#define TCP4	{ AF_INET, 0 }

const struct variant variants[] = {
	{ "smc", SMC4, SMC4, AF_INET, AF_INET, .smc = true },
	{ "ipproto_smc", { AF_INET, IPPROTO_SMC }, { AF_INET, IPPROTO_SMC }, AF_INET, AF_INET,
	  .smc = true },
	{ "fallback_client", TCP4, SMC4, AF_INET, AF_INET },
	{ "fallback_server", SMC4, TCP4, AF_INET, AF_INET },
};

const struct variant *variant = variants;

static const char *variant_name(int index)
{
	return variants[index].name;
}

static void variant_select(int index)
{
	variant = &variants[index];
}

int main(int argc, char **argv)
{
	static const struct suite suite = {
		.nr_variants = sizeof(variants) / sizeof(*variants),
		.variant_name = variant_name,
		.select = variant_select,
	};

	return harness_main(&suite, argc, argv);
}

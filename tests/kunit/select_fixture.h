/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the suites for the selection in the handshake; each suite fills it in */
#ifndef _TESTS_KUNIT_SELECT_FIXTURE_H
#define _TESTS_KUNIT_SELECT_FIXTURE_H

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "../../net/smc/handshake/select.h"
#include "../../net/smc/wire/reason.h"

#define VARIANTS_ALL	(SMC_VARIANTS_V1 | SMC_VARIANTS_V2)

/* An Accept, its Confirm, and the input of the selection */
struct fixture {
	struct smc_local local;
	struct smc_clc_proposal proposal;
	struct smc_clc_accept accept, confirm;
	struct smc_choice choice;
};

static struct smc_eid eid(const char *text)
{
	struct smc_eid out = {};

	smc_eid_parse(text, strlen(text), &out);
	return out;
}

/* Devices and ids that both sides have; each suite has its own */
static void setup(struct fixture *f);

static void reset(struct kunit *test)
{
	struct fixture *f = test->priv;

	memset(f, 0, sizeof(*f));
	setup(f);
}

static int init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct fixture), GFP_KERNEL);
	if (!test->priv)
		return -ENOMEM;
	reset(test);
	return 0;
}

/* The former content of the choice must not show through */
static u32 choose(struct kunit *test)
{
	struct fixture *f = test->priv;

	memset(&f->choice, 0xff, sizeof(f->choice));
	return smc_select(&f->local, &f->proposal, &f->choice);
}

#endif /* _TESTS_KUNIT_SELECT_FIXTURE_H */

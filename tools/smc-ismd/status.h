/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of all pairs, as text and for programs; smc-ismd(8) lists keys and names */
#ifndef SMC_ISMD_STATUS_H
#define SMC_ISMD_STATUS_H

#include <stdio.h>

#include "memory.h"

/* Values that are not part of the pairs */
struct service {
	const struct host *host;
	time_t started;
	unsigned int restarts;
	unsigned int reloads;
	unsigned int failed_reloads;
};

void status_text(FILE *out, const struct service *service);
void status_json(FILE *out, const struct service *service);
void status_openmetrics(FILE *out, const struct service *service);

#endif /* SMC_ISMD_STATUS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* All calls of a socket that copy from or to memory of the program */
#ifndef USERCOPY_H
#define USERCOPY_H

#include "pair.h"

#define PAGE_CONTENT	256	/* what a call looks at is within so many bytes */

struct call;

/* What @call does with @fd, with @page where the program's memory is. Return: of the system call */
typedef long call_fn(const struct call *call, int fd, void *page);

/**
 * struct call - a call with a piece of memory
 * @name: for messages
 * @run: the call
 * @level: of an option
 * @option: of a socket; or request of an ioctl
 * @content: what the memory holds, as far as it is not zero
 * @len: bytes of @content
 * @takes_address: in place of @content there is the address of a server
 * @refused: SMC may fail with this error where TCP does not; 0: it may not
 */
struct call {
	const char *name;
	call_fn *run;
	int level;
	int option;
	const void *content;
	size_t len;
	bool takes_address;
	int refused;
};

extern const struct call calls[];
extern const int nr_calls;

#endif /* USERCOPY_H */

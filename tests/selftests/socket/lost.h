/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of user memory which a program keeps back for as long as it likes */
#ifndef LOST_H
#define LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_LOST	96

/* Who brings the pages: who handles the page faults of a program, or a file system in user space */
enum keeper {
	BY_USERFAULTFD,
	BY_FUSE,
};

struct lost_file;

/**
 * struct lost - pages that come when the test says so
 * @keeper: who brings them
 * @nr: number of pages
 * @size: of a page
 * @pages: the first one
 * @fd: BY_USERFAULTFD: where the kernel asks for pages; BY_FUSE: what the server is told
 * @wanted: BY_USERFAULTFD: has the kernel asked for this one?
 * @file: BY_FUSE: shared with the server
 */
struct lost {
	enum keeper keeper;
	int nr;
	long size;
	uint8_t *pages;
	int fd;
	bool wanted[MAX_LOST];
	struct lost_file *file;
};

bool lost_possible(enum keeper keeper);
void lost_open(struct lost *lost, enum keeper keeper, int nr);
void *lost_page(const struct lost *lost, int index);
bool lost_is_wanted(struct lost *lost, int index);
void lost_bring(struct lost *lost, int index, const void *content, size_t len);

#endif /* LOST_H */

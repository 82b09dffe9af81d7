// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "module.h"

#define SETTINGS "/proc/sys/net/smc"

bool module_is_loaded(void)
{
	return !access(SETTINGS, F_OK) || access("/proc/sys/net", F_OK);
}

int module_variants(void)
{
	int fd = open(SETTINGS "/variants", O_RDONLY | O_CLOEXEC);
	char text[16];
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return -EIO;
	text[len] = '\0';
	return atoi(text) & MODULE_VARIANTS_ALL;
}

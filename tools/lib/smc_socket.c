// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "smc_socket.h"
#include "uapi.h"

int smc_socket(int domain)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC;
	int fd = socket(domain, type, IPPROTO_SMC);
	int error = errno;

	if (fd >= 0)
		return fd;
	fd = socket(AF_SMC, type, domain == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);
	/* The number is known, and was refused for another reason */
	if (fd < 0 && errno == EAFNOSUPPORT && error != EPROTONOSUPPORT && error != EINVAL)
		errno = error;
	return fd;
}

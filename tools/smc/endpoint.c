// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "endpoint.h"

#define CONNECT_SECONDS	10

bool endpoint_parse(struct endpoint *ep, char *word)
{
	char *colon;

	memset(ep, 0, sizeof(*ep));
	ep->host = word;
	if (*word == '[') {
		ep->host = word + 1;
		colon = strchr(word, ']');
		if (!colon)
			return false;
		*colon++ = '\0';
		if (*colon && *colon != ':')
			return false;
	} else {
		colon = strchr(word, ':');
		/* an IPv6 address has several colons; it has no port then */
		if (!colon || strchr(colon + 1, ':'))
			return *word;
	}
	if (*colon) {
		*colon = '\0';
		ep->port = colon + 1;
		return *ep->host && *ep->port;
	}
	return *ep->host;
}

const char *endpoint_resolve(struct endpoint *ep, int family)
{
	struct addrinfo hints = {
		.ai_family	= family,
		.ai_socktype	= SOCK_STREAM,
	};
	struct addrinfo *found;
	int ret;

	ret = getaddrinfo(ep->host, ep->port, &hints, &found);
	if (ret)
		return ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret);
	memcpy(&ep->addr, found->ai_addr, found->ai_addrlen);
	ep->len = found->ai_addrlen;
	getnameinfo(found->ai_addr, found->ai_addrlen, ep->text, sizeof(ep->text),
		    NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	return NULL;
}

int endpoint_connect(const struct endpoint *ep, int fd)
{
	struct timeval limit = { .tv_sec = CONNECT_SECONDS };
	int ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (!connect(fd, (const struct sockaddr *)&ep->addr, ep->len))
		return fd;
	/* connect() reports a timeout like a non-blocking socket */
	ret = errno == EINPROGRESS || errno == EAGAIN ? -ETIMEDOUT : -errno;
	close(fd);
	return ret;
}

/* bind() succeeds only for local addresses */
bool endpoint_is_local(const struct endpoint *ep)
{
	struct sockaddr_storage addr = ep->addr;
	bool local;
	int fd;

	if (addr.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&addr)->sin6_port = 0;
	else
		((struct sockaddr_in *)&addr)->sin_port = 0;
	fd = socket(addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	local = !bind(fd, (const struct sockaddr *)&addr, ep->len);
	close(fd);
	return local;
}

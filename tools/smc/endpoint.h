/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ENDPOINT_H
#define SMC_ENDPOINT_H

#include <stdbool.h>
#include <sys/socket.h>

#define ENDPOINT_TEXT	64

/**
 * struct endpoint - where to connect to
 * @host: as given
 * @port: as given, or NULL
 * @addr: address and port
 * @len: of @addr
 * @text: the address in figures
 */
struct endpoint {
	char			*host;
	char			*port;
	struct sockaddr_storage	addr;
	socklen_t		len;
	char			text[ENDPOINT_TEXT];
};

/**
 * endpoint_parse() - split HOST, HOST:PORT, [ADDRESS]:PORT
 * @ep: filled in; points into @word
 * @word: changed
 *
 * Returns: false if there is no host in it.
 */
bool endpoint_parse(struct endpoint *ep, char *word);

/**
 * endpoint_resolve() - find the address of the host
 * @ep: the endpoint
 * @family: AF_INET, AF_INET6, or AF_UNSPEC for the system's choice
 *
 * Returns: NULL, or why there is none.
 */
const char *endpoint_resolve(struct endpoint *ep, int family);

/**
 * endpoint_connect() - connect to it
 * @ep: the endpoint
 * @domain: of the socket
 * @protocol: of the socket
 *
 * Returns: a descriptor or a negative errno.
 */
int endpoint_connect(const struct endpoint *ep, int domain, int protocol);

/**
 * endpoint_is_local() - is the address one of this host's?
 * @ep: the endpoint
 *
 * Returns: true if so.
 */
bool endpoint_is_local(const struct endpoint *ep);

#endif /* SMC_ENDPOINT_H */

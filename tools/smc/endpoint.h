/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ENDPOINT_H
#define SMC_ENDPOINT_H

#include <stdbool.h>
#include <sys/socket.h>

#define ENDPOINT_TEXT	64

/**
 * struct endpoint - target of a connection
 * @host: as given
 * @port: as given, or NULL
 * @addr: address and port
 * @len: length of @addr
 * @text: the numeric address
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
 * @word: modified
 *
 * Returns: false if it has no host.
 */
bool endpoint_parse(struct endpoint *ep, char *word);

/**
 * endpoint_resolve() - find the address of the host
 * @ep: the endpoint
 * @family: AF_INET, AF_INET6, or AF_UNSPEC for the system's choice
 *
 * Returns: NULL, or an error message.
 */
const char *endpoint_resolve(struct endpoint *ep, int family);

/**
 * endpoint_connect() - connect to the endpoint
 * @ep: the endpoint
 * @fd: what socket() returned, with its errno; closed if the connection fails
 *
 * Returns: @fd or a negative errno.
 */
int endpoint_connect(const struct endpoint *ep, int fd);

/* Does the address belong to this host? */
bool endpoint_is_local(const struct endpoint *ep);

#endif /* SMC_ENDPOINT_H */

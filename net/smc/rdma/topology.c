// SPDX-License-Identifier: GPL-2.0-only
/* Ports and numbers of the links of a group (RFC 7609, 2.2) */
#include <linux/string.h>

#include "topology.h"

/**
 * smc_link_is_same_port() - do two addresses belong to one port?
 * @a: one address
 * @b: the other address
 *
 * A port may have several GIDs, but one MAC address. A zero MAC address is not compared.
 *
 * Return: whether they do.
 */
bool smc_link_is_same_port(const struct smc_link_port *a, const struct smc_link_port *b)
{
	static const u8 none[sizeof(a->mac)];

	if (!memcmp(&a->gid, &b->gid, sizeof(a->gid)))
		return true;
	return memcmp(a->mac, none, sizeof(none)) && !memcmp(a->mac, b->mac, sizeof(a->mac));
}

/**
 * smc_link_fit() - rate a new link by the ports that it shares with other links
 * @links: the links of the group
 * @nr: their number
 * @link: the new link
 *
 * Return: the rating (R-LG-03, R-LG-04).
 */
enum smc_link_fit smc_link_fit(const struct smc_link_pair *links, unsigned int nr,
			       const struct smc_link_pair *link)
{
	bool shared = false;

	for (; nr; nr--, links++) {
		bool local = smc_link_is_same_port(&links->local, &link->local);
		bool peer = smc_link_is_same_port(&links->peer, &link->peer);

		if (local && peer)
			return SMC_FIT_PARALLEL;
		shared |= local || peer;
	}
	return shared ? SMC_FIT_ASYMMETRIC : SMC_FIT_SYMMETRIC;
}

/**
 * smc_link_offer() - rate a local port for another link, before the peer's port is known
 * @links: the links of the group
 * @nr: their number
 * @port: the local port
 *
 * If both ends are on one host, the peer may use a port of this host.
 *
 * Return: 0 if the peer uses the port, 1 if this end uses it for another link, 2 otherwise.
 */
unsigned int smc_link_offer(const struct smc_link_pair *links, unsigned int nr,
			    const struct smc_link_port *port)
{
	unsigned int worth = 2;

	for (; nr; nr--, links++) {
		if (smc_link_is_same_port(&links->peer, port))
			return 0;
		if (smc_link_is_same_port(&links->local, port))
			worth = 1;
	}
	return worth;
}

/**
 * smc_link_class() - which ports may fail without loss of the group?
 * @links: all its links
 * @nr: their number
 *
 * Return: the class.
 */
enum smc_link_class smc_link_class(const struct smc_link_pair *links, unsigned int nr)
{
	bool locals = false, peers = false;	/* ports differ */
	unsigned int i;

	if (nr < 2)
		return nr ? SMC_LINKS_SINGLE : SMC_LINKS_NONE;
	for (i = 1; i < nr; i++) {
		bool local = !smc_link_is_same_port(&links[0].local, &links[i].local);
		bool peer = !smc_link_is_same_port(&links[0].peer, &links[i].peer);

		if (local && peer)
			return SMC_LINKS_SYMMETRIC;
		locals |= local;
		peers |= peer;
	}
	if (locals && peers)
		return SMC_LINKS_SYMMETRIC;	/* the second and the third link share no port */
	if (locals)
		return SMC_LINKS_ASYMMETRIC_PEER;
	return peers ? SMC_LINKS_ASYMMETRIC_LOCAL : SMC_LINKS_SINGLE;
}

/**
 * smc_link_next_number() - choose a number for a new link (R-LG-14)
 * @last: the last number that the group has assigned, or 0
 * @used: numbers of the existing links
 * @nr: their number
 *
 * Return: the number. It is chosen again only after all others, except those in use.
 */
u8 smc_link_next_number(u8 last, const u8 *used, unsigned int nr)
{
	u8 number = last;

	do {
		number++;
	} while (!number || (nr && memchr(used, number, nr)));
	return number;
}

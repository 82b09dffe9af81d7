// SPDX-License-Identifier: GPL-2.0-only
/* Ports and numbers of the links of a group (RFC 7609, 2.2) */
#include <linux/string.h>

#include "topology.h"

/**
 * smc_link_is_same_port() - do two ends mean one port?
 * @a: one end
 * @b: the other one
 *
 * A port may have several addresses, but one MAC address; an end that names none is compared by
 * its address only.
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
 * smc_link_fit() - how does a new link fit to those that are there?
 * @links: those
 * @nr: their number
 * @link: the new one
 *
 * Return: how (R-LG-03, R-LG-04).
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
 * smc_link_offer() - what is a local port worth for another link, before the peer's is known?
 * @links: those that are there
 * @nr: their number
 * @port: the port
 *
 * Where both ends are in one host, one is not offered that the peer has already.
 *
 * Return: 0 if it is the peer's, 1 if another link has it already, 2 otherwise.
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
 * smc_link_class() - what may be lost without losing the group?
 * @links: all its links
 * @nr: their number
 *
 * Return: the class.
 */
enum smc_link_class smc_link_class(const struct smc_link_pair *links, unsigned int nr)
{
	bool locals = false, peers = false;	/* there are different ones */
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
		return SMC_LINKS_SYMMETRIC;	/* the second and the third one share nothing */
	if (locals)
		return SMC_LINKS_ASYMMETRIC_PEER;
	return peers ? SMC_LINKS_ASYMMETRIC_LOCAL : SMC_LINKS_SINGLE;
}

/**
 * smc_link_next_number() - a number for a new link (R-LG-14)
 * @last: the last one that was given in this group, 0 if none was
 * @used: numbers of the links that are there
 * @nr: how many
 *
 * Return: the number, which comes again only when all others have been used.
 */
u8 smc_link_next_number(u8 last, const u8 *used, unsigned int nr)
{
	u8 number = last;

	do {
		number++;
	} while (!number || (nr && memchr(used, number, nr)));
	return number;
}

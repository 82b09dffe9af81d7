/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink attributes, read without trusting whoever wrote them: a kernel newer
 * or older than this tool, or another implementation of SMC.
 */
#ifndef SMC_TOOLS_ATTR_H
#define SMC_TOOLS_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlattr;

/**
 * attr_parse() - find the attributes of a message or nest
 * @tb: table of @max + 1 pointers, filled in
 * @max: highest type of interest; others are skipped
 * @head: first attribute, may be NULL
 * @len: bytes there
 *
 * Of several attributes of one type, the first counts. A damaged attribute
 * ends the list, with a message on stderr.
 *
 * Returns: true if all of it was well-formed.
 */
bool attr_parse(const struct nlattr **tb, int max, const struct nlattr *head,
		int len);

/**
 * attr_parse_nest() - attr_parse() for the content of an attribute
 * @tb: see attr_parse()
 * @max: see attr_parse()
 * @nest: the attribute around the others; NULL is an empty nest
 *
 * Returns: see attr_parse().
 */
bool attr_parse_nest(const struct nlattr **tb, int max, const struct nlattr *nest);

/**
 * attr_uint() - value of an unsigned attribute of any width
 * @attr: the attribute, or NULL
 * @missing: what to return if there is none, or if its length is odd
 *
 * Returns: the value in host order.
 */
uint64_t attr_uint(const struct nlattr *attr, uint64_t missing);

/**
 * attr_text() - copy a text of the kernel's
 * @text: the text, which ends at a NUL or after @len bytes
 * @len: see @text
 * @buf: where to
 * @size: of @buf; a longer text is cut
 *
 * Some texts come from the peer. What could steer a terminal is replaced by
 * question marks.
 *
 * Returns: @buf.
 */
char *attr_text(const void *text, size_t len, char *buf, size_t size);

/**
 * attr_string() - copy a string attribute
 * @attr: the attribute, or NULL for an empty string
 * @buf: where to
 * @size: see attr_text()
 *
 * Returns: @buf.
 */
char *attr_string(const struct nlattr *attr, char *buf, size_t size);

/**
 * attr_copy() - copy a structure
 * @attr: the attribute, or NULL
 * @dst: where to; bytes that the attribute does not have become zero
 * @size: of @dst
 * @least: shortest length that makes sense
 *
 * Returns: true if there was an attribute of at least @least bytes.
 */
bool attr_copy(const struct nlattr *attr, void *dst, size_t size, size_t least);

#endif /* SMC_TOOLS_ATTR_H */

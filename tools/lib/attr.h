/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read netlink attributes without trusting the sender: the kernel may be newer or older than this
 * tool, or have another implementation of SMC.
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
 * @max: highest type to store; others are skipped
 * @head: first attribute, may be NULL
 * @len: length of all attributes
 *
 * If a type occurs several times, the first attribute is used. A malformed attribute ends the list,
 * with a message on stderr.
 *
 * Returns: true if all attributes are well-formed.
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
 * @missing: returned if @attr is NULL or its length is invalid
 *
 * Returns: the value in host byte order.
 */
uint64_t attr_uint(const struct nlattr *attr, uint64_t missing);

/**
 * attr_text() - copy a text from the kernel
 * @text: the text, which ends at a NUL or after @len bytes
 * @len: see @text
 * @buf: result
 * @size: size of @buf; a longer text is cut off
 *
 * Some texts come from the peer. Characters that could control a terminal are replaced by question
 * marks.
 *
 * Returns: @buf.
 */
char *attr_text(const void *text, size_t len, char *buf, size_t size);

/**
 * attr_string() - copy a string attribute
 * @attr: the attribute, or NULL for an empty string
 * @buf: result
 * @size: see attr_text()
 *
 * Returns: @buf.
 */
char *attr_string(const struct nlattr *attr, char *buf, size_t size);

/**
 * attr_copy() - copy a structure
 * @attr: the attribute, or NULL
 * @dst: result; bytes that the attribute does not have are zero
 * @size: size of @dst
 * @least: minimum length of a valid attribute
 *
 * Returns: true if @attr has at least @least bytes.
 */
bool attr_copy(const struct nlattr *attr, void *dst, size_t size, size_t least);

#endif /* SMC_TOOLS_ATTR_H */

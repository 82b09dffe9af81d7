/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A JSON writer. Values inside objects have a key, those in arrays have NULL.
 */
#ifndef SMC_TOOLS_JSON_H
#define SMC_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH	16

/**
 * struct json - a document under construction
 * @out: output file
 * @depth: number of open objects and arrays
 * @used: for each level, whether it has a value already
 *
 * The caller sets @out; all other fields start as zero.
 */
struct json {
	FILE	*out;
	int	depth;
	bool	used[JSON_DEPTH];
};

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_string(struct json *j, const char *key, const char *value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_float(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* A number in hexadecimal, as a string: "0x03010000" */
void json_hex(struct json *j, const char *key, uint64_t value, int digits);

#endif /* SMC_TOOLS_JSON_H */

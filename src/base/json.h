/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON piece by piece, without building a tree.  Commas, nesting and escaping are done
 * here; the caller decides what to write.
 *
 * Strings are bytes from strangers.  Control characters and bytes that are not UTF-8 are written
 * as the four characters \xNN (with the backslash escaped as JSON requires), so the document is
 * always valid UTF-8.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 32

struct json {
	FILE *out;
	int depth;
	bool after_key;
	bool one_line; /* no blanks, and one newline at the end: JSON lines */
	bool exact;    /* control characters as \u00NN, so that a reader gets them back */
	bool has_member[JSON_DEPTH];
};

struct json json_writer(FILE *out);
struct json json_line_writer(FILE *out);

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);
void json_key(struct json *json, const char *key);

void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
void json_difference(struct json *json, bool is_negative, uint64_t magnitude);
void json_double(struct json *json, double value);	      /* null when not finite */
void json_fixed(struct json *json, double value, int places); /* rounded; null when not finite */
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
void json_string(struct json *json, const char *string);
void json_raw(struct json *json, const char *value); /* a whole value, as it is */

/* A key and its value in one call; of an object or array, its begin. */
void json_member_object(struct json *json, const char *key);
void json_member_array(struct json *json, const char *key);
void json_member_u64(struct json *json, const char *key, uint64_t value);
void json_member_i64(struct json *json, const char *key, int64_t value);
void json_member_double(struct json *json, const char *key, double value);
void json_member_bool(struct json *json, const char *key, bool value);
void json_member_known(struct json *json, const char *key, bool is_known, uint64_t value);
void json_member_string(struct json *json, const char *key, const char *string);
void json_member_text(struct json *json, const char *key, const char *text); /* NULL: null */
void json_member_flag(struct json *json, const char *key, bool value); /* no key when false */
void json_member_nonzero(struct json *json, const char *key, uint64_t value); /* no key when 0 */
void json_member_given(struct json *json, const char *key, const char *string); /* NULL: no key */
void json_member_fixed(struct json *json, const char *key, double value, int places);
void json_member_strings(struct json *json, const char *key, const char *const *strings,
			 size_t count);

#endif

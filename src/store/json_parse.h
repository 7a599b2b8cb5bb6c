/* SPDX-License-Identifier: MIT */
/*
 * Parses untrusted JSON with jansson.  When memory runs out, jansson may abort
 * or silently cut a text short; json_parse() returns -ENOMEM instead.
 */
#ifndef STORE_JSON_PARSE_H
#define STORE_JSON_PARSE_H

#include <jansson.h>
#include <stddef.h>

/* Returns 0 and a value to release; -ENOMEM; or -EBADMSG, and *error says what is wrong. */
int json_parse(const char *bytes, size_t length, size_t flags, json_t **ret, json_error_t *error);

#endif

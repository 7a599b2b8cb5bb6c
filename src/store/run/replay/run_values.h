/* SPDX-License-Identifier: MIT */
/*
 * Gets values from untrusted JSON.  A value that is missing or of the wrong
 * type is absent: nothing here fails.
 */
#ifndef STORE_RUN_VALUES_H
#define STORE_RUN_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/tree/run.h"

/* The highest number that a wait status can have for a signal. */
#define SIGNAL_MAX 126

bool member_u64(const json_t *object, const char *key, uint64_t *ret);
bool member_i32(const json_t *object, const char *key, int32_t *ret);
bool member_flag(const json_t *object, const char *key); /* false when absent */
void member_number(const json_t *object, const char *key, struct run_number *ret);
void member_real(const json_t *object, const char *key, struct run_real *ret);
/*
 * Without the key *ret is untouched; otherwise it gets as much as fits, with
 * \xNN turned into the byte.
 */
void member_comm(const json_t *object, const char *key, char ret[TREE_COMM_SIZE]);
/* The same for any text. */
void member_bytes(const json_t *object, const char *key, char *ret, size_t size);
const char *member_text(const json_t *object, const char *key); /* NULL when absent */
/* Appends the words of an array, each with its NUL, as above. */
void member_words(const json_t *object, const char *key, struct text *ret);

/* A whole number that is not in an object. */
bool json_to_u64(const json_t *value, uint64_t *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of a smaps_rollup file, whatever its keys are called.
 *
 *	55cd3a000000-7ffd5a3fe000 ---p 00000000 00:00 0    [rollup]
 *	Rss:                1652 kB
 *	Pss_Dirty:           192 kB
 *
 * A value that is not in kB is not an amount of memory, and is left out.
 */
#ifndef COLLECT_SMAPS_PARSE_H
#define COLLECT_SMAPS_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMAPS_KEY_MAX 100 /* bytes; a longer one is left out */

struct smaps_value {
	const char *key; /* in the text */
	size_t key_length;
	uint64_t kib;
};

/* Finds the next value and moves the cursor behind it; false when there is none. */
bool smaps_next(const char **cursor, struct smaps_value *ret);

/* The sum of some keys, "A + B + C"; false when one of them is missing.  Saturates. */
bool smaps_sum(const char *text, const char *keys, uint64_t *ret_kib);

#endif

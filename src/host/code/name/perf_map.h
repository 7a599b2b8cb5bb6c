/* SPDX-License-Identifier: MIT */
/*
 * The functions that a JIT compiler made, as it lists them in a file /tmp/perf-PID.map: lines of
 * START SIZE NAME, the numbers in hexadecimal digits.
 *
 * The text comes from the process and may contain anything.  What is kept of it is bounded.  A
 * compiler may use memory again, so of two functions at an address the later line is right.
 */
#ifndef HOST_CODE_PERF_MAP_H
#define HOST_CODE_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/text.h"

/* Further lines are counted as lost. */
#define PERF_MAP_ENTRIES_MAX (1u << 18)
#define PERF_MAP_NAMES_MAX ((size_t)16 << 20) /* bytes */
#define PERF_MAP_NAME_MAX 1023		      /* bytes; a longer name is cut */

struct perf_map_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name; /* where it starts in `names`; grows from line to line */
};

/* All zeros is empty and valid. */
struct perf_map {
	ARRAY_OF(struct perf_map_entry) list;
	struct text names;
	size_t sorted; /* how many entries are in order */
	uint64_t lost;
};

void perf_map_clear(struct perf_map *map);

/* Adds the functions of all whole lines.  Returns how many bytes these have. */
size_t perf_map_parse(struct perf_map *map, const char *text, size_t length);

/*
 * The name of the function at an address, or NULL.  Valid until more is parsed.  Sorts what was
 * added since the last time.
 */
const char *perf_map_find(struct perf_map *map, uint64_t address);

#endif

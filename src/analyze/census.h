/* SPDX-License-Identifier: MIT */
/*
 * What a census tells those who group: names by the number of their class.
 *
 * A class is what has one key: the names of one pattern, the paths of one glob,
 * or one name that stays as it is.  Classes are numbered from 0 in each part of
 * the axis, and every side of a comparison has the same numbers.
 */
#ifndef ANALYZE_CENSUS_H
#define ANALYZE_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/axis.h"
#include "analyze/group.h"

/* A snapshot that a census has counted. */
struct counted {
	const struct snapshot *snapshot;
	uint32_t *class_of[AXIS_PARTS]; /* by identity; only of those that a task has */
};

/* NULL when it was not counted.  Valid until the next is counted. */
const struct counted *census_counted(const struct census *census, const struct snapshot *snapshot);

static inline uint32_t counted_class(const struct counted *counted, const struct axis *axis,
				     size_t part, uint32_t task)
{
	return counted->class_of[part][axis->parts[part]->identity(counted->snapshot, task)];
}

/* Numbers of a part are below this. */
size_t census_class_count(const struct census *census, size_t part);

/* The key of a class: its pattern, or its only name. */
const char *census_class_key(const struct census *census, size_t part, uint32_t class);

/* What it is called in any case: the pattern where names have one. */
const char *census_class_label(const struct census *census, size_t part, uint32_t class);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a census gives to the code that makes groups: for each name the number
 * of its class.
 *
 * A class is all names that have one key: the names of one pattern, the paths
 * of one glob, or one name that is kept as it is.  Classes are numbered from 0
 * in each part of the axis, and every side of a comparison uses the same
 * numbers.
 */
#ifndef ANALYZE_CENSUS_H
#define ANALYZE_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/group/axis.h"
#include "analyze/group/group.h"

struct compare_side;

/* Makes a census of all snapshots of both sides: see census_new(). */
int census_of_sides(enum group_axis axis, const struct grouping_options *options,
		    const struct compare_side *sides, struct census **ret);

/* A snapshot that a census has counted. */
struct counted {
	const struct snapshot *snapshot;
	uint32_t *class_of[AXIS_PARTS]; /* by identity; only of those that a task has */
};

/* NULL when the snapshot was not counted.  Valid until the next one is counted. */
const struct counted *census_counted(const struct census *census, const struct snapshot *snapshot);

static inline uint32_t counted_class(const struct counted *counted, const struct axis *axis,
				     size_t part, uint32_t task)
{
	return counted->class_of[part][axis->parts[part]->identity(counted->snapshot, task)];
}

/* Class numbers of the part are below this. */
size_t census_class_count(const struct census *census, size_t part);

/* The key of a class: its pattern, or its only name. */
const char *census_class_key(const struct census *census, size_t part, uint32_t class);

/* The name of a class in any case: its pattern, where names have one. */
const char *census_class_label(const struct census *census, size_t part, uint32_t class);

#endif

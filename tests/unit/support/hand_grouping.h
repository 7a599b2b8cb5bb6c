/* SPDX-License-Identifier: MIT */
/*
 * A grouping of one snapshot alone, with a census of its own.
 */
#ifndef HAND_GROUPING_H
#define HAND_GROUPING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/group/group.h"
#include "base/cleanup.h"

/* NULL options mean the defaults.  The snapshot must be finished. */
static inline struct grouping *hand_grouping(const struct snapshot *snapshot, enum group_axis axis,
					     const struct grouping_options *options)
{
	CLEANUP(census_free_pointer) struct census *census = NULL;
	struct grouping *grouping;

	assert_int_equal(census_new(axis, options, &census), 0);
	assert_int_equal(census_add(census, snapshot), 0);
	assert_int_equal(grouping_new(snapshot, axis, census, NULL, &grouping), 0);
	return grouping;
}

#endif

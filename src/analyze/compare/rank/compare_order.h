/* SPDX-License-Identifier: MIT */
/*
 * Orders a comparison's groups by the metrics that the user named.
 *
 *	struct compare_order order = { 0 };
 *	compare_order_init(&order, &spec, &before, &after, &options, &error);
 *	comparison_new(&before, &after, &options, &comparison, &error);
 *	compare_order_clear(&order);
 *
 * The named metrics are compared in a comparison of their own, with all
 * groups.  So a limit on rows keeps the rows of the first groups, whichever
 * metrics these rows have.
 */
#ifndef ANALYZE_COMPARE_ORDER_H
#define ANALYZE_COMPARE_ORDER_H

#include "analyze/compare/comparison.h"
#include "analyze/group/sort_spec.h"

struct error;

struct compare_order {
	struct comparison *comparison; /* of the named metrics; its groups have the same numbers */
	uint32_t *places;	       /* by group */
};

/*
 * Uses the sides, mode, axis and grouping of the options, and makes them order
 * rows by it: the order must outlive their use.  0, or an error with a sentence.
 */
int compare_order_init(struct compare_order *order, const struct sort_spec *spec,
		       const struct compare_side *before, const struct compare_side *after,
		       struct compare_options *options, struct error *error);
void compare_order_clear(struct compare_order *order);

/*
 * Gives each group its place, by the signed change of the named metrics: groups
 * without a known change come last in either direction, equal ones are ordered
 * by key.  A group without a row has no place: UINT32_MAX.  0 or -ENOMEM.
 */
int compare_order_places(const struct sort_spec *spec, const struct comparison *comparison,
			 uint32_t *ret);

#endif

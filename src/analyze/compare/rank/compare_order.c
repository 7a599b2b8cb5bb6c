/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rank/compare_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/compare_sections.h"
#include "base/cleanup.h"
#include "base/error.h"

static struct compare_options only_named(const struct compare_options *options,
					 const struct sort_spec *spec)
{
	struct compare_options named = *options;

	named.metrics.count = 0;
	for (size_t i = 0; i < spec->count; i++)
		selection_add(&named.metrics, spec->keys[i].metric);
	named.sections = METRIC_COMPARE_SECTIONS;
	named.metrics_only = true;
	named.limit = 0;
	named.unchanged = true;
	named.place_count = 0;
	return named;
}

/* A group's sort key: one difference for each metric. */
struct rank {
	const struct comparison *comparison;
	const struct sort_spec *spec;
	uint32_t group;
	const struct difference *const *differences; /* NULL or not known: last */
};

static int compare_reals(double a, double b)
{
	return (a > b) - (a < b);
}

/* Whole differences are compared exactly: a double keeps only the leading digits of large ones. */
static int compare_differences(const struct difference *a, const struct difference *b)
{
	bool a_below = a->is_negative && a->magnitude, b_below = b->is_negative && b->magnitude;
	int order;

	if (a->is_real || b->is_real)
		return compare_reals(a->real, b->real);
	if (a_below != b_below)
		return a_below ? -1 : 1;
	order = (a->magnitude > b->magnitude) - (a->magnitude < b->magnitude);
	return a_below ? -order : order;
}

static int compare_by_key(const struct difference *a, const struct difference *b, bool ascending)
{
	bool a_known = a && a->known, b_known = b && b->known;
	int order;

	if (a_known != b_known)
		return a_known ? -1 : 1;
	if (!a_known)
		return 0;
	order = compare_differences(a, b);
	return ascending ? order : -order;
}

static int compare_ranks(const void *first, const void *second)
{
	const struct rank *a = first, *b = second;
	int order = 0;

	for (size_t i = 0; order == 0 && i < a->spec->count; i++)
		order = compare_by_key(a->differences[i], b->differences[i],
				       a->spec->keys[i].ascending);
	if (order == 0)
		order = strcmp(a->comparison->groups.data[a->group].key,
			       a->comparison->groups.data[b->group].key);
	return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* Collects the rows of the named metrics, spec->count for each group. */
static void find_differences(const struct comparison *comparison, const struct sort_spec *spec,
			     const struct difference **ret)
{
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		for (size_t k = 0; k < spec->count; k++)
			if (row->metric == &metrics[spec->keys[k].metric])
				ret[row->group * spec->count + k] = &row->delta;
	}
}

static bool has_row(const struct rank *rank)
{
	for (size_t i = 0; i < rank->spec->count; i++)
		if (rank->differences[i])
			return true;
	return false;
}

int compare_order_places(const struct sort_spec *spec, const struct comparison *comparison,
			 uint32_t *ret)
{
	size_t groups = comparison->groups.count;
	CLEANUP(free_pointer) struct rank *ranks = calloc(groups + 1, sizeof(*ranks));
	CLEANUP(free_pointer)
	const struct difference **differences =
		calloc(groups * spec->count + 1, sizeof(*differences));

	if (!ranks || !differences)
		return -ENOMEM;
	find_differences(comparison, spec, differences);
	for (size_t i = 0; i < groups; i++)
		ranks[i] = (struct rank){ comparison, spec, (uint32_t)i,
					  differences + i * spec->count };
	qsort(ranks, groups, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < groups; i++)
		ret[ranks[i].group] = has_row(&ranks[i]) ? (uint32_t)i : UINT32_MAX;
	return 0;
}

int compare_order_init(struct compare_order *order, const struct sort_spec *spec,
		       const struct compare_side *before, const struct compare_side *after,
		       struct compare_options *options, struct error *error)
{
	struct compare_options named = only_named(options, spec);
	int status = comparison_new(before, after, &named, &order->comparison, error);

	if (status < 0)
		return status;
	order->places = malloc((order->comparison->groups.count + 1) * sizeof(*order->places));
	if (!order->places || compare_order_places(spec, order->comparison, order->places) < 0)
		return error_set(error, -ENOMEM, "cannot order the groups: out of memory");
	options->places = order->places;
	options->place_count = order->comparison->groups.count;
	options->like = order->comparison;
	return 0;
}

void compare_order_clear(struct compare_order *order)
{
	comparison_free(order->comparison);
	free(order->places);
	*order = (struct compare_order){ 0 };
}

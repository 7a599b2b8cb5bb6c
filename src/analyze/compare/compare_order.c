/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_order.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/compare/compare_rank.h"
#include "analyze/compare/compare_sections.h"
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

/* Rows are in the order of their groups; groups without rows come last. */
static int find_places(struct compare_order *order)
{
	const struct comparison *comparison = order->comparison;
	uint32_t next = 0;

	order->count = comparison->groups.count;
	order->places = malloc((order->count + 1) * sizeof(*order->places));
	if (!order->places)
		return -ENOMEM;
	for (size_t i = 0; i < order->count; i++)
		order->places[i] = UINT32_MAX;
	for (size_t i = 0; i < comparison->rows.count; i++) {
		uint32_t group = comparison->rows.data[i].group;

		if (order->places[group] == UINT32_MAX)
			order->places[group] = next++;
	}
	return 0;
}

int compare_order_init(struct compare_order *order, const struct sort_spec *spec,
		       const struct compare_side *before, const struct compare_side *after,
		       const struct compare_options *options, struct error *error)
{
	struct compare_options named = only_named(options, spec);
	int status = comparison_new(before, after, &named, &order->comparison, error);

	if (status < 0)
		return status;
	status = sort_spec_apply(spec, order->comparison);
	if (status == 0)
		status = find_places(order);
	return status < 0 ? error_set(error, status, "cannot order the groups: out of memory") : 0;
}

void compare_order_clear(struct compare_order *order)
{
	comparison_free(order->comparison);
	free(order->places);
	*order = (struct compare_order){ 0 };
}

struct context {
	const struct compare_order *order;
	const struct comparison *comparison;
};

static uint32_t place_of(const struct compare_order *order, const struct comparison_row *row)
{
	return row->group < order->count ? order->places[row->group] : UINT32_MAX;
}

static int compare_rows(const void *first, const void *second, void *argument)
{
	const struct comparison_row *a = first, *b = second;
	const struct context *context = argument;
	uint32_t place_a = place_of(context->order, a), place_b = place_of(context->order, b);

	if (place_a != place_b)
		return place_a < place_b ? -1 : 1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return rank_tie(context->comparison, a, b);
}

void compare_order_apply(const struct compare_order *order, struct comparison *comparison)
{
	struct context context = { order, comparison };

	if (comparison->rows.count)
		qsort_r(comparison->rows.data, comparison->rows.count,
			sizeof(*comparison->rows.data), compare_rows, &context);
}

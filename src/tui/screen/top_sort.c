/* SPDX-License-Identifier: MIT */
/* What keys and clicks do to the order of rows. */
#include "metric/metric.h"
#include "tui/screen/top_state.h"

static struct group_sort by_metric(enum metric_id metric)
{
	return (struct group_sort){ .by = ORDER_METRIC, .metric = metric };
}

struct group_sort top_current_sort(const struct top *top)
{
	return top->choice.sorting.count ? top->choice.sorting.keys[0] :
					   by_metric(METRIC_run_time_ns);
}

bool top_is_sorted_by(const struct top *top, const struct group_sort *sort)
{
	struct group_sort current = top_current_sort(top);

	return current.by == sort->by &&
	       (sort->by != ORDER_METRIC || current.metric == sort->metric);
}

void top_sort_by(struct top *top, struct group_sort sort)
{
	top->choice.sorting = (struct group_sorting){ .keys = { sort }, .count = 1 };
	top_arrange(top);
	top_save(top);
}

static void invert(struct top *top)
{
	struct group_sort sort = top_current_sort(top);

	sort.ascending = !sort.ascending;
	top_sort_by(top, sort);
}

void top_sort_by_title(struct top *top, struct group_sort sort)
{
	if (sort.by == ORDER_METRIC && metrics[sort.metric].kind == KIND_CATEGORY)
		top_say(top, false, "%s are words, which have no order", metrics[sort.metric].name);
	else if (top_is_sorted_by(top, &sort))
		invert(top);
	else
		top_sort_by(top, sort);
}

/* The next shown metric with numbers, in that direction. */
static void sort_beside(struct top *top, int direction)
{
	const struct selection *shown = &top->choice.metrics;
	struct group_sort sort = top_current_sort(top);
	size_t at = 0;

	while (at < shown->count && (sort.by != ORDER_METRIC || shown->ids[at] != sort.metric))
		at++;
	if (at == shown->count)
		at = direction > 0 ? at - 1 : 0;
	for (size_t i = 1; i <= shown->count; i++) {
		size_t next =
			(at + (direction > 0 ? i : shown->count - i % shown->count)) % shown->count;

		if (metrics[shown->ids[next]].kind != KIND_CATEGORY) {
			top_sort_by(top, by_metric(shown->ids[next]));
			return;
		}
	}
}

void top_press_to_sort(struct top *top, int key)
{
	switch (key) {
	case KEY_OF_SORT_LEFT:
		sort_beside(top, -1);
		break;
	case KEY_OF_SORT_RIGHT:
		sort_beside(top, 1);
		break;
	case KEY_OF_INVERT:
		invert(top);
		break;
	case KEY_OF_SORT_CPU:
		top_sort_by(top, by_metric(METRIC_run_time_ns));
		break;
	case KEY_OF_SORT_MEMORY:
		top_sort_by(top, by_metric(METRIC_rss_bytes));
		break;
	default:
		break;
	}
}

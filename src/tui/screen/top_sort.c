/* SPDX-License-Identifier: MIT */
/* What keys do to the order of rows. */
#include "metric/metric.h"
#include "tui/screen/top_state.h"

static struct group_sort current_sort(const struct top *top)
{
	const struct group_sort usual = { .by = ORDER_METRIC, .metric = METRIC_run_time_ns };

	return top->choice.sorting.count ? top->choice.sorting.keys[0] : usual;
}

static void sort_by(struct top *top, struct group_sort sort)
{
	top->choice.sorting = (struct group_sorting){ .keys = { sort }, .count = 1 };
	top_arrange(top);
	top_save(top);
}

static void sort_by_metric(struct top *top, enum metric_id metric)
{
	sort_by(top, (struct group_sort){ .by = ORDER_METRIC, .metric = metric });
}

/* The next shown metric with numbers, in that direction. */
static void sort_beside(struct top *top, int direction)
{
	const struct selection *shown = &top->choice.metrics;
	struct group_sort sort = current_sort(top);
	size_t at = 0;

	while (at < shown->count && shown->ids[at] != sort.metric)
		at++;
	for (size_t i = 1; i <= shown->count; i++) {
		size_t next =
			(at + (direction > 0 ? i : shown->count - i % shown->count)) % shown->count;

		if (metrics[shown->ids[next]].kind != KIND_CATEGORY) {
			sort_by_metric(top, shown->ids[next]);
			return;
		}
	}
}

void top_press_to_sort(struct top *top, int key)
{
	struct group_sort sort = current_sort(top);

	switch (key) {
	case KEY_OF_SORT:
		top_menu_open(top, MENU_SORT);
		break;
	case KEY_OF_SORT_LEFT:
		sort_beside(top, -1);
		break;
	case KEY_OF_SORT_RIGHT:
		sort_beside(top, 1);
		break;
	case KEY_OF_INVERT:
		sort.ascending = !sort.ascending;
		sort_by(top, sort);
		break;
	case KEY_OF_SORT_CPU:
		sort_by_metric(top, METRIC_run_time_ns);
		break;
	case KEY_OF_SORT_MEMORY:
		sort_by_metric(top, METRIC_rss_bytes);
		break;
	default:
		break;
	}
}

/* SPDX-License-Identifier: MIT */
#include "analyze/group/group_sorting.h"

#include <errno.h>
#include <string.h>

#include "analyze/group/selection.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "metric/metric.h"

/* Orders by something else than a metric, and which way they go unless a person says otherwise. */
static const struct {
	const char *word;
	bool ascending;
} orders[GROUP_ORDER_COUNT] = {
	[ORDER_TASKS] = { "tasks", false },
	[ORDER_KEY] = { "group", true },
	[ORDER_PID] = { "pid", true },
};

const char *group_sort_word(const struct group_sort *sort)
{
	return sort->by == ORDER_METRIC ? metrics[sort->metric].name : orders[sort->by].word;
}

struct group_sort group_sort_by(enum group_order order)
{
	return (struct group_sort){ .by = order, .ascending = orders[order].ascending };
}

static int parse_order(const char *word, struct group_sort *sort, struct error *error)
{
	if (strcmp(word, "asc") == 0)
		sort->ascending = true;
	else if (strcmp(word, "desc") == 0)
		sort->ascending = false;
	else
		return error_set(error, -EINVAL, "-s takes METRIC:asc or METRIC:desc, not ':%s'",
				 word);
	return 0;
}

static int parse_sort_metric(const char *name, struct group_sort *sort, struct error *error)
{
	int id = metric_find(name);

	if (id < 0)
		return metric_unknown(name, "group|tasks|pid", error);
	if (metrics[id].kind == KIND_CATEGORY)
		return error_set(error, -EINVAL,
				 "cannot sort by %s: its values are words, not numbers", name);
	sort->by = ORDER_METRIC;
	sort->metric = id;
	return 0;
}

/* METRIC, tasks, group or pid, and the direction; by default names and numbers ascend. */
static int parse_key(const char *spec, struct group_sort *ret, struct error *error)
{
	struct group_sort sort = { .by = ORDER_METRIC };
	bool is_order = false;
	size_t length = strcspn(spec, ":");
	char name[64] = "";
	int status = 0;

	if (length >= sizeof(name))
		return metric_unknown(spec, "", error);
	memcpy(name, spec, length);
	for (int order = 0; order < GROUP_ORDER_COUNT && !is_order; order++) {
		is_order = orders[order].word && strcmp(name, orders[order].word) == 0;
		if (is_order)
			sort = group_sort_by((enum group_order)order);
	}
	if (!is_order)
		status = parse_sort_metric(name, &sort, error);
	if (status == 0 && spec[length])
		status = parse_order(spec + length + 1, &sort, error);
	if (status < 0)
		return status;
	*ret = sort;
	return 0;
}

int group_sorting_parse(const char *list, struct group_sorting *ret, struct error *error)
{
	CLEANUP(text_free) struct text key = { 0 };
	int status = 0;

	for (const char *at = list; at && status == 0;
	     at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (ret->count == SORT_KEYS_MAX)
			return error_set(error, -EINVAL, "-s takes at most %d keys", SORT_KEYS_MAX);
		text_clear(&key);
		text_append(&key, at, strcspn(at, ","));
		status = key.failed ? error_set(error, -ENOMEM, "out of memory") :
				      parse_key(text_string(&key), &ret->keys[ret->count++], error);
	}
	return status;
}

int group_sorting_apply(const struct group_sorting *sort, const struct group_sort *usual,
			struct grouping *grouping)
{
	int status = 0;

	if (!sort->count)
		return grouping_sort(grouping, usual);
	for (size_t i = sort->count; i-- > 0 && status == 0;) {
		struct group_sort key = sort->keys[i];

		key.keeps_order = i + 1 < sort->count;
		status = grouping_sort(grouping, &key);
	}
	return status;
}

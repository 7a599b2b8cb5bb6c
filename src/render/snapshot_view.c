#include "render/snapshot_view.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/snapshot.h"

static const char *const column_names[COLUMN_COUNT] = {
	[COLUMN_GROUP] = "group",	  [COLUMN_TASKS] = "tasks",
	[COLUMN_PROCESSES] = "processes", [COLUMN_UPTIME] = "uptime",
	[COLUMN_METRIC] = "metric",	  [COLUMN_VALUE] = "value",
	[COLUMN_MEASURED] = "measured",	  [COLUMN_UNIT] = "unit",
	[COLUMN_TAGS] = "tags",
};

const char *view_column_name(enum view_column column)
{
	return column_names[column];
}

static int find_column(const char *name, size_t length)
{
	for (int column = 0; column < COLUMN_COUNT; column++)
		if (strlen(column_names[column]) == length &&
		    strncmp(column_names[column], name, length) == 0)
			return column;
	return -1;
}

static int add_column(struct view_columns *columns, const char *name, size_t length,
		      struct error *error)
{
	int column = find_column(name, length);

	if (column < 0)
		return error_set(error, -EINVAL, "there is no column '%.*s'; columns are %s",
				 (int)length, name, VIEW_COLUMNS);
	for (size_t i = 0; i < columns->count; i++)
		if ((int)columns->ids[i] == column)
			return error_set(error, -EINVAL, "column '%.*s' is named twice",
					 (int)length, name);
	columns->ids[columns->count++] = column;
	columns->is_long |= column >= COLUMN_METRIC;
	return 0;
}

int view_columns_parse(const char *list, struct view_columns *ret, struct error *error)
{
	struct view_columns columns = { .count = 0 };

	while (list) {
		size_t length = strcspn(list, ",");
		int status = add_column(&columns, list, length, error);

		if (status < 0)
			return status;
		list = list[length] ? list + length + 1 : NULL;
	}
	*ret = columns;
	return 0;
}

size_t view_shown(const struct snapshot_view *view)
{
	size_t groups = view->grouping->group_count;

	return view->limit && view->limit < groups ? view->limit : groups;
}

bool view_age(const struct snapshot_view *view, const struct group *group, uint64_t *ret_ns)
{
	const struct fact *now = &view->grouping->snapshot->facts[FACT_boottime_ns];
	uint64_t start = group_oldest(view->grouping, group);

	if (!now->present || group->tasks == 0)
		return false;
	*ret_ns = now->number > start ? now->number - start : 0;
	return true;
}

void metric_tags(struct text *out, const struct metric *metric)
{
	const char *class = metric_class_name(metric->class);
	const char *gates = metric_gate_name(metric->gate);

	if (class[0])
		text_format(out, "[%s]", class);
	while (*gates) {
		size_t length = strcspn(gates, " ");

		text_format(out, "%s[%.*s]", out->length ? " " : "", (int)length, gates);
		gates += length + strspn(gates + length, " ");
	}
}

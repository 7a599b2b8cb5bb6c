/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"

static const char *const column_names[COLUMN_COUNT] = {
	[COLUMN_GROUP] = "group",	  [COLUMN_TASKS] = "tasks",
	[COLUMN_PROCESSES] = "processes", [COLUMN_UPTIME] = "uptime",
	[COLUMN_SCOPE] = "scope",	  [COLUMN_METRIC] = "metric",
	[COLUMN_VALUE] = "value",	  [COLUMN_MEASURED] = "measured",
	[COLUMN_UNIT] = "unit",		  [COLUMN_TAGS] = "tags",
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

static int unknown_column(const char *name, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	suggest_list(&suggestion, VIEW_COLUMNS);
	return error_set(error, -EINVAL, "there is no column '%.*s'; %s", (int)length, name,
			 suggestion_hint(&suggestion, "", "columns are " VIEW_COLUMNS));
}

static int add_column(struct view_columns *columns, const char *name, size_t length,
		      struct error *error)
{
	int column = find_column(name, length);

	if (column < 0)
		return unknown_column(name, length, error);
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

const struct view_columns *view_columns(const struct snapshot_view *view)
{
	static const struct view_columns wide = {
		.ids = { COLUMN_GROUP, COLUMN_TASKS },
		.count = 2,
	};

	return view->columns.count ? &view->columns : &wide;
}

/* Whether any thread of a shown group is known to be in a scope. */
static bool shows_scopes(const struct snapshot_view *view)
{
	const struct grouping *grouping = view->grouping;

	for (size_t i = 0; i < view_shown(view); i++) {
		const struct group *group = &grouping->groups[i];

		for (uint32_t task = 0; task < group->tasks; task++)
			if (grouping->snapshot->tasks[grouping->rows[group->first + task]].scope)
				return true;
	}
	return false;
}

const struct view_columns *view_columns_for_people(const struct snapshot_view *view)
{
	static const struct view_columns with_scope = {
		.ids = { COLUMN_GROUP, COLUMN_TASKS, COLUMN_SCOPE },
		.count = 3,
	};
	bool is_wanted = !view->columns.count && view->grouping->axis != AXIS_SCOPE;

	return is_wanted && shows_scopes(view) ? &with_scope : view_columns(view);
}

/* A text that may be empty, which is not the same as absent. */
static void put_text(struct table *table, const char *text)
{
	text_append_string(put_begin(table), text);
	put_end(table);
}

static void put_age(struct table *table, const struct snapshot_view *view,
		    const struct group *group)
{
	uint64_t age;

	if (view_age(view, group, &age))
		put_amount(table, UNIT_NS, age);
	else
		put_absent(table, NULL);
}

/* The scope that says most about a group, and whether its threads are in others too. */
struct group_scope {
	uint32_t row, label; /* of its task; 0: no thread is in a scope */
	uint64_t age;
	bool has_others;
};

static struct group_scope find_scope(const struct grouping *grouping, const struct group *group)
{
	const struct snapshot *snapshot = grouping->snapshot;
	struct group_scope found = { 0 };

	for (uint32_t i = 0; i < group->tasks; i++) {
		uint32_t row = grouping->rows[group->first + i];
		uint32_t label = snapshot->tasks[row].scope;
		uint64_t age = 0;

		if (!label)
			continue;
		(void)snapshot_get(snapshot, METRIC_scope_age_ns, row, &age);
		found.has_others |= found.label && found.label != label;
		if (!found.label || age > found.age) {
			found.row = row;
			found.label = label;
			found.age = age;
		}
	}
	return found;
}

/* " (58.0s, 412/1000)": as much of it as is known. */
static void append_progress(struct text *out, const struct snapshot *snapshot, uint32_t row)
{
	uint64_t age, count, total;

	if (!snapshot_get(snapshot, METRIC_scope_age_ns, row, &age))
		return;
	text_append_string(out, " (");
	unit_format(out, UNIT_NS, age);
	if (snapshot_get(snapshot, METRIC_scope_count, row, &count)) {
		text_format(out, ", %" PRIu64 "/", count);
		if (snapshot_get(snapshot, METRIC_scope_total, row, &total))
			text_format(out, "%" PRIu64, total);
		else
			text_append_string(out, "?");
	}
	text_append_string(out, ")");
}

static void put_scope(struct table *table, const struct snapshot_view *view,
		      const struct group *group, enum view_reader reader)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	struct group_scope scope = find_scope(view->grouping, group);
	struct text *cell = put_begin(table);

	if (!scope.label) {
		put_absent(table, NULL);
		return;
	}
	text_append_string(cell, snapshot_text(snapshot, scope.label));
	if (reader == FOR_PEOPLE) {
		append_progress(cell, snapshot, scope.row);
		text_append_string(cell, scope.has_others ? ", …" : "");
	}
	put_end(table);
}

static void put_group(struct table *table, const struct snapshot_view *view,
		      const struct group *group, enum view_column column, enum view_reader reader)
{
	switch (column) {
	case COLUMN_GROUP:
		put_text(table, group->key[0] || reader == FOR_PROGRAMS ? group->key : "(none)");
		break;
	case COLUMN_TASKS:
		put_amount(table, UNIT_LEVEL,
			   group_count(view->grouping, group, METRIC_thread_count));
		break;
	case COLUMN_PROCESSES:
		put_amount(table, UNIT_LEVEL,
			   group_count(view->grouping, group, METRIC_process_count));
		break;
	case COLUMN_UPTIME:
		put_age(table, view, group);
		break;
	default:
		put_scope(table, view, group, reader);
		break;
	}
}

static void put_tags(struct table *table, const struct metric *metric)
{
	CLEANUP(text_free) struct text tags = { 0 };

	metric_tags(&tags, metric);
	put_text(table, text_string(&tags));
}

static void put_metric(struct table *table, const struct fold *fold, enum view_column column,
		       enum view_reader reader)
{
	switch (column) {
	case COLUMN_METRIC:
		put_text(table, fold->metric->name);
		break;
	case COLUMN_VALUE:
		put_fold(table, fold);
		break;
	case COLUMN_MEASURED:
		text_format(put_begin(table), "%" PRIu32, fold->measured);
		if (reader == FOR_PEOPLE)
			text_format(put_begin(table), "/%" PRIu32, fold->population);
		put_end(table);
		break;
	case COLUMN_UNIT:
		put_text(table, metric_unit_name(fold->metric->unit));
		break;
	default:
		put_tags(table, fold->metric);
		break;
	}
}

void view_put(struct table *table, const struct snapshot_view *view, const struct group *group,
	      const struct fold *fold, enum view_column column, enum view_reader reader)
{
	if (column < COLUMN_METRIC)
		put_group(table, view, group, column, reader);
	else
		put_metric(table, fold, column, reader);
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

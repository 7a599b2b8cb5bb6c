/* SPDX-License-Identifier: MIT */
#include "render/snapshot_view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/snapshot.h"
#include "render/value.h"

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

/* Whether any thread of a group that is shown is known to be in a scope. */
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

static void append_key(struct text *out, const char *key, enum cell_style style)
{
	if (style == CELL_RAW)
		csv_append(out, key);
	else if (key[0])
		text_append_escaped(out, key, strlen(key));
	else
		text_append_string(out, "(none)");
}

static void append_age(struct text *out, const struct snapshot_view *view,
		       const struct group *group, enum cell_style style)
{
	uint64_t age;
	bool known = view_age(view, group, &age);

	if (known && style == CELL_RAW)
		text_format(out, "%" PRIu64, age);
	else if (known)
		age_text(out, age);
	else if (style == CELL_SCALED)
		text_append_string(out, "-");
}

/* The scope that tells most of a group, and whether its threads are in others too. */
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
	age_text(out, age);
	if (snapshot_get(snapshot, METRIC_scope_count, row, &count)) {
		text_format(out, ", %" PRIu64 "/", count);
		if (snapshot_get(snapshot, METRIC_scope_total, row, &total))
			text_format(out, "%" PRIu64, total);
		else
			text_append_string(out, "?");
	}
	text_append_string(out, ")");
}

static void append_scope(struct text *out, const struct snapshot_view *view,
			 const struct group *group, enum cell_style style)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	struct group_scope scope = find_scope(view->grouping, group);
	const char *label = snapshot_text(snapshot, scope.label);

	if (style == CELL_RAW) {
		csv_append(out, label);
	} else if (!scope.label) {
		text_append_string(out, "-");
	} else {
		text_append_escaped(out, label, strlen(label));
		append_progress(out, snapshot, scope.row);
		text_append_string(out, scope.has_others ? ", …" : "");
	}
}

void view_group_cell(struct text *out, const struct snapshot_view *view, const struct group *group,
		     enum view_column column, enum cell_style style)
{
	switch (column) {
	case COLUMN_GROUP:
		append_key(out, group->key, style);
		break;
	case COLUMN_TASKS:
		text_format(out, "%" PRIu32, group->tasks);
		break;
	case COLUMN_PROCESSES:
		text_format(out, "%" PRIu32, group->processes);
		break;
	case COLUMN_UPTIME:
		append_age(out, view, group, style);
		break;
	case COLUMN_SCOPE:
		append_scope(out, view, group, style);
		break;
	default:
		break;
	}
}

static void append_tags(struct text *out, const struct metric *metric)
{
	CLEANUP(text_free) struct text tags = { 0 };

	metric_tags(&tags, metric);
	text_append_string(out, text_string(&tags));
}

static void append_metric_cell(struct text *out, const struct snapshot *snapshot,
			       const struct fold *fold, enum view_column column,
			       enum cell_style style)
{
	switch (column) {
	case COLUMN_METRIC:
		text_append_string(out, fold->metric->name);
		break;
	case COLUMN_VALUE:
		(style == CELL_RAW ? value_csv : value_text)(out, snapshot, fold);
		break;
	case COLUMN_MEASURED:
		text_format(out, "%" PRIu32, fold->measured);
		if (style == CELL_SCALED)
			text_format(out, "/%" PRIu32, fold->population);
		break;
	case COLUMN_UNIT:
		text_append_string(out, metric_unit_name(fold->metric->unit));
		break;
	case COLUMN_TAGS:
		append_tags(out, fold->metric);
		break;
	default:
		break;
	}
}

void view_cell(struct text *out, const struct snapshot_view *view, const struct group *group,
	       const struct fold *fold, enum view_column column, enum cell_style style)
{
	if (column < COLUMN_METRIC)
		view_group_cell(out, view, group, column, style);
	else
		append_metric_cell(out, view->grouping->snapshot, fold, column, style);
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

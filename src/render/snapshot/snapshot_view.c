/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "metric/fold.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"

static const struct table_column all_columns[COLUMN_COUNT] = {
	[COLUMN_GROUP] = { "group", TABLE_NAME, .id = "group" },
	[COLUMN_TASKS] = { "tasks", TABLE_RIGHT, .id = "tasks" },
	[COLUMN_PROCESSES] = { "procs", TABLE_RIGHT, .id = "processes" },
	[COLUMN_UPTIME] = { "uptime", TABLE_RIGHT, .id = "uptime", .unit = UNIT_NS },
	[COLUMN_SCOPE] = { "scope", TABLE_LEFT, .id = "scope" },
	[COLUMN_METRIC] = { "metric", TABLE_LEFT, .id = "metric" },
	[COLUMN_VALUE] = { "value", TABLE_RIGHT, .id = "value" },
	[COLUMN_MEASURED] = { "measured", TABLE_RIGHT, .id = "measured" },
	[COLUMN_UNIT] = { "unit", TABLE_LEFT, .id = "unit" },
	[COLUMN_TAGS] = { "tags", TABLE_LEFT, .id = "tags" },
};

static const char *column_name(size_t column)
{
	return all_columns[column].id;
}

int view_columns_parse(const char *list, struct column_list *ret, struct error *error)
{
	static const struct column_names names = { VIEW_COLUMNS, COLUMN_COUNT, column_name };

	return column_list_parse(&list, &names, ret, error);
}

size_t view_shown(const struct snapshot_view *view)
{
	size_t groups = view->grouping->group_count;

	if (view->labels)
		return view->lines;
	return view->limit && view->limit < groups ? view->limit : groups;
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

static struct column_list choose_columns(const struct snapshot_view *view, bool is_for_people)
{
	struct column_list wide = { .ids = { COLUMN_GROUP, COLUMN_TASKS }, .count = 2 };
	bool is_by_task =
		view->grouping->axis == AXIS_THREAD || view->grouping->axis == AXIS_PROCESS;

	if (view->columns.count)
		return view->columns;
	if (is_for_people && view->grouping->axis != AXIS_SCOPE && shows_scopes(view))
		wide.ids[wide.count++] = COLUMN_SCOPE;
	/* People want to know how many processes a run had. */
	if (is_for_people && snapshot_is_run(view->grouping->snapshot) && !is_by_task)
		wide.ids[1] = COLUMN_PROCESSES;
	return wide;
}

/* The age of its oldest task; absent when the snapshot has no clock. */
static void put_age(struct table *table, const struct snapshot_view *view,
		    const struct group *group)
{
	const struct fact *now = &view->grouping->snapshot->facts[FACT_boottime_ns];
	uint64_t start = group_oldest(view->grouping, group);

	put_known(table, now->present && group->tasks,
		  now->number > start ? now->number - start : 0);
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
		      const struct group *group)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	struct group_scope scope = find_scope(view->grouping, group);
	struct text *cell = put_begin(table);

	if (!scope.label) {
		put_absent(table, NULL);
		return;
	}
	text_append_string(cell, snapshot_text(snapshot, scope.label));
	if (table_is_for_people(table)) {
		append_progress(cell, snapshot, scope.row);
		text_append_string(cell, scope.has_others ? ", …" : "");
	}
	put_end(table);
}

/* People see a process a little to the right of the one that started it. */
static void put_name(struct table *table, const struct snapshot_view *view,
		     const struct group *group)
{
	static const uint32_t deepest = 20;
	bool is_for_people = table_is_for_people(table);
	size_t number = (size_t)(group - view->grouping->groups);
	const char *name = view->labels ? view->labels[number] : group->key;
	uint32_t depth = 0;

	if (is_for_people && view->depths)
		depth = view->depths[number];
	text_format(put_begin(table), "%*s", (int)(2 * (depth < deepest ? depth : deepest)), "");
	text_append_string(put_begin(table), name[0] || !is_for_people ? name : "(none)");
	put_end(table);
}

static void put_group(struct table *table, const struct snapshot_view *view,
		      const struct group *group, enum view_column column)
{
	switch (column) {
	case COLUMN_GROUP:
		put_name(table, view, group);
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
		put_scope(table, view, group);
		break;
	}
}

static bool is_rate(const struct snapshot_view *view, const struct metric *metric)
{
	return view->grouping->snapshot->interval_ns &&
	       (metric->kind == KIND_COUNTER ||
		(metric->formula.count && formula_is_whole(&metric->formula)));
}

/* People read time on a CPU, and time waiting for one, in a second as percent.  NULL: not so. */
static const char *percent_title(const struct snapshot_view *view, const struct metric *metric)
{
	if (!is_rate(view, metric))
		return NULL;
	return metric == &metrics[METRIC_run_time_ns]  ? "%cpu" :
	       metric == &metrics[METRIC_wait_time_ns] ? "%wait" :
							 NULL;
}

void view_put_fold(struct table *table, const struct snapshot_view *view, const struct fold *fold)
{
	double seconds = (double)view->grouping->snapshot->interval_ns / 1e9;
	struct cell cell = { .kind = TABLE_CELL_REAL,
			     .unit = fold->metric->unit,
			     .is_rate = true,
			     .measured = fold->measured,
			     .population = fold->population };

	if (!is_rate(view, fold->metric) || fold->shape == SHAPE_ABSENT) {
		put_fold(table, fold);
		return;
	}
	cell.real = (fold->shape == SHAPE_REAL ? fold->real : (double)fold->number) / seconds;
	if (table_is_for_people(table) && percent_title(view, fold->metric)) {
		cell.kind = TABLE_CELL_SHARE;
		cell.is_rate = false;
		cell.real /= 1e9;
	}
	put_cell(table, cell);
}

static void put_metric(struct table *table, const struct snapshot_view *view,
		       const struct fold *fold, enum view_column column)
{
	switch (column) {
	case COLUMN_METRIC:
		put_text(table, fold->metric->name);
		break;
	case COLUMN_VALUE:
		view_put_fold(table, view, fold);
		break;
	case COLUMN_MEASURED:
		text_format(put_begin(table), "%" PRIu32, fold->measured);
		if (table_is_for_people(table))
			text_format(put_begin(table), "/%" PRIu32, fold->population);
		put_end(table);
		break;
	case COLUMN_UNIT:
		put_text(table, metric_unit_name(fold->metric->unit));
		break;
	default:
		metric_tags(put_begin(table), fold->metric);
		put_end(table);
		break;
	}
}

static enum table_alignment metric_alignment(const struct metric *metric)
{
	return metric->fold == FOLD_MODE || metric->fold == FOLD_CPUSET ? TABLE_LEFT : TABLE_RIGHT;
}

void view_add_metrics(struct table *table, const struct snapshot_view *view,
		      const struct selection *selected)
{
	for (size_t i = 0; i < selected->count; i++) {
		const struct metric *metric = &metrics[selected->ids[i]];
		const char *percent = percent_title(view, metric);

		table_add_column(table,
				 (struct table_column){
					 .title = percent ? percent : metric->name,
					 .alignment = metric_alignment(metric),
					 .priority = view->may_leave_out ? i : 0,
					 .id = metric->name,
					 .inside = "metrics",
					 .has_coverage = true,
				 });
	}
}

void view_rows_init(struct view_rows *rows, const struct snapshot_view *view,
		    const struct selection *selected, bool is_for_people)
{
	*rows = (struct view_rows){ .view = view, .metrics = selected };
	rows->columns = choose_columns(view, is_for_people);
	for (size_t i = 0; i < rows->columns.count; i++) {
		table_add_column(&rows->table, all_columns[rows->columns.ids[i]]);
		rows->is_long |= rows->columns.ids[i] >= COLUMN_METRIC;
	}
	if (!rows->is_long)
		view_add_metrics(&rows->table, view, selected);
}

static void put_columns(struct view_rows *rows, const struct group *group, const struct fold *fold)
{
	for (size_t i = 0; i < rows->columns.count; i++) {
		enum view_column column = rows->columns.ids[i];

		if (column < COLUMN_METRIC)
			put_group(&rows->table, rows->view, group, column);
		else
			put_metric(&rows->table, rows->view, fold, column);
	}
}

static void put_lines(struct view_rows *rows, const struct group *group)
{
	struct fold fold;

	if (!rows->is_long)
		put_columns(rows, group, NULL);
	for (size_t i = 0; i < rows->metrics->count; i++) {
		group_fold(rows->view->grouping, group, rows->metrics->ids[i], &fold);
		rows->has_partial |= fold.shape != SHAPE_ABSENT && fold.measured < fold.population;
		rows->has_elsewhere |=
			fold.metric->scope == METRIC_OF_PROCESS && fold.population == 0;
		if (rows->is_long)
			put_columns(rows, group, &fold);
		else
			view_put_fold(&rows->table, rows->view, &fold);
	}
}

void view_rows_put_all(struct view_rows *rows)
{
	for (size_t i = 0; i < view_shown(rows->view); i++)
		put_lines(rows, &rows->view->grouping->groups[i]);
}

void view_add_identity(struct table *table)
{
	static const struct table_column identity[] = {
		{ .id = "tid" },    { .id = "tgid" },	       { .id = "comm" },  { .id = "pcomm" },
		{ .id = "cgroup" }, { .id = "start_time_ns" }, { .id = "scope" },
	};

	table_add_columns(table, identity, ARRAY_SIZE(identity));
}

void view_put_identity(struct table *table, const struct snapshot *snapshot, uint32_t row)
{
	const struct task *task = &snapshot->tasks[row];
	const struct process *process = &snapshot->processes[task->process];

	put_signed(table, task->tid);
	put_signed(table, process->tgid);
	put_text(table, snapshot_text(snapshot, task->comm));
	put_text(table, snapshot_text(snapshot, process->pcomm));
	put_text(table, snapshot_text(snapshot, task->cgroup));
	put_number(table, task->start_time_ns);
	put_string(table, snapshot_text(snapshot, task->scope));
}

void metric_tags(struct text *out, const struct metric *metric)
{
	const char *class = metric_class_name(metric->class);
	const char *gates = metric_gate_name(metric->gate);
	size_t start = out->length;

	if (class[0])
		text_format(out, "[%s]", class);
	while (*gates) {
		size_t length = strcspn(gates, " ");

		text_format(out, "%s[%.*s]", out->length > start ? " " : "", (int)length, gates);
		gates += length + strspn(gates + length, " ");
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * A metric of processes over time.  Short spans come from the ticks; longer ones from the minutes,
 * where they have the metric, or from the key frames alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"

/* Ticks that are read one by one. */
#define TICKS_MAX 240
#define COMM_SIZE 64
#define MINUTE_NS (UINT64_C(60) * 1000000000)
/* The most that one row of minutes stands for. */
#define ROW_SPAN_NS (60 * MINUTE_NS)

/* Metrics that minutes have, and what makes them of the columns. */
static const struct {
	enum metric_id metric;
	const char *column;
	double scale;
} minute_metrics[] = {
#define LEVEL(name, metric) { METRIC_##metric, #name, 1 },
#define RATE(name, metric, scale) { METRIC_##metric, #name, 1 / scale },
#include "store/history/minutes.def"
};

struct point {
	struct history_point point;
	char comm[COMM_SIZE];
};

struct series {
	struct history *history;
	const struct series_query *query;
	ARRAY_OF(struct point) points;
	struct snapshot *before; /* of the tick before */
};

static void series_clear(struct series *series)
{
	array_free(&series->points);
	snapshot_free(series->before);
}

static int add_point(struct series *series, const struct history_point *point)
{
	struct point kept = { .point = *point };

	snprintf(kept.comm, sizeof(kept.comm), "%s", point->comm);
	return array_append(&series->points, kept);
}

static bool has_name(const struct snapshot *snapshot, const struct process *process,
		     const char *name)
{
	const char *exe = snapshot_text(snapshot, process->exe), *slash = strrchr(exe, '/');

	return strcmp(snapshot_text(snapshot, process->pcomm), name) == 0 ||
	       strcmp(slash ? slash + 1 : exe, name) == 0;
}

static bool is_wanted(const struct series *series, const struct snapshot *snapshot, uint32_t row)
{
	const struct process *process = &snapshot->processes[row];

	if (series->query->name)
		return has_name(snapshot, process, series->query->name);
	return process->tgid == series->query->pid;
}

/* The row of a task of that identity among those of a process, or -1. */
static int64_t find_task(const struct snapshot *snapshot, uint32_t process, const struct task *task)
{
	for (size_t row = snapshot->processes[process].first_task;
	     row < snapshot->task_count && snapshot->tasks[row].process == process; row++)
		if (snapshot->tasks[row].tid == task->tid &&
		    snapshot->tasks[row].start_time_ns == task->start_time_ns)
			return (int64_t)row;
	return -1;
}

static bool is_counter(enum metric_id id)
{
	return metrics[id].kind == KIND_COUNTER;
}

/* How much a cell of a counter grew, or the value of a level; false when that is not known. */
static bool read_cell(const struct series *series, const struct snapshot *snapshot, uint32_t row,
		      int64_t before, double *ret)
{
	enum metric_id id = series->query->metric;
	uint64_t now, then;

	if (!snapshot_get(snapshot, id, row, &now))
		return false;
	*ret = metrics[id].kind == KIND_ORDINAL ? (double)(int64_t)now : (double)now;
	if (!is_counter(id))
		return true;
	if (before < 0 || !snapshot_get(series->before, id, (uint32_t)before, &then) || then > now)
		return false;
	*ret = (double)(now - then);
	return true;
}

/* The row of the same process one tick before, or -1. */
static int64_t process_before(const struct series *series, const struct process *process)
{
	int64_t row = series->before ? snapshot_find_process(series->before, process->tgid) : -1;

	if (row >= 0 && series->before->processes[row].start_time_ns != process->start_time_ns)
		row = -1;
	return row;
}

static bool sum_threads(const struct series *series, const struct snapshot *snapshot,
			uint32_t process, int64_t before, double *ret)
{
	size_t row = snapshot->processes[process].first_task;
	bool is_known = false;
	double value;

	while (row > 0 && snapshot->tasks[row - 1].process == process)
		row--;
	*ret = 0;
	for (; row < snapshot->task_count && snapshot->tasks[row].process == process; row++) {
		int64_t task = before < 0 ? -1 :
					    find_task(series->before, (uint32_t)before,
						      &snapshot->tasks[row]);

		if (!read_cell(series, snapshot, (uint32_t)row, task, &value))
			continue;
		*ret += value;
		is_known = true;
	}
	return is_known;
}

static double seconds_between(const struct snapshot *before, const struct snapshot *now)
{
	const struct fact *a = &before->facts[FACT_boottime_ns];
	const struct fact *b = &now->facts[FACT_boottime_ns];

	return a->present && b->present && b->number > a->number ?
		       (double)(b->number - a->number) / 1e9 :
		       0;
}

static int add_process(struct series *series, const struct snapshot *snapshot, uint32_t row,
		       uint64_t unix_ns)
{
	const struct process *process = &snapshot->processes[row];
	enum metric_id id = series->query->metric;
	int64_t before = process_before(series, process);
	double value, seconds;
	struct history_point point = {
		.unix_ns = unix_ns,
		.task = { process->tgid, process->tgid, process->start_time_ns },
		.comm = snapshot_text(snapshot, process->pcomm),
	};

	if (metrics[id].scope == METRIC_OF_PROCESS ?
		    !read_cell(series, snapshot, row, before, &value) :
		    !sum_threads(series, snapshot, row, before, &value))
		return 0;
	if (is_counter(id)) {
		seconds = seconds_between(series->before, snapshot);
		if (seconds <= 0)
			return 0;
		value /= seconds;
	}
	point.least = point.mean = point.most = value;
	return add_point(series, &point);
}

static int add_tick(struct series *series, const struct tick_place *tick, struct error *error)
{
	struct snapshot *snapshot = NULL;
	struct error damage = { 0 };
	int status = history_read_tick(series->history, tick, &snapshot, &damage);

	/* What cannot be read is a gap; verify says why. */
	if (status == -EBADMSG) {
		snapshot_free(TAKE_PTR(series->before));
		return 0;
	}
	if (status < 0)
		return error_set(error, status, "%s", damage.message);
	for (uint32_t row = 0; row < snapshot->process_count && status == 0; row++)
		if (is_wanted(series, snapshot, row))
			status = add_process(series, snapshot, row, tick->unix_ns);
	snapshot_free(series->before);
	series->before = snapshot;
	return status < 0 ? error_set(error, status, "not enough memory") : 0;
}

static int64_t clamp(uint64_t time)
{
	return time > INT64_MAX ? INT64_MAX : (int64_t)time;
}

static int read_ticks(struct series *series, bool keys_only, struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;
	int code = SQLITE_ERROR, status = 0;

	text_format(&sql,
		    "SELECT id, chain, ts_ns FROM ticks WHERE ts_ns BETWEEN %" PRId64
		    " AND %" PRId64 " AND NOT is_burst%s ORDER BY id",
		    clamp(series->query->span.from_unix_ns), clamp(series->query->span.to_unix_ns),
		    keys_only ? " AND id = chain" : "");
	if (!sql.failed)
		statement = database_prepare(&series->history->database, text_string(&sql));
	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct tick_place tick = { sqlite3_column_int64(statement, 0),
					   sqlite3_column_int64(statement, 1),
					   column_number_or(statement, 2, 0) };

		status = add_tick(series, &tick, error);
	}
	if (status == 0 && code != SQLITE_DONE)
		return database_fail(&series->history->database, "read", error);
	return status;
}

static sqlite3_stmt *prepare_minutes(struct series *series, size_t metric)
{
	CLEANUP(text_free) struct text sql = { 0 }, ending = { 0 };
	const char *column = minute_metrics[metric].column, *name = series->query->name;
	int64_t from = clamp(series->query->span.from_unix_ns);
	sqlite3_stmt *statement;
	int index = 0;

	text_format(
		&sql,
		"SELECT m.ts_ns, pid, start_time_ns, comm, %s_min, %s_mean, %s_max, minutes "
		"FROM process_minutes AS m JOIN processes AS p ON p.id = m.process WHERE m.ts_ns "
		"BETWEEN %" PRId64 " AND %" PRId64 " AND ",
		column, column, column,
		from > (int64_t)ROW_SPAN_NS ? from - (int64_t)ROW_SPAN_NS : 0,
		clamp(series->query->span.to_unix_ns));
	if (name)
		text_append_string(&sql, "p.id IN (SELECT id FROM processes WHERE comm = ?1 OR "
					 "substr(exe, -length(?2)) = ?2)");
	else
		text_format(&sql, "p.id IN (SELECT id FROM processes WHERE pid = %" PRId32 ")",
			    series->query->pid);
	text_format(&ending, "/%s", name ? name : "");
	if (sql.failed || ending.failed)
		return NULL;
	statement = database_prepare(&series->history->database, text_string(&sql));
	if (statement && name) {
		bind_text(statement, &index, name);
		sqlite3_bind_text(statement, 2, text_string(&ending), -1, SQLITE_TRANSIENT);
	}
	return statement;
}

/* A row may stand for several minutes; each is a point. */
static int add_minutes(struct series *series, struct history_point point, uint64_t minutes)
{
	const struct history_span *span = &series->query->span;
	int status = 0;

	for (uint64_t i = 0; i < minutes && i < ROW_SPAN_NS / MINUTE_NS && status == 0; i++) {
		if (point.unix_ns >= span->from_unix_ns && point.unix_ns <= span->to_unix_ns)
			status = add_point(series, &point);
		point.unix_ns += MINUTE_NS;
	}
	return status;
}

static int compare_points(const void *first, const void *second)
{
	const struct history_point *a = first, *b = second;

	if (a->unix_ns != b->unix_ns)
		return a->unix_ns < b->unix_ns ? -1 : 1;
	return (a->task.pid > b->task.pid) - (a->task.pid < b->task.pid);
}

static int read_minutes(struct series *series, size_t metric, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = prepare_minutes(series, metric);
	double scale = minute_metrics[metric].scale;
	int code = SQLITE_ERROR, status = 0;

	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct history_point point = { .unix_ns = column_number_or(statement, 0, 0),
					       .comm = column_text(statement, 3),
					       .is_minute = true };

		point.task.pid = point.task.tid = (int32_t)column_number_or(statement, 1, 0);
		point.task.start_ns = column_number_or(statement, 2, 0);
		if (!point.comm)
			point.comm = "";
		if (!column_real(statement, 4, &point.least) ||
		    !column_real(statement, 5, &point.mean) ||
		    !column_real(statement, 6, &point.most))
			continue;
		point.least *= scale;
		point.mean *= scale;
		point.most *= scale;
		status = add_minutes(series, point, column_number_or(statement, 7, 0));
	}
	if (status < 0)
		return error_set(error, status, "not enough memory");
	array_sort(&series->points, compare_points);
	return code == SQLITE_DONE ? 0 : database_fail(&series->history->database, "read", error);
}

/* Whether the ticks of the span are few, and nothing of it is in minutes alone. */
static bool has_few_ticks(struct series *series)
{
	struct database *database = &series->history->database;
	int64_t from = clamp(series->query->span.from_unix_ns);
	CLEANUP(text_free) struct text sql = { 0 };
	int64_t count, first;

	text_format(&sql,
		    "SELECT count(*) FROM (SELECT 1 FROM ticks WHERE ts_ns BETWEEN %" PRId64
		    " AND %" PRId64 " LIMIT %d)",
		    from, clamp(series->query->span.to_unix_ns), TICKS_MAX + 1);
	count = database_number(database, text_string(&sql), 0);
	if (count > TICKS_MAX)
		return false;
	first = database_number(database, "SELECT min(ts_ns) FROM ticks", INT64_MAX);
	text_clear(&sql);
	text_format(&sql,
		    "SELECT count(*) FROM (SELECT 1 FROM process_minutes WHERE ts_ns >= %" PRId64
		    " AND ts_ns < %" PRId64 " - 60000000000 LIMIT 1)",
		    from, first);
	return count > 0 && (first <= from || database_number(database, text_string(&sql), 0) == 0);
}

static int read_series(struct series *series, struct error *error)
{
	if (has_few_ticks(series))
		return read_ticks(series, false, error);
	for (size_t i = 0; i < ARRAY_SIZE(minute_metrics); i++)
		if (minute_metrics[i].metric == series->query->metric)
			return read_minutes(series, i, error);
	return read_ticks(series, true, error);
}

int history_series(struct history *history, const struct series_query *query,
		   history_point_sink *sink, void *context, struct error *error)
{
	CLEANUP(series_clear) struct series series = { .history = history, .query = query };
	enum metric_kind kind = metrics[query->metric].kind;
	size_t first = 0;
	int status;

	if (metric_is_derived(query->metric) || kind == KIND_CATEGORY || kind == KIND_CPUSET)
		return error_set(error, -ENODATA, "a recording has no series of %s",
				 metrics[query->metric].name);
	status = database_refresh(&history->database, error);
	if (status == 0)
		status = read_series(&series, error);
	if (query->limit && series.points.count > query->limit)
		first = series.points.count - query->limit;
	for (size_t i = first; i < series.points.count && status == 0; i++) {
		struct point *point = &series.points.data[i];

		point->point.comm = point->comm;
		status = sink(context, &point->point);
	}
	return status;
}

/* SPDX-License-Identifier: MIT */
/* A snapshot of an instant whose full ticks are gone: the processes of the minute. */
#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"

#define MINUTE_NS (UINT64_C(60) * 1000000000)
#define HOUR_NS (60 * MINUTE_NS)

/* The levels of a minute that are metrics of a snapshot, by their means. */
static const struct {
	enum metric_id metric;
	const char *column;
} levels[] = {
#define LEVEL(name, metric) { METRIC_##metric, #name "_mean" },
#include "store/history/minutes.def"
};

/* Columns of the query before the levels. */
enum { PID, START, PARENT, COMM, CMD, EXE, USER, CGROUP, UID, BOOT, BOOT_BEGIN, LEVELS };

static sqlite3_stmt *prepare(struct history *history, uint64_t minute)
{
	CLEANUP(text_free) struct text sql = { 0 };

	text_append_string(&sql,
			   "SELECT pid, start_time_ns, ppid, comm, cmd, exe, user, cgroup, uid, "
			   "boot_id, begin_ns");
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		text_format(&sql, ", %s", levels[i].column);
	text_format(&sql,
		    " FROM process_minutes AS m JOIN processes AS p ON p.id = m.process JOIN boots "
		    "AS b ON b.id = p.boot WHERE m.ts_ns > %" PRIu64 " AND m.ts_ns <= %" PRIu64
		    " AND m.ts_ns + m.minutes * %" PRIu64 " > %" PRIu64
		    " ORDER BY b.id DESC, pid, start_time_ns DESC",
		    minute > HOUR_NS ? minute - HOUR_NS : 0, minute, MINUTE_NS, minute);
	return sql.failed ? NULL : database_prepare(&history->database, text_string(&sql));
}

static int intern(struct snapshot *snapshot, const char *text, uint32_t *ret)
{
	return text ? snapshot_intern(snapshot, text, strlen(text), ret) : 0;
}

static int add_process(struct snapshot *snapshot, sqlite3_stmt *row)
{
	struct process process = { .tgid = (int32_t)column_number_or(row, PID, 0),
				   .start_time_ns = column_number_or(row, START, 0),
				   .parent = (int32_t)column_number_or(row, PARENT, 0) };
	struct task task = { .tid = process.tgid, .start_time_ns = process.start_time_ns };
	uint32_t place, task_row;
	uint64_t value;
	int status = 0;

	if (snapshot_find_process(snapshot, process.tgid) >= 0)
		return 0; /* an older one of the same minute, that had this number before */
	status |= intern(snapshot, column_text(row, COMM), &process.pcomm);
	status |= intern(snapshot, column_text(row, CMD), &process.cmdline);
	status |= intern(snapshot, column_text(row, EXE), &process.exe);
	status |= intern(snapshot, column_text(row, USER), &process.user);
	status |= intern(snapshot, column_text(row, CGROUP), &task.cgroup);
	if (status < 0 || snapshot_add_process(snapshot, process.tgid, &place) < 0)
		return -ENOMEM;
	snapshot->processes[place] = process;
	task.process = place;
	task.comm = process.pcomm;
	if (snapshot_add_task(snapshot, &task, &task_row) < 0)
		return -ENOMEM;
	if (column_number(row, UID, &value))
		snapshot_set(snapshot, METRIC_uid, place, value);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		double level;

		if (column_real(row, LEVELS + (int)i, &level) && level >= 0)
			snapshot_set(snapshot, levels[i].metric, place, (uint64_t)level);
	}
	return 0;
}

static int need_columns(struct snapshot *snapshot)
{
	int status = snapshot_need_column(snapshot, METRIC_uid);

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		status |= snapshot_need_column(snapshot, levels[i].metric);
	for (int id = 0; id < METRIC_STORED; id++)
		if (!snapshot->columns[id].values && !metric_is_only_traced((enum metric_id)id))
			status |= snapshot_set_absent(snapshot, (enum metric_id)id,
						      "only one-minute means are kept of a time "
						      "this long ago");
	return status < 0 ? -ENOMEM : 0;
}

static int add_facts(struct snapshot *snapshot, sqlite3_stmt *row, uint64_t minute)
{
	const char *boot = column_text(row, BOOT);
	uint64_t begin = column_number_or(row, BOOT_BEGIN, UINT64_MAX);

	if (begin < minute)
		snapshot_set_fact_number(snapshot, FACT_boottime_ns, minute - begin);
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns, minute);
	snapshot_set_fact_number(snapshot, FACT_duration_ns, MINUTE_NS);
	if (snapshot_set_fact_text(snapshot, FACT_resolution, "minute") < 0)
		return -ENOMEM;
	return boot && *boot ? snapshot_set_fact_text(snapshot, FACT_boot_id, boot) : 0;
}

static int read_rows(struct history *history, uint64_t minute, struct snapshot *snapshot,
		     struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = prepare(history, minute);
	int code = SQLITE_ERROR, status = need_columns(snapshot);

	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!snapshot->process_count)
			status = add_facts(snapshot, statement, minute);
		if (status == 0)
			status = add_process(snapshot, statement);
	}
	if (status == 0)
		status = snapshot_finish(snapshot);
	if (status < 0)
		return error_set(error, status, "not enough memory");
	return code == SQLITE_DONE ? 0 : database_fail(&history->database, "read", error);
}

static int nothing_before(struct history *history, struct error *error)
{
	struct history_span span;
	char name[32];

	if (!history_extent(history, &span))
		return error_set(error, -ENOENT, "%s has no ticks yet", history->database.path);
	history_name_time(span.from_unix_ns, name, sizeof(name));
	return error_set(error, -ENOENT, "there is nothing before %s in %s", name,
			 history->database.path);
}

int history_minute_snapshot(struct history *history, uint64_t at_unix_ns, struct snapshot **ret,
			    struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = snapshot_new(&snapshot);

	if (status < 0)
		return error_set(error, status, "not enough memory");
	status = read_rows(history, at_unix_ns / MINUTE_NS * MINUTE_NS, snapshot, error);
	if (status < 0)
		return status;
	if (!snapshot->process_count)
		return nothing_before(history, error);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

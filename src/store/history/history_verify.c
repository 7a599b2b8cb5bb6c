/* SPDX-License-Identifier: MIT */
/* Checks a recording wholly: SQLite's own structure, each frame, the order of ticks, the minutes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/number_map.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"
#include "store/snapshot_file.h"

#define MINUTE_NS (UINT64_C(60) * 1000000000)
#define FAULTS_MAX 1000

/* What the ticks of the minute being checked say of one process. */
struct seen_process {
	uint64_t start_ns;
	uint64_t samples;
	bool has_memory;
	uint64_t least, most; /* of rss_bytes, if it has memory */
};

struct verifier {
	struct history *history;
	history_fault *found;
	void *context;
	int faults;
	/* The tick before. */
	int64_t chain;
	uint64_t boot, boottime_ns;
	/* The minute that the ticks belong to. */
	uint64_t minute;
	struct number_map seen;
	ARRAY_OF(struct seen_process *) processes;
	/* Minutes that came twice, because the clock was set back: their rows cannot be told apart. */
	struct history_span repeated[CLOCK_STEPS];
	size_t repeated_count;
};

static void forget_minute(struct verifier *verifier)
{
	for (size_t i = 0; i < verifier->processes.count; i++)
		free(verifier->processes.data[i]);
	verifier->processes.count = 0;
	number_map_clear(&verifier->seen);
}

static void verifier_clear(struct verifier *verifier)
{
	forget_minute(verifier);
	array_free(&verifier->processes);
	history_close(verifier->history);
}

__attribute__((format(printf, 2, 3))) static void tell(struct verifier *verifier,
						       const char *format, ...)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	char buffer[4096 + 512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer, sizeof(buffer), format, arguments);
	va_end(arguments);
	text_append_escaped(&sentence, buffer, strlen(buffer));
	if (verifier->faults++ < FAULTS_MAX)
		verifier->found(verifier->context, text_string(&sentence));
}

static void check_structure(struct verifier *verifier)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement =
		database_prepare(&verifier->history->database, "PRAGMA integrity_check(100)");
	int code = SQLITE_ERROR;

	while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *problem = column_text(statement, 0);

		if (problem && strcmp(problem, "ok") != 0)
			tell(verifier, "the file's structure is damaged: %s", problem);
	}
	if (code != SQLITE_DONE)
		tell(verifier, "the file's structure cannot be checked: %s",
		     sqlite3_errmsg(verifier->history->database.handle));
}

static struct seen_process *find_seen(struct verifier *verifier, const struct process *process)
{
	struct seen_process *seen = number_map_get(&verifier->seen, process->tgid);

	if (seen && seen->start_ns == process->start_time_ns)
		return seen;
	seen = calloc(1, sizeof(*seen));
	if (!seen || array_append(&verifier->processes, seen) < 0) {
		free(seen);
		return NULL;
	}
	seen->start_ns = process->start_time_ns;
	return number_map_set(&verifier->seen, process->tgid, seen) < 0 ? NULL : seen;
}

/* Every tick counts, also one in which the process had no memory any more. */
static int note_process(struct verifier *verifier, const struct snapshot *snapshot, uint32_t row)
{
	struct seen_process *seen = find_seen(verifier, &snapshot->processes[row]);
	uint64_t rss;

	if (!seen)
		return -ENOMEM;
	seen->samples++;
	if (!snapshot_get(snapshot, METRIC_rss_bytes, row, &rss))
		return 0;
	seen->least = seen->has_memory && seen->least < rss ? seen->least : rss;
	seen->most = seen->has_memory && seen->most > rss ? seen->most : rss;
	seen->has_memory = true;
	return 0;
}

/* The minute's rows must say what its ticks do, as far as both have all samples. */
static void check_minute_row(struct verifier *verifier, sqlite3_stmt *row)
{
	int32_t pid = (int32_t)column_number_or(row, 0, 0);
	const struct seen_process *seen = number_map_get(&verifier->seen, pid);
	double least = 0, most = 0;

	if (!seen || !seen->has_memory || seen->start_ns != column_number_or(row, 1, 0) ||
	    seen->samples != column_number_or(row, 2, 0))
		return;
	if (!column_real(row, 3, &least) || !column_real(row, 4, &most) ||
	    least != (double)seen->least || most != (double)seen->most)
		tell(verifier,
		     "the minute of process %" PRId32 " at %" PRIu64 " ns differs from its ticks",
		     pid, verifier->minute * MINUTE_NS);
}

static void find_repeated(struct verifier *verifier)
{
	struct database *database = &verifier->history->database;
	struct clock_steps steps;
	char sql[96];

	clock_steps_read(verifier->history, &steps);
	for (size_t i = 0; i < steps.count; i++) {
		struct history_span *span = &verifier->repeated[verifier->repeated_count++];

		snprintf(sql, sizeof(sql), "SELECT min(ts_ns) FROM ticks WHERE id >= %" PRId64,
			 steps.ticks[i]);
		span->from_unix_ns = (uint64_t)database_number(database, sql, 0) / MINUTE_NS;
		snprintf(sql, sizeof(sql), "SELECT max(ts_ns) FROM ticks WHERE id < %" PRId64,
			 steps.ticks[i]);
		span->to_unix_ns = (uint64_t)database_number(database, sql, 0) / MINUTE_NS;
	}
}

static bool is_repeated(const struct verifier *verifier)
{
	for (size_t i = 0; i < verifier->repeated_count; i++)
		if (verifier->minute >= verifier->repeated[i].from_unix_ns &&
		    verifier->minute <= verifier->repeated[i].to_unix_ns)
			return true;
	return false;
}

static void check_minute(struct verifier *verifier)
{
	CLEANUP(text_free) struct text sql = { 0 };
	CLEANUP(statement_free) sqlite3_stmt *statement = NULL;

	text_format(&sql,
		    "SELECT pid, start_time_ns, samples, rss_bytes_min, rss_bytes_max FROM "
		    "process_minutes AS m JOIN processes AS p ON p.id = m.process WHERE m.ts_ns = "
		    "%" PRIu64 " AND minutes = 1",
		    verifier->minute * MINUTE_NS);
	if (!sql.failed && !is_repeated(verifier))
		statement = database_prepare(&verifier->history->database, text_string(&sql));
	while (statement && sqlite3_step(statement) == SQLITE_ROW)
		check_minute_row(verifier, statement);
	forget_minute(verifier);
}

/* Columns of the query for ticks. */
enum { ID, TIME, CHAIN, BURST, BOOT, BOOTTIME, FRAME };

static void check_order(struct verifier *verifier, sqlite3_stmt *row, const char *name)
{
	int64_t id = sqlite3_column_int64(row, ID), chain = sqlite3_column_int64(row, CHAIN);
	uint64_t boot = column_number_or(row, BOOT, 0),
		 boottime = column_number_or(row, BOOTTIME, 0);

	if (sqlite3_column_int64(row, BURST))
		return;
	if (chain != id && chain != verifier->chain)
		tell(verifier, "%s has no key frame", name);
	if (boot == verifier->boot && boottime < verifier->boottime_ns)
		tell(verifier, "%s is out of order", name);
	verifier->chain = chain;
	verifier->boot = boot;
	verifier->boottime_ns = boottime;
}

static int read_snapshot(struct verifier *verifier, sqlite3_stmt *row, const char *name,
			 struct snapshot **ret, struct error *error)
{
	const void *frame = sqlite3_column_blob(row, FRAME);
	size_t size = (size_t)sqlite3_column_bytes(row, FRAME);
	bool is_key = sqlite3_column_int64(row, ID) == sqlite3_column_int64(row, CHAIN);
	struct frame_reader *reader = verifier->history->reader;
	int status;

	if (!frame)
		frame = "";
	if (sqlite3_column_int64(row, BURST))
		return snapshot_decode(name, frame, size, ret, error);
	status = (is_key ? frame_read_key : frame_read_change)(reader, name, frame, size, error);
	return status < 0 ? status : frame_reader_snapshot(reader, name, ret, error);
}

static int check_tick(struct verifier *verifier, sqlite3_stmt *row)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	uint64_t time = column_number_or(row, TIME, 0);
	struct error error = { 0 };
	char name[4096 + 64];
	int status;

	history_name_tick(verifier->history, time, name, sizeof(name));
	check_order(verifier, row, name);
	status = read_snapshot(verifier, row, name, &snapshot, &error);
	if (status < 0)
		tell(verifier, "%s", error.message);
	if (sqlite3_column_int64(row, BURST))
		return status == -ENOMEM ? status : 0;
	if (verifier->minute != time / MINUTE_NS)
		check_minute(verifier);
	verifier->minute = time / MINUTE_NS;
	for (uint32_t i = 0; snapshot && status == 0 && i < snapshot->process_count; i++)
		status = note_process(verifier, snapshot, i);
	return status == -ENOMEM ? status : 0;
}

static int check_ticks(struct verifier *verifier)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement = database_prepare(
		&verifier->history->database,
		"SELECT id, ts_ns, chain, is_burst, boot, boottime_ns, frame FROM ticks NOT INDEXED "
		"ORDER BY id");
	int code = SQLITE_ERROR, status = 0;

	while (statement && status == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
		status = check_tick(verifier, statement);
	if (status == 0 && code != SQLITE_DONE)
		tell(verifier, "ticks cannot be read: %s",
		     sqlite3_errmsg(verifier->history->database.handle));
	return status;
}

/* Whole runs of jobs are files in themselves. */
static void check_runs(struct verifier *verifier)
{
	CLEANUP(statement_free)
	sqlite3_stmt *row = database_prepare(&verifier->history->database,
					     "SELECT job, run FROM job_runs ORDER BY id");

	while (row && sqlite3_step(row) == SQLITE_ROW) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
		const void *bytes = sqlite3_column_blob(row, 1);
		struct error error = { 0 };
		char name[64];

		snprintf(name, sizeof(name), "the run of job %" PRIu64,
			 column_number_or(row, 0, 0));
		if (snapshot_decode(name, bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, 1),
				    &snapshot, &error) < 0)
			tell(verifier, "%s", error.message);
	}
}

/* What must not be there, with the number of rows that it takes. */
struct rule {
	const char *sql, *sentence;
};

static const struct rule rules[] = {
	{ "SELECT count(*) FROM process_minutes WHERE samples < 1 OR minutes NOT BETWEEN 1 AND 60 OR "
	  "ts_ns % 60000000000 <> 0",
	  "rows of process_minutes are of no minute" },
	{ "SELECT count(*) FROM process_minutes WHERE rss_bytes_min > rss_bytes_mean OR "
	  "rss_bytes_mean > rss_bytes_max OR cpu_percent_min > cpu_percent_max",
	  "rows of process_minutes have a mean that is not between the least and the most" },
	{ "SELECT count(*) FROM process_minutes WHERE process NOT IN (SELECT id FROM processes)",
	  "rows of process_minutes are of no process" },
	{ "SELECT count(*) FROM host_minutes WHERE samples < 1 OR ts_ns % 60000000000 <> 0",
	  "rows of host_minutes are of no minute" },
	{ "SELECT count(*) FROM activity WHERE process NOT IN (SELECT id FROM processes)",
	  "rows of activity are of no process" },
	{ "SELECT count(*) FROM activity WHERE ts_ns NOT IN (SELECT ts_ns FROM activity_walks)",
	  "rows of activity are of no walk" },
	{ "SELECT count(*) FROM activity WHERE stack IS NOT NULL AND stack NOT IN (SELECT hash FROM stacks)",
	  "rows of activity have a stack that is not there" },
	{ "SELECT count(*) FROM activity WHERE state NOT IN ('R', 'S', 'D') OR wait IS NULL",
	  "rows of activity have no state or no wait" },
	{ "SELECT count(*) FROM anomalies WHERE end_ns < begin_ns",
	  "anomalies end before they begin" },
};

/* Of tables that files of earlier versions lack. */
static const struct rule job_rules[] = {
	{ "SELECT count(*) FROM job_steps WHERE job NOT IN (SELECT id FROM jobs)",
	  "rows of job_steps are of no job" },
	{ "SELECT count(*) FROM job_events WHERE job NOT IN (SELECT id FROM jobs)",
	  "rows of job_events are of no job" },
	{ "SELECT count(*) FROM job_syscalls WHERE job NOT IN (SELECT id FROM jobs)",
	  "rows of job_syscalls are of no job" },
	{ "SELECT count(*) FROM job_runs WHERE job NOT IN (SELECT id FROM jobs)",
	  "rows of job_runs are of no job" },
	{ "SELECT count(*) FROM jobs WHERE outcome NOT IN ('success', 'failure', 'unknown') OR "
	  "duration_ns < 0 OR (outcome IS NULL AND end_ns IS NOT NULL)",
	  "jobs have an outcome or a duration that none can have" },
};

static const struct rule call_rules[] = {
	{ "SELECT count(*) FROM process_syscalls WHERE process <> 0 AND process NOT IN (SELECT id FROM "
	  "processes)",
	  "rows of process_syscalls are of no process" },
	{ "SELECT count(*) FROM process_syscalls WHERE ts_ns % 60000000000 <> 0 OR errors > calls OR "
	  "max_ns > time_ns",
	  "rows of process_syscalls are of no minute, or have figures that cannot be" },
};

static void check_rules(struct verifier *verifier, const struct rule *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t rows = database_number(&verifier->history->database, list[i].sql, -1);

		if (rows < 0)
			tell(verifier, "a table cannot be read: %s",
			     sqlite3_errmsg(verifier->history->database.handle));
		else if (rows > 0)
			tell(verifier, "%" PRId64 " %s", rows, list[i].sentence);
	}
}

int history_verify(const char *path, history_fault *found, void *context, struct error *error)
{
	CLEANUP(verifier_clear) struct verifier verifier = { .found = found, .context = context };
	int status = history_open_for(path, true, &verifier.history, error);

	if (status < 0)
		return status;
	/* One view of it, whatever a recorder adds meanwhile. */
	status = database_run(&verifier.history->database, "BEGIN", error);
	if (status < 0)
		return status;
	check_structure(&verifier);
	find_repeated(&verifier);
	if (check_ticks(&verifier) < 0)
		return error_set(error, -ENOMEM, "not enough memory");
	check_minute(&verifier);
	check_rules(&verifier, rules, ARRAY_SIZE(rules));
	if (schema_has_column(&verifier.history->database, "process_syscalls", "calls"))
		check_rules(&verifier, call_rules, ARRAY_SIZE(call_rules));
	if (!schema_has_column(&verifier.history->database, "job_runs", "job"))
		return verifier.faults;
	check_rules(&verifier, job_rules, ARRAY_SIZE(job_rules));
	check_runs(&verifier);
	return verifier.faults;
}

/* SPDX-License-Identifier: MIT */

#include "base/cleanup.h"
#include "store/history/history_parts.h"
#include "store/history/job/history_jobs.h"
#include "store/history/database/schema.h"

/* With max(), SQLite takes the other columns from the row that has it. */
static const char hotspots_sql[] =
	"SELECT job, name, max(time_ns), total(time_ns) FROM job_syscalls WHERE step IS NULL AND "
	"job BETWEEN ? AND ? GROUP BY job ORDER BY job DESC";

int history_job_hotspots(struct history *history, uint64_t from_job, uint64_t to_job,
			 job_hotspot_sink *sink, void *context, struct error *error)
{
	CLEANUP(statement_free) sqlite3_stmt *row = NULL;
	int status = database_refresh(&history->database, error);
	int code = SQLITE_DONE;

	if (status < 0 || !schema_has_column(&history->database, "job_syscalls", "time_ns"))
		return status;
	row = database_prepare(&history->database, hotspots_sql);
	sqlite3_bind_int64(row, 1, (int64_t)from_job);
	sqlite3_bind_int64(row, 2, (int64_t)to_job);
	while (status == 0 && (code = row ? sqlite3_step(row) : SQLITE_ERROR) == SQLITE_ROW) {
		const char *name = column_text(row, 1);
		struct job_hotspot hotspot = {
			.job = column_number_or(row, 0, 0),
			.name = name ? name : "?",
			.time_ns = column_number_or(row, 2, 0),
		};

		column_real(row, 3, &hotspot.all_ns);
		status = sink(context, &hotspot);
	}
	if (status == 0 && code != SQLITE_DONE)
		status = database_fail(&history->database, "read", error);
	return status;
}

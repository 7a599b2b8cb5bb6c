/* SPDX-License-Identifier: MIT */
/* Copies what can be read of a damaged recording into a new one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"
#include "store/snapshot_file.h"

/* Row numbers that are tried after a damaged place. */
#define ROWS_ONE_BY_ONE 5000000
/* Stands for the number of the last row as long as none was read: numbers may be negative. */
#define BEFORE_ALL INT64_MIN

static const char *const tables[] = {
#define TABLE(name, columns) #name,
#include "store/history/database/schema.def"
};

struct repair {
	struct history *from;
	struct database to;
	history_fault *found;
	void *context;
	int left_out;
};

static void repair_clear(struct repair *repair)
{
	history_close(repair->from);
	database_close(&repair->to);
}

__attribute__((format(printf, 2, 3))) static void tell(struct repair *repair, const char *format,
						       ...)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	char buffer[4096 + 512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer, sizeof(buffer), format, arguments);
	va_end(arguments);
	text_append_escaped(&sentence, buffer, strlen(buffer));
	repair->found(repair->context, text_string(&sentence));
}

/* The columns that both have, one after the other. */
static bool list_columns(struct repair *repair, const char *table, struct text *names,
			 struct text *places)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement =
		database_prepare(&repair->to, "SELECT name FROM pragma_table_info(?)");
	int index = 0;

	if (!statement)
		return false;
	bind_text(statement, &index, table);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *name = column_text(statement, 0);

		if (!name || !schema_has_column(&repair->from->database, table, name))
			continue;
		text_format(names, "%s%s", names->length ? "," : "", name);
		text_append_string(places, places->length ? ",?" : "?");
	}
	return names->length > 0 && !names->failed && !places->failed;
}

/* Whether the tick's frame can be read; frames of a chain come in order. */
static bool is_whole(struct repair *repair, sqlite3_stmt *row)
{
	struct frame_reader *reader = repair->from->reader;
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	int64_t id = 0, chain = 0, is_burst = 0;
	const void *frame = "";
	size_t size = 0;
	int status;

	for (int i = 0; i < sqlite3_column_count(row); i++) {
		const char *name = sqlite3_column_name(row, i);

		if (strcmp(name, "id") == 0)
			id = sqlite3_column_int64(row, i);
		else if (strcmp(name, "chain") == 0)
			chain = sqlite3_column_int64(row, i);
		else if (strcmp(name, "is_burst") == 0)
			is_burst = sqlite3_column_int64(row, i);
		else if (strcmp(name, "frame") == 0 && sqlite3_column_blob(row, i)) {
			frame = sqlite3_column_blob(row, i);
			size = (size_t)sqlite3_column_bytes(row, i);
		}
	}
	if (is_burst) {
		status = snapshot_decode("the tick", frame, size, &snapshot, &error);
		snapshot_free(snapshot);
	} else {
		status = (id == chain ? frame_read_key : frame_read_change)(reader, "the tick",
									    frame, size, &error);
	}
	if (status < 0)
		tell(repair, "tick %" PRId64 " is left out: %s", id, error.message);
	return status == 0;
}

static int copy_row(struct repair *repair, sqlite3_stmt *row, sqlite3_stmt *insert)
{
	sqlite3_reset(insert);
	for (int i = 0; i < sqlite3_column_count(row) - 1; i++)
		sqlite3_bind_value(insert, i + 1, sqlite3_column_value(row, i + 1));
	switch (sqlite3_step(insert) & 0xff) {
	case SQLITE_DONE:
		return 0;
	case SQLITE_CONSTRAINT: /* it is there already, or is no such row at all */
		repair->left_out++;
		return 0;
	default:
		return -EIO;
	}
}

/* Copies rows until the end or one that cannot be read; *ret_done says whether it was the end. */
static int copy_rows(struct repair *repair, const char *table, sqlite3_stmt *rows,
		     sqlite3_stmt *insert, int64_t *last, bool *ret_done)
{
	bool is_ticks = strcmp(table, "ticks") == 0;
	int code = SQLITE_ERROR, status = 0;

	while (status == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
		*last = sqlite3_column_int64(rows, 0);
		if (is_ticks && !is_whole(repair, rows))
			repair->left_out++;
		else
			status = copy_row(repair, rows, insert);
	}
	*ret_done = status == 0 && code == SQLITE_DONE;
	return status;
}

/* Tries each number after the damaged place. */
static int copy_one_by_one(struct repair *repair, const char *table, sqlite3_stmt *row,
			   sqlite3_stmt *insert, int64_t after, int64_t end)
{
	int status = 0;

	for (int64_t id = after; id < end && status == 0;) {
		bool ignored;
		int64_t last;

		sqlite3_reset(row);
		sqlite3_bind_int64(row, 1, ++id);
		status = copy_rows(repair, table, row, insert, &last, &ignored);
	}
	return status;
}

/* Rows after a damaged place: by their numbers, or backwards from the end if there are too many. */
static int copy_rest(struct repair *repair, const char *table, const char *names,
		     sqlite3_stmt *insert, int64_t last)
{
	CLEANUP(text_free) struct text sql = { 0 };
	CLEANUP(statement_free) sqlite3_stmt *rows = NULL;
	int64_t end;
	bool ignored;

	text_format(&sql, "SELECT max(rowid) FROM %s", table);
	end = database_number(&repair->from->database, text_string(&sql), last);
	text_clear(&sql);
	if (last == BEFORE_ALL && end >= 0 && end <= ROWS_ONE_BY_ONE)
		last = 0; /* it counts from 1 */
	if (end >= last && (uint64_t)end - (uint64_t)last <= ROWS_ONE_BY_ONE) {
		text_format(&sql, "SELECT rowid, %s FROM %s NOT INDEXED WHERE rowid = ?", names,
			    table);
		rows = database_prepare(&repair->from->database, text_string(&sql));
		return rows ? copy_one_by_one(repair, table, rows, insert, last, end) : 0;
	}
	text_format(&sql,
		    "SELECT rowid, %s FROM %s NOT INDEXED WHERE rowid > %" PRId64
		    " ORDER BY rowid DESC",
		    names, table, last);
	rows = database_prepare(&repair->from->database, text_string(&sql));
	return rows ? copy_rows(repair, table, rows, insert, &last, &ignored) : 0;
}

static int copy_table(struct repair *repair, const char *table, struct error *error)
{
	CLEANUP(text_free) struct text names = { 0 }, places = { 0 }, sql = { 0 };
	CLEANUP(statement_free) sqlite3_stmt *rows = NULL, *insert = NULL;
	int64_t last = BEFORE_ALL;
	bool done = false;
	int status = 0;

	if (!list_columns(repair, table, &names, &places)) {
		tell(repair, "the table %s cannot be read", table);
		repair->left_out++;
		return 0;
	}
	text_format(&sql, "INSERT INTO %s(%s) VALUES(%s)", table, text_string(&names),
		    text_string(&places));
	insert = database_prepare(&repair->to, text_string(&sql));
	text_clear(&sql);
	text_format(&sql, "SELECT rowid, %s FROM %s NOT INDEXED ORDER BY rowid",
		    text_string(&names), table);
	rows = database_prepare(&repair->from->database, text_string(&sql));
	if (insert && rows)
		status = copy_rows(repair, table, rows, insert, &last, &done);
	if (status == 0 && insert && !done) {
		if (last == BEFORE_ALL)
			tell(repair, "the first rows of %s are damaged", table);
		else
			tell(repair, "rows of %s after the one with number %" PRId64 " are damaged",
			     table, last);
		repair->left_out++;
		status = copy_rest(repair, table, text_string(&names), insert, last);
	}
	return status < 0 || !insert ? database_fail(&repair->to, "write", error) : 0;
}

/* What belongs to rows that were lost. */
static const char *const orphans[] = {
	"DELETE FROM process_minutes WHERE process NOT IN (SELECT id FROM processes)",
	"DELETE FROM process_syscalls WHERE process <> 0 AND process NOT IN (SELECT id FROM processes)",
	"DELETE FROM activity WHERE process NOT IN (SELECT id FROM processes) "
	"OR ts_ns NOT IN (SELECT ts_ns FROM activity_walks)",
	"UPDATE activity SET stack = NULL WHERE stack IS NOT NULL "
	"AND stack NOT IN (SELECT hash FROM stacks)",
};

static int leave_out(struct repair *repair, const char *statement, struct error *error)
{
	int status = database_run(&repair->to, statement, error);

	if (status == 0)
		repair->left_out += sqlite3_changes(repair->to.handle);
	return status;
}

static int copy_all(struct repair *repair, struct error *error)
{
	int status = database_run(&repair->to, "DELETE FROM meta; BEGIN", error);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && status == 0; i++)
		status = copy_table(repair, tables[i], error);
	for (size_t i = 0; i < ARRAY_SIZE(orphans) && status == 0; i++)
		status = leave_out(repair, orphans[i], error);
	if (status == 0)
		status = history_drop_of_no_job(&repair->to, error);
	if (status == 0)
		status = user_rooms_recount(&repair->to, error);
	if (status == 0)
		status = database_run(&repair->to,
				      "DELETE FROM meta WHERE key='writer_pid'; COMMIT; "
				      "PRAGMA wal_checkpoint(TRUNCATE)",
				      error);
	return status;
}

int history_repair(const char *path, const char *out, history_fault *found, void *context,
		   struct error *error)
{
	CLEANUP(repair_clear)
	struct repair repair = { .to = { .lock = -1 }, .found = found, .context = context };
	int status = history_open_for(path, true, &repair.from, error);

	if (status < 0)
		return status;
	if (access(out, F_OK) == 0)
		return error_set(error, -EEXIST, "%s exists already: name a new file", out);
	/* One view of it, whatever a recorder adds meanwhile. */
	status = database_run(&repair.from->database, "BEGIN", error);
	if (status == 0)
		status = database_open_writer(&repair.to, out, error);
	if (status == 0)
		status = schema_update(&repair.to, error);
	if (status == 0)
		status = copy_all(&repair, error);
	return status < 0 ? status : repair.left_out;
}

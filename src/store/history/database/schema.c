/* SPDX-License-Identifier: MIT */
#include "store/history/database/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "model/record/host_sample.h"
#include "model/record/job/job.h"
#include "store/history/database/database.h"
#include "store/history/history_parts.h"

static const struct {
	const char *name, *columns;
} tables[] = {
#define TABLE(name, columns) { #name, columns },
#include "store/history/database/schema.def"
};

static const struct {
	const char *name, *columns;
} indexes[] = {
#define INDEX(name, columns) { #name, columns },
#include "store/history/database/schema.def"
};

/* Columns that come from tables; a later version may have more of them. */
static const struct {
	const char *table, *column, *type;
} made_columns[] = {
	{ "jobs", "boot", "INTEGER" },
	{ "jobs", "begin_boottime_ns", "INTEGER" },
	{ "jobs", "duration_ns", "INTEGER" },
	{ "jobs", "steps", "INTEGER" },
	{ "jobs", "watched", "TEXT" },
	{ "jobs", "memory", "TEXT" },
	{ "jobs", "absent", "TEXT" },
	{ "job_steps", "begin_boottime_ns", "INTEGER" },
	{ "job_steps", "duration_ns", "INTEGER" },
	{ "job_steps", "memory", "TEXT" },
	{ "job_steps", "pid", "INTEGER" },
	{ "job_steps", "start_time_ns", "INTEGER" },
	{ "processes", "job", "INTEGER" },
	{ "processes", "job_step", "TEXT" },
#define JOB_VALUE(id, ...) { "jobs", #id, "REAL" }, { "job_steps", #id, "REAL" },
#include "model/record/job/job_values.def"
	{ "host_samples", "scope", "TEXT" },
	{ "host_samples", "jobs", "TEXT" },
	{ "host_samples", "scope_pressure_level", "TEXT" },
	{ "activity_walks", "threads_left_out", "INTEGER" },
	{ "stacks", "last_ns", "INTEGER" },
	{ "host_minutes", "scope", "TEXT" },
	{ "host_minutes", "scope_pressure_level", "TEXT" },
#define HOST_VALUE(id, ...) { "host_samples", #id, "REAL" }, { "host_minutes", #id, "REAL" },
#include "model/record/host_samples.def"
#define COLUMNS(name)                                                                              \
	{ "process_minutes", #name "_min", "REAL" }, { "process_minutes", #name "_mean", "REAL" }, \
		{ "process_minutes", #name "_max", "REAL" },
#define LEVEL(name, metric) COLUMNS(name)
#define RATE(name, metric, scale) COLUMNS(name)
#include "store/history/minutes.def"
};

/* What brings a recording of version n to version n + 1, at place n.  Making tables is not here. */
static const char *const migrations[SCHEMA_VERSION] = {
	NULL, /* an empty file */
};

void schema_host_columns(struct text *sql, const char *with, const char *after)
{
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		text_format(sql, "%s%s%s%s", i ? "," : "", with, host_values[i].name, after);
}

void schema_job_columns(struct database *database, const char *table, const char *alias,
			struct text *sql)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		if (!database || schema_has_column(database, table, job_values[i].name))
			text_format(sql, ", %s%s", alias, job_values[i].name);
		else
			text_append_string(sql, ", NULL");
}

void schema_minute_columns(struct text *sql)
{
	bool is_first = true;

	for (size_t i = 0; i < ARRAY_SIZE(made_columns); i++) {
		if (strcmp(made_columns[i].table, "process_minutes") != 0)
			continue;
		text_format(sql, "%s%s", is_first ? "" : ",", made_columns[i].column);
		is_first = false;
	}
}

int schema_has_column(struct database *database, const char *table, const char *column)
{
	CLEANUP(statement_free)
	sqlite3_stmt *statement =
		database_prepare(database, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
	int index = 0;

	if (!statement)
		return 0;
	bind_text(statement, &index, table);
	bind_text(statement, &index, column);
	return sqlite3_step(statement) == SQLITE_ROW;
}

/*
 * Expressions that a stranger put into the schema are computed for each row that is read or checked,
 * and may take any time.  No recording has them.
 */
static bool has_expressions(struct database *database)
{
	static const char *const finds[] = {
		"SELECT count(*) FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c "
		"WHERE s.type = 'table' AND c.hidden <> 0",
		"SELECT count(*) FROM sqlite_schema AS s, pragma_index_xinfo(s.name) AS c "
		"WHERE s.type = 'index' AND c.cid = -2",
		"SELECT count(*) FROM sqlite_schema WHERE (type = 'table' AND sql LIKE '%CHECK%') "
		"OR (type = 'index' AND sql LIKE '%WHERE%')",
	};

	for (size_t i = 0; i < ARRAY_SIZE(finds); i++)
		if (database_number(database, finds[i], 0) > 0)
			return true;
	return false;
}

int schema_check(struct database *database, struct error *error)
{
	int64_t application = database_number(database, "PRAGMA application_id", -1);
	int64_t version = database_number(database, "PRAGMA user_version", -1);

	if (application < 0 || version < 0)
		return database_fail(database, "read", error);
	if (application == 0 && version == 0 &&
	    database_number(database, "SELECT count(*) FROM sqlite_schema", -1) == 0)
		return database->lock >= 0 ?
			       0 :
			       error_set(error, -EBADMSG, "%s is not a recording: it is empty",
					 database->path);
	if (application != SCHEMA_APPLICATION)
		return error_set(error, -EINVAL, "%s is a database of another program",
				 database->path);
	if (has_expressions(database))
		return error_set(error, -EINVAL,
				 "%s has expressions in its tables or indexes, as no recording has",
				 database->path);
	if (version > SCHEMA_VERSION)
		return error_set(error, -ENOTSUP,
				 "%s was written by a newer taskscope (version %lld); this one "
				 "reads up to %d",
				 database->path, (long long)version, SCHEMA_VERSION);
	return 0;
}

static void add_tables(struct text *sql)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		text_format(sql, "CREATE TABLE IF NOT EXISTS %s(%s);", tables[i].name,
			    tables[i].columns);
	for (size_t i = 0; i < ARRAY_SIZE(indexes); i++)
		text_format(sql, "CREATE INDEX IF NOT EXISTS %s ON %s;", indexes[i].name,
			    indexes[i].columns);
}

static void add_columns(struct database *database, struct text *sql)
{
	for (size_t i = 0; i < ARRAY_SIZE(made_columns); i++)
		if (!schema_has_column(database, made_columns[i].table, made_columns[i].column))
			text_format(sql, "ALTER TABLE %s ADD COLUMN %s %s;", made_columns[i].table,
				    made_columns[i].column, made_columns[i].type);
}

static int run_text(struct database *database, struct text *sql, struct error *error)
{
	int status;

	if (sql->failed)
		return error_set(error, -ENOMEM, "not enough memory");
	status = database_run(database, text_string(sql), error);
	text_clear(sql);
	return status;
}

static int update(struct database *database, struct error *error)
{
	CLEANUP(text_free) struct text sql = { 0 };
	int64_t version = database_number(database, "PRAGMA user_version", 0);
	int status;

	for (int64_t i = version; i < SCHEMA_VERSION; i++)
		if (migrations[i])
			text_append_string(&sql, migrations[i]);
	add_tables(&sql);
	/* What earlier versions had: user_rows has it all; jobs are found by name and id. */
	text_append_string(&sql,
			   "DROP TABLE IF EXISTS event_users; DROP INDEX IF EXISTS jobs_name;");
	status = run_text(database, &sql, error);
	if (status < 0)
		return status;
	add_columns(database, &sql);
	status = run_text(database, &sql, error);
	/* A file of an older version has rows, and nobody has counted them. */
	if (status == 0 && database_number(database, "SELECT count(*) FROM user_rows", 0) == 0)
		status = user_rooms_recount(database, error);
	if (status < 0)
		return status;
	text_format(&sql, "PRAGMA application_id=%d; PRAGMA user_version=%d;", SCHEMA_APPLICATION,
		    SCHEMA_VERSION);
	return run_text(database, &sql, error);
}

int schema_update(struct database *database, struct error *error)
{
	struct error ignored = { 0 };
	int status = database_run(database, "BEGIN IMMEDIATE", error);

	if (status < 0)
		return status;
	status = update(database, error);
	if (status == 0)
		status = database_run(database, "COMMIT", error);
	if (status < 0)
		database_run(database, "ROLLBACK", &ignored);
	return status;
}

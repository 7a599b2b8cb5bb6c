/* SPDX-License-Identifier: MIT */
/*
 * Makes the tables of a recording (schema.def), and brings those of an older version up to date.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

struct database;
struct error;
struct text;

#define SCHEMA_VERSION 1
#define SCHEMA_APPLICATION 0x54534350 /* "TSCP" in the file's header, at byte 68 */

/*
 * 0; -ENOTSUP for a file of a newer version; -EBADMSG for a damaged one; -EINVAL for a database of
 * another program.  All with a sentence.
 */
int schema_check(struct database *database, struct error *error);
/* Makes what is missing. */
int schema_update(struct database *database, struct error *error);

/* Appends "a,b,c" of the columns that come from tables; `with` and `after` enclose each name. */
void schema_host_columns(struct text *sql, const char *with, const char *after);
void schema_minute_columns(struct text *sql);
/* Those of jobs and job_steps, each after a comma; NULL for one that an older file lacks. */
void schema_job_columns(struct database *database, const char *table, const char *alias,
			struct text *sql);

/* Whether the table has that column. */
int schema_has_column(struct database *database, const char *table, const char *column);

#endif

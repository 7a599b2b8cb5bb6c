/* SPDX-License-Identifier: MIT */
/*
 * This room has the SQLite file of a recording and its tables (schema.h), not what is in them.
 *
 * Here: the file is opened for one writer or for reading, with settings under which a stranger's
 * file can do no harm, and short ways to use it.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct database {
	sqlite3 *handle;
	char *path;	   /* as SQLite knows it */
	int lock;	   /* of a writer, on the file itself: it ends with the process */
	bool is_immutable; /* opened as a file that nobody writes to */
};

/*
 * Opens or creates the file and locks it.  0; -EBUSY when another writer has it; or another
 * negative errno.  All with a sentence.
 */
int database_open_writer(struct database *database, const char *path, struct error *error);
/* Renames the file of a writer and those beside it, and closes it.  *ret_name is to be freed. */
int database_set_aside(struct database *database, char **ret_name, struct error *error);

/*
 * -ENOENT, -EACCES or -EBADMSG, with a sentence.  A file that no recorder has open is read without
 * others beside it, unless reading takes long: a recorder may begin meanwhile.  Files beside it that
 * somebody else can have put there are never opened: then one with a WAL is refused.
 */
int database_open_reader(struct database *database, const char *path, bool takes_long,
			 struct error *error);
/* Opens it again if a recorder has begun since. */
int database_refresh(struct database *database, struct error *error);
void database_close(struct database *database);

/* Writes the WAL back and empties it, unless a reader keeps it for longer than a moment. */
void database_cut_wal(struct database *database);

/* The size of the file and its WAL. */
uint64_t database_size(const struct database *database);

/* A negative errno for what SQLite returned last, and the sentence "cannot DO PATH: why: advice". */
int database_fail(const struct database *database, const char *action, struct error *error);

/* Runs statements without results.  0 or what database_fail() gives. */
int database_run(struct database *database, const char *sql, struct error *error);
/* The only number that a query gives; `otherwise` when it gives none. */
int64_t database_number(struct database *database, const char *sql, int64_t otherwise);

/* A statement to bind and step; NULL after a failure. */
sqlite3_stmt *database_prepare(struct database *database, const char *sql);
void statement_free(sqlite3_stmt **statement); /* for CLEANUP() */

/* Bind the next parameter; *index counts them. */
void bind_number(sqlite3_stmt *statement, int *index, uint64_t number);
void bind_optional(sqlite3_stmt *statement, int *index, bool is_known, uint64_t number);
void bind_real(sqlite3_stmt *statement, int *index, bool is_known, double number);
void bind_text(sqlite3_stmt *statement, int *index, const char *text); /* NULL: none */
/* How much is kept of a command line, which may have thousands of bytes. */
#define COMMAND_BYTES 256
void bind_command(sqlite3_stmt *statement, int *index, const char *command, size_t most);
void bind_blob(sqlite3_stmt *statement, int *index, const void *bytes, size_t size);

/* Columns of a result; a value of another type counts as none. */
bool column_number(sqlite3_stmt *statement, int column, uint64_t *ret);
uint64_t column_number_or(sqlite3_stmt *statement, int column, uint64_t otherwise);
bool column_real(sqlite3_stmt *statement, int column, double *ret);
const char *column_text(sqlite3_stmt *statement, int column); /* or NULL; no NUL within */

#endif

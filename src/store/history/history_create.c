/* SPDX-License-Identifier: MIT */
/* Opens a recording for its one writer, or for reading, and closes it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "store/history/calls/history_calls.h"
#include "store/history/history_parts.h"
#include "store/history/database/schema.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)

/* The WAL is written back when it has one part in so many of what the file may have. */
#define WAL_PART 32
#define WAL_PAGES_LEAST 16
#define WAL_PAGES_MOST 500 /* as database_open_writer() sets it */
#define PAGE_BYTES 4096

const struct history_retention history_retention_defaults = {
	.raw_ns = 24 * HOUR_NS,
	.minutes_ns = 7 * 24 * HOUR_NS,
	.events_ns = 30 * 24 * HOUR_NS,
	.outcomes_ns = 365 * 24 * HOUR_NS,
	.bytes = UINT64_C(2) << 30,
};

static int out_of_memory(struct error *error)
{
	return error_set(error, -ENOMEM, "not enough memory");
}

static void finish_statements(struct history *history)
{
	for (int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(TAKE_PTR(history->statements[i]));
}

static void finish_writing(struct history *history)
{
	struct error ignored = { 0 };

	if (history->database.handle && history->is_begun && !history->is_damaged) {
		if (minutes_flush(history, &ignored) == 0 &&
		    call_minutes_flush(history, &ignored) == 0)
			history_commit(history, &ignored);
		database_run(&history->database, "DELETE FROM meta WHERE key='writer_pid'",
			     &ignored);
	}
	finish_statements(history);
}

void history_close(struct history *history)
{
	CLEANUP(free_pointer) char *name = NULL;
	struct error ignored = { 0 };

	if (!history)
		return;
	if (history->database.lock >= 0)
		finish_writing(history);
	if (history->is_damaged && history->is_begun && history->database.path)
		database_set_aside(&history->database, &name, &ignored);
	frame_writer_free(history->frames);
	frame_reader_free(history->reader);
	minutes_free(history->minutes);
	call_minutes_free(history->calls);
	bytes_free(&history->frame);
	array_free(&history->episodes);
	database_close(&history->database);
	free(history->path);
	free(history->note);
	free(history);
}

/*
 * The files go while they are locked: nobody else can have begun to use them, and SQLite leaves alone
 * what gets their names after that.
 */
void history_abandon(struct history *history)
{
	static const char *const endings[] = { "-wal", "-shm", "" };
	char name[PATH_MAX];

	for (size_t i = 0; history && history->is_new && i < ARRAY_SIZE(endings); i++)
		if (history->database.path &&
		    snprintf(name, sizeof(name), "%s%s", history->database.path, endings[i]) <
			    (int)sizeof(name))
			(void)unlink(name);
	history_close(history);
}

/*
 * Whether a file that SQLite cannot read may be renamed: it was a recording, or its name says that
 * it should be one.
 */
static bool was_recording(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	static const char application[] = { 'T', 'S', 'C', 'P' };
	size_t length = strlen(path);
	char head[72] = "";

	if (fd < 0 || file_read_at(fd, 0, head, sizeof(head)) != sizeof(head))
		return false;
	return memcmp(head + 68, application, sizeof(application)) == 0 ||
	       (length > 3 && strcmp(path + length - 3, ".db") == 0);
}

/* Opens the file; one that is damaged is set aside, and a new one begun. */
static int open_or_set_aside(struct database *database, const char *path, char **ret_note,
			     struct error *error)
{
	CLEANUP(text_free) struct text note = { 0 };
	CLEANUP(free_pointer) char *name = NULL;
	struct error damage = { 0 };
	int status = database_open_writer(database, path, &damage);

	if (status == 0)
		status = schema_check(database, &damage);
	if (status == 0)
		status = schema_update(database, &damage);
	if (status != -EBADMSG || !database->path || !was_recording(database->path))
		return status < 0 ? error_set(error, status, "%s", damage.message) : 0;
	status = database_set_aside(database, &name, error);
	if (status == 0)
		status = database_open_writer(database, path, error);
	if (status == 0)
		status = schema_update(database, error);
	text_format(&note, "%s was damaged: it is %s now, and a new one was begun", path, name);
	*ret_note = status == 0 && !note.failed ? TAKE_PTR(note.data) : NULL;
	return status;
}

/* Nobody else can have the file, so episodes that are still open ended with their recorder. */
static int close_episodes(struct history *history, struct error *error)
{
	return database_run(
		&history->database,
		"UPDATE anomalies SET end_ns = max(begin_ns, coalesce((SELECT max(ts_ns) "
		"FROM ticks), begin_ns)), details = coalesce(details, '') || "
		"' (the recorder ended)' WHERE end_ns IS NULL",
		error);
}

/* The WAL is part of what the file may have: in a small one it is small. */
static int limit_wal(struct history *history, struct error *error)
{
	uint64_t pages = history->retention.bytes / WAL_PART / PAGE_BYTES;
	char sql[96];

	if (pages > WAL_PAGES_MOST)
		return 0;
	if (pages < WAL_PAGES_LEAST)
		pages = WAL_PAGES_LEAST;
	snprintf(sql, sizeof(sql), "PRAGMA wal_autocheckpoint=%d; PRAGMA journal_size_limit=%d",
		 (int)pages, (int)pages * PAGE_BYTES);
	return database_run(&history->database, sql, error);
}

/* For those who write for a moment: what the file may have.  0: there is no limit. */
static int note_bytes(struct history *history, struct error *error)
{
	uint64_t bytes = history->retention.bytes;
	char number[24];

	snprintf(number, sizeof(number), "%lld", bytes > INT64_MAX ? 0 : (long long)bytes);
	return history_set_meta(history, "bytes_most", number, error);
}

/* Writes down who writes, unless it is for a moment. */
static int begin_writing(struct history *history, struct error *error)
{
	char pid[24] = "0";
	int status = limit_wal(history, error);

	if (status == 0)
		status = close_episodes(history, error);

	if (!history->is_moment)
		snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (status == 0)
		status = history_set_meta(history, "writer_pid", pid, error);
	if (status == 0 && !history->is_moment)
		status = note_bytes(history, error);
	if (status == 0)
		status = history_set_meta(history, "taskscope_version", TASKSCOPE_VERSION, error);
	if (status == 0)
		status = history_commit(history, error);
	if (status == 0)
		history->last_unix_ns = (uint64_t)database_number(
			&history->database, "SELECT ts_ns FROM ticks ORDER BY id DESC LIMIT 1", 0);
	return status;
}

/* A file that cannot be renamed now is opened again with the next attempt. */
int history_renew(struct history *history, struct error *error)
{
	CLEANUP(free_pointer) char *name = NULL, *note = NULL;
	CLEANUP(text_free) struct text sentence = { 0 };
	int status = 0;

	finish_statements(history);
	history->in_transaction = false;
	if (history->database.path)
		status = database_set_aside(&history->database, &name, error);
	if (status == 0)
		status = open_or_set_aside(&history->database, history->path, &note, error);
	if (status < 0) {
		database_close(&history->database);
		return status;
	}
	history->is_damaged = false;
	history->chain = history->boot = 0;
	history->boot_id[0] = '\0';
	history->episodes.count = 0;
	user_rooms_forget(history);
	frame_writer_restart(history->frames);
	minutes_forget_rows(history->minutes);
	known_rows_forget(&history->known);
	text_format(&sentence, "%s was damaged: it is %s now, and a new one was begun",
		    history->path, name ? name : "set aside");
	free(history->note);
	history->note = sentence.failed ? NULL : TAKE_PTR(sentence.data);
	return begin_writing(history, error);
}

char *history_take_note(struct history *history)
{
	return TAKE_PTR(history->note);
}

static int create(const char *path, const struct history_retention *retention, bool is_moment,
		  struct history **ret, char **ret_note, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = calloc(1, sizeof(*history));
	struct error damage = { 0 };
	int status;

	*ret_note = NULL;
	if (!history)
		return out_of_memory(error);
	history->database.lock = -1;
	history->retention = *retention;
	history->is_moment = is_moment;
	history->path = strdup(path);
	history->frames = frame_writer_new();
	history->minutes = minutes_new();
	if (!history->path || !history->frames || !history->minutes)
		return out_of_memory(error);
	history->is_new = access(path, F_OK) < 0 && errno == ENOENT;
	status = open_or_set_aside(&history->database, path, ret_note, error);
	if (status < 0)
		return status;
	history->is_begun = true;
	status = begin_writing(history, &damage);
	if (status == -EBADMSG) {
		status = history_renew(history, error);
		*ret_note = history_take_note(history);
	}
	if (status < 0)
		return error_set(error, status, "%s", damage.message);
	*ret = TAKE_PTR(history);
	return 0;
}

int history_create(const char *path, const struct history_retention *retention,
		   struct history **ret, char **ret_note, struct error *error)
{
	return create(path, retention, false, ret, ret_note, error);
}

int history_create_moment(const char *path, struct history **ret, char **ret_note,
			  struct error *error)
{
	int status = create(path, &history_retention_defaults, true, ret, ret_note, error);
	int64_t bytes;

	if (status < 0)
		return status;
	bytes = database_number(&(*ret)->database,
				"SELECT CAST(value AS INTEGER) FROM meta WHERE key='bytes_most'",
				(int64_t)history_retention_defaults.bytes);
	(*ret)->retention.bytes = bytes > 0 ? (uint64_t)bytes : UINT64_MAX;
	return 0;
}

int history_open_for(const char *path, bool takes_long, struct history **ret, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = calloc(1, sizeof(*history));
	int status;

	if (!history)
		return out_of_memory(error);
	history->database.lock = -1;
	history->reader = frame_reader_new();
	if (!history->reader)
		return out_of_memory(error);
	status = database_open_reader(&history->database, path, takes_long, error);
	if (status == 0)
		status = schema_check(&history->database, error);
	if (status == -EINVAL)
		status = -EBADMSG;
	if (status < 0)
		return status;
	*ret = TAKE_PTR(history);
	return 0;
}

int history_open(const char *path, struct history **ret, struct error *error)
{
	return history_open_for(path, false, ret, error);
}

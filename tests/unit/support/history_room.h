/* SPDX-License-Identifier: MIT */
/*
 * A directory with a recording of made ticks in it.
 */
#ifndef HISTORY_ROOM_H
#define HISTORY_ROOM_H

#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "made_ticks.h"
#include "sample_snapshot.h"
#include "store/history/history.h"

#define BEGIN_NS (UINT64_C(1700000040) * SECOND_NS) /* the first second of a minute */
#define HOUR_NS (3600 * SECOND_NS)

static const struct made_host small = {
	.processes = 12, .threads = 3, .begin_unix_ns = BEGIN_NS, .interval_ns = 5 * SECOND_NS
};

static const struct history_span always = { 0, UINT64_MAX };

/* A directory for each test, with a recording in it. */
struct room {
	char directory[64], path[128];
};

static inline struct room make_room(void)
{
	struct room room = { .directory = "/tmp/taskscope-history-XXXXXX" };

	assert_non_null(mkdtemp(room.directory));
	snprintf(room.path, sizeof(room.path), "%s/below/r.db", room.directory);
	return room;
}

static inline int remove_entry(const char *path, const struct stat *stat, int type,
			       struct FTW *place)
{
	(void)stat;
	(void)type;
	(void)place;
	return remove(path);
}

static inline void remove_room(const struct room *room)
{
	assert_int_equal(nftw(room->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline struct history *create_with(const struct room *room,
					  const struct history_retention *kept)
{
	struct history *history = NULL;
	struct error error = { 0 };
	char *note = NULL;
	int status = history_create(room->path, kept, &history, &note, &error);

	assert_string_equal(error.message, "");
	assert_int_equal(status, 0);
	assert_null(note);
	return history;
}

static inline struct history *create(const struct room *room)
{
	return create_with(room, &history_retention_defaults);
}

static inline struct history *open_history(const struct room *room)
{
	struct history *history = NULL;
	struct error error = { 0 };
	int status = history_open(room->path, &history, &error);

	assert_string_equal(error.message, "");
	assert_int_equal(status, 0);
	return history;
}

static inline void add_tick(struct history *history, const struct made_host *host, uint64_t tick)
{
	struct snapshot *snapshot = made_snapshot(host, tick);
	struct host_sample sample = made_sample(host, tick);
	struct error error = { 0 };

	assert_int_equal(
		history_add_tick(history,
				 &(struct history_tick){ .snapshot = snapshot, .sample = &sample },
				 &error),
		0);
	assert_int_equal(history_commit(history, &error), 0);
	snapshot_free(snapshot);
}

static inline void add_ticks(struct history *history, const struct made_host *host, uint64_t from,
			     uint64_t to)
{
	for (uint64_t tick = from; tick < to; tick++)
		add_tick(history, host, tick);
}

static inline void assert_tick(struct history *history, const struct made_host *host, uint64_t at,
			       uint64_t tick)
{
	struct snapshot *wanted = made_snapshot(host, tick), *got = NULL;
	struct error error = { 0 };

	assert_int_equal(history_snapshot(history, at, &got, &error), 0);
	assert_same_snapshot(wanted, got);
	snapshot_free(wanted);
	snapshot_free(got);
}

static inline uint64_t file_size(const struct room *room)
{
	struct stat file;

	assert_int_equal(stat(room->path, &file), 0);
	return (uint64_t)file.st_size;
}

/* Runs a query that gives one number, as people would. */
static inline double ask(const struct room *room, const char *sql)
{
	sqlite3 *handle = NULL;
	sqlite3_stmt *statement = NULL;
	double number;

	assert_int_equal(sqlite3_open_v2(room->path, &handle, SQLITE_OPEN_READONLY, NULL), 0);
	assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_double(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return number;
}

static inline void change_bytes(const struct room *room, off_t offset, const void *bytes,
				size_t size)
{
	int fd = open(room->path, O_RDWR | O_CLOEXEC);

	assert_int_equal(pwrite(fd, bytes, size, offset), size);
	close(fd);
}

#endif

/* SPDX-License-Identifier: MIT */
/* A recording whose file is damaged while it is written, whose clock is set, or that others can reach. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "history_room.h"

static void ignore_fault(void *context, const char *sentence)
{
	(void)context;
	print_message("%s\n", sentence);
}

static int verify(const struct room *room)
{
	struct error error = { 0 };

	return history_verify(room->path, ignore_fault, NULL, &error);
}

static int try_tick(struct history *history, uint64_t tick, struct error *error)
{
	struct snapshot *snapshot = made_snapshot(&small, tick);
	struct host_sample sample = made_sample(&small, tick);
	int status = history_add_tick(
		history, &(struct history_tick){ .snapshot = snapshot, .sample = &sample }, error);

	snapshot_free(snapshot);
	return status < 0 ? status : history_commit(history, error);
}

/* Overwrites the root page of a table. */
static void damage_table(const struct room *room, const char *table)
{
	char sql[128], garbage[4096];
	double page;

	snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
	page = ask(room, sql);
	memset(garbage, 0x5a, sizeof(garbage));
	change_bytes(room, ((off_t)page - 1) * (off_t)sizeof(garbage), garbage, sizeof(garbage));
}

static struct room make_recording(uint64_t ticks)
{
	struct room room = make_room();
	struct history *writer = create(&room);

	add_ticks(writer, &small, 0, ticks);
	history_close(writer);
	return room;
}

static void damage_that_a_write_finds_begins_a_new_file(void **state)
{
	struct room room = make_recording(10);
	struct history *writer, *reader;
	struct error error = { 0 };
	char *note;

	(void)state;
	damage_table(&room, "ticks");
	writer = create(&room);
	assert_int_equal(try_tick(writer, 10, &error), -EBADMSG);
	assert_null(history_take_note(writer));
	error = (struct error){ 0 };
	assert_int_equal(try_tick(writer, 11, &error), 0);
	note = history_take_note(writer);
	assert_non_null(note);
	assert_non_null(strstr(note, "was damaged: it is r.db.damaged-"));
	free(note);
	assert_null(history_take_note(writer));
	add_ticks(writer, &small, 12, 20);
	history_close(writer);
	assert_int_equal(verify(&room), 0);
	reader = open_history(&room);
	assert_tick(reader, &small, UINT64_MAX, 19);
	history_close(reader);
	/* What was lost is told. */
	assert_true(ask(&room, "SELECT missed FROM ticks ORDER BY id LIMIT 1") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM events WHERE kind = 'lost'") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM processes") >= 12);
	remove_room(&room);
}

static void a_tick_with_the_last_number_begins_a_new_file(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct snapshot *snapshot = made_snapshot(&small, 9);
	struct host_sample sample = made_sample(&small, 9);
	const struct history_tick tick = { .snapshot = snapshot, .sample = &sample };
	struct error error = { 0 };
	sqlite3 *handle = NULL;

	(void)state;
	add_ticks(writer, &small, 0, 3);
	history_close(writer);
	assert_int_equal(sqlite3_open(room.path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle,
				      "UPDATE ticks SET id = 9223372036854775807 WHERE id = 3",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(handle);
	writer = create(&room);
	assert_int_equal(history_add_tick(writer, &tick, &error), -EBADMSG);
	assert_int_equal(history_add_tick(writer, &tick, &error), 0);
	assert_int_equal(history_commit(writer, &error), 0);
	assert_true(ask(&room, "SELECT max(id) FROM ticks") == 1);
	history_close(writer);
	snapshot_free(snapshot);
	remove_room(&room);
}

static void damage_that_dropping_finds_begins_a_new_file(void **state)
{
	struct room room = make_recording(10);
	struct history *writer;
	struct error error = { 0 };
	char *note;

	(void)state;
	damage_table(&room, "patterns");
	writer = create(&room);
	assert_int_equal(history_expire(writer, BEGIN_NS + 20000 * HOUR_NS, &error), -EBADMSG);
	error = (struct error){ 0 };
	assert_int_equal(history_expire(writer, BEGIN_NS, &error), 0);
	assert_int_equal(try_tick(writer, 10, &error), 0);
	note = history_take_note(writer);
	assert_non_null(note);
	free(note);
	history_close(writer);
	assert_int_equal(verify(&room), 0);
	remove_room(&room);
}

static void damage_that_the_beginning_finds_begins_a_new_file(void **state)
{
	struct room room = make_recording(10);
	struct history *writer = NULL;
	struct error error = { 0 };
	char *note = NULL;

	(void)state;
	damage_table(&room, "anomalies");
	assert_int_equal(
		history_create(room.path, &history_retention_defaults, &writer, &note, &error), 0);
	assert_non_null(note);
	free(note);
	add_ticks(writer, &small, 10, 12);
	history_close(writer);
	assert_int_equal(verify(&room), 0);
	remove_room(&room);
}

static struct made_host set_back(uint64_t seconds)
{
	struct made_host host = small;

	host.begin_unix_ns -= seconds * SECOND_NS;
	return host;
}

/* The first 300 ticks are those of 1500 s; then the clock is set back by 600 s. */
static void a_time_that_came_twice_is_the_second(void **state)
{
	struct made_host again = set_back(600);
	struct room room = make_recording(300);
	struct history *writer = create(&room), *reader;
	struct history_span span;

	(void)state;
	add_ticks(writer, &again, 300, 360);
	reader = open_history(&room);
	assert_tick(reader, &again, UINT64_MAX, 359);
	assert_tick(reader, &again, BEGIN_NS + 1000 * SECOND_NS, 320);
	assert_tick(reader, &again, BEGIN_NS + 900 * SECOND_NS, 300);
	assert_tick(reader, &small, BEGIN_NS + 899 * SECOND_NS, 179);
	assert_tick(reader, &small, BEGIN_NS + 1300 * SECOND_NS, 260);
	assert_tick(reader, &small, BEGIN_NS, 0);
	assert_true(history_extent(reader, &span));
	assert_int_equal(span.to_unix_ns, BEGIN_NS + 1195 * SECOND_NS);
	history_close(reader);
	history_close(writer);
	assert_int_equal(verify(&room), 0);
	/* Set back again, by another recorder; and forward, which puts nothing out of order. */
	writer = create(&room);
	again = set_back(900);
	add_ticks(writer, &again, 360, 361);
	again.begin_unix_ns += 5000 * SECOND_NS;
	add_ticks(writer, &again, 361, 362);
	history_close(writer);
	reader = open_history(&room);
	assert_tick(reader, &again, UINT64_MAX, 361);
	history_close(reader);
	assert_true(ask(&room, "SELECT value = '301,361' FROM meta WHERE key = 'clock_set_back'"));
	assert_int_equal(verify(&room), 0);
	remove_room(&room);
}

/* Two minutes that the clock calls the same, with other figures. */
static void minutes_of_a_time_that_came_twice_are_no_fault(void **state)
{
	struct made_host again = set_back(120);
	struct room room = make_recording(24);
	struct history *writer = create(&room);
	struct error error = { 0 };

	(void)state;
	for (uint64_t tick = 24; tick < 48; tick++) {
		struct snapshot *snapshot = made_snapshot(&again, tick);
		struct host_sample sample = made_sample(&again, tick);
		const struct history_tick made = { .snapshot = snapshot, .sample = &sample };

		for (uint32_t row = 0; row < snapshot->process_count; row++)
			made_set(snapshot, METRIC_rss_bytes, row, 4096 * (tick + row));
		assert_int_equal(history_add_tick(writer, &made, &error), 0);
		assert_int_equal(history_commit(writer, &error), 0);
		snapshot_free(snapshot);
	}
	history_close(writer);
	assert_int_equal(verify(&room), 0);
	remove_room(&room);
}

static int count_files(const char *folder)
{
	DIR *directory = opendir(folder);
	int count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

static void set_mode(const struct room *room, mode_t mode)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "%s/below", room->directory);
	assert_int_equal(chmod(folder, mode), 0);
}

/* A WAL can say anything of the recording, and SQLite maps the file beside it into memory. */
static void files_that_others_can_put_beside_it_are_not_believed(void **state)
{
	struct room room = make_recording(10);
	struct history *writer, *reader = NULL;
	struct error error = { 0 };
	char folder[128];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/below", room.directory);
	set_mode(&room, 0777);
	assert_int_equal(verify(&room), 0);
	reader = open_history(&room);
	history_close(reader);
	assert_int_equal(count_files(folder), 1);
	set_mode(&room, 0700);
	writer = create(&room);
	add_tick(writer, &small, 10);
	reader = open_history(&room);
	assert_tick(reader, &small, UINT64_MAX, 10);
	history_close(reader);
	set_mode(&room, 0777);
	assert_int_equal(history_open(room.path, &reader, &error), -EACCES);
	assert_non_null(strstr(error.message, "others can change the file"));
	/* With the sticky bit nobody can replace those that are there. */
	set_mode(&room, 01777);
	reader = open_history(&room);
	assert_tick(reader, &small, UINT64_MAX, 10);
	history_close(reader);
	history_close(writer);
	assert_int_equal(verify(&room), 0);
	assert_int_equal(count_files(folder), 1);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_that_a_write_finds_begins_a_new_file),
		cmocka_unit_test(a_tick_with_the_last_number_begins_a_new_file),
		cmocka_unit_test(damage_that_dropping_finds_begins_a_new_file),
		cmocka_unit_test(damage_that_the_beginning_finds_begins_a_new_file),
		cmocka_unit_test(a_time_that_came_twice_is_the_second),
		cmocka_unit_test(minutes_of_a_time_that_came_twice_are_no_fault),
		cmocka_unit_test(files_that_others_can_put_beside_it_are_not_believed),
	};

	return cmocka_run_group_tests_name("history_trouble", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Checking and repairing a recording, and series of processes. */
#include "history_room.h"

struct faults {
	char sentences[32][512];
	int count;
};

static void note(void *context, const char *sentence)
{
	struct faults *faults = context;

	if (faults->count < 32)
		snprintf(faults->sentences[faults->count], 512, "%s", sentence);
	faults->count++;
}

static int verify(const char *path, struct faults *faults)
{
	struct error error = { 0 };

	*faults = (struct faults){ 0 };
	return history_verify(path, note, faults, &error);
}

/* A recording of 300 ticks, closed. */
static struct room make_recording(void)
{
	struct room room = make_room();
	struct history *writer = create(&room);

	add_ticks(writer, &small, 0, 300);
	history_close(writer);
	return room;
}

/* Runs statements as somebody with an SQLite shell would. */
static void change(const struct room *room, const char *sql)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(room->path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

static void a_good_recording_has_no_faults(void **state)
{
	struct room room = make_recording();
	struct faults faults;

	(void)state;
	assert_int_equal(verify(room.path, &faults), 0);
	remove_room(&room);
}

/* The process ended, and nobody waited for it yet. */
static void add_tick_without_memory(struct history *history, uint64_t tick)
{
	struct snapshot *snapshot = made_snapshot(&small, tick);
	struct host_sample sample = made_sample(&small, tick);
	struct error error = { 0 };

	for (uint32_t row = 0; row < snapshot->process_count; row++)
		snapshot_clear(snapshot, METRIC_rss_bytes, row);
	assert_int_equal(
		history_add_tick(history,
				 &(struct history_tick){ .snapshot = snapshot, .sample = &sample },
				 &error),
		0);
	assert_int_equal(history_commit(history, &error), 0);
	snapshot_free(snapshot);
}

static void a_minute_of_which_a_recorder_saw_only_zombies_is_no_fault(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct faults faults;

	(void)state;
	add_tick(writer, &small, 0);
	add_tick_without_memory(writer, 1);
	history_close(writer);
	/* As if the first tick was that of a recorder that was killed. */
	change(&room, "UPDATE process_minutes SET samples = 1, rss_bytes_min = NULL, "
		      "rss_bytes_mean = NULL, rss_bytes_max = NULL");
	assert_int_equal(verify(room.path, &faults), 0);
	remove_room(&room);
}

static void every_kind_of_damage_is_found(void **state)
{
	static const struct {
		const char *sql, *sentence;
	} damages[] = {
		{ "UPDATE ticks SET frame = zeroblob(50) WHERE id = 100", "checksum differs" },
		{ "DELETE FROM ticks WHERE id = 100", "not the one it had" },
		{ "DELETE FROM ticks WHERE id = 121", "has no key frame" },
		{ "UPDATE ticks SET boottime_ns = 1 WHERE id = 7", "is out of order" },
		{ "UPDATE process_minutes SET rss_bytes_min = 1, minutes = 1, samples = 12 WHERE "
		  "process = 2",
		  "differs from its ticks" },
		{ "UPDATE process_minutes SET rss_bytes_mean = 1",
		  "between the least and the most" },
		{ "UPDATE process_minutes SET process = 9999 WHERE process = 3", "of no process" },
		{ "UPDATE process_minutes SET minutes = 0 WHERE process = 3", "of no minute" },
		{ "UPDATE ticks SET frame = 'text' WHERE id = 1", "damaged" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		struct room room = make_recording();
		struct faults faults;
		bool is_found = false;

		change(&room, damages[i].sql);
		assert_true(verify(room.path, &faults) > 0);
		for (int j = 0; j < faults.count && j < 32; j++)
			is_found |= strstr(faults.sentences[j], damages[i].sentence) != NULL;
		if (!is_found)
			print_error("%s: %s\n", damages[i].sql, faults.sentences[0]);
		assert_true(is_found);
		remove_room(&room);
	}
}

static void what_can_be_read_is_copied(void **state)
{
	struct room room = make_recording();
	struct room copy = room;
	struct history *reader;
	struct snapshot *snapshot = NULL;
	struct faults faults = { 0 };
	struct error error = { 0 };
	int left_out;

	(void)state;
	change(&room, "UPDATE ticks SET frame = zeroblob(50) WHERE id = 100");
	snprintf(copy.path, sizeof(copy.path), "%s/copy.db", room.directory);
	left_out = history_repair(room.path, copy.path, note, &faults, &error);
	assert_string_equal(error.message, "");
	/* The damaged one and those after it up to the next key frame. */
	assert_int_equal(left_out, 21);
	assert_int_equal(verify(copy.path, &faults), 0);
	reader = open_history(&copy);
	assert_tick(reader, &small, UINT64_MAX, 299);
	assert_tick(reader, &small, BEGIN_NS + 98 * 5 * SECOND_NS, 98);
	assert_int_equal(history_snapshot(reader, BEGIN_NS, &snapshot, &error), 0);
	snapshot_free(snapshot);
	history_close(reader);
	assert_int_equal(history_repair(room.path, copy.path, note, &faults, &error), -EEXIST);
	remove_room(&room);
}

/* Overwrites one page after the other: each time something is wrong, and the rest is saved. */
static void damaged_pages_are_told_and_survived(void **state)
{
	struct room original = make_recording();
	struct stat file;
	char garbage[4096];
	int damaged = 0, saved = 0;

	(void)state;
	assert_int_equal(stat(original.path, &file), 0);
	memset(garbage, 0x5a, sizeof(garbage));
	for (off_t page = 1; page < file.st_size / 4096; page += 7) {
		struct room room = original, copy = original;
		struct faults faults;
		struct error error = { 0 };
		char before[4096];
		int fd = open(room.path, O_RDONLY | O_CLOEXEC);

		assert_int_equal(pread(fd, before, 4096, page * 4096), 4096);
		close(fd);
		change_bytes(&room, page * 4096, garbage, 4096);
		damaged += verify(room.path, &faults) != 0;
		snprintf(copy.path, sizeof(copy.path), "%s/copy%d.db", room.directory, (int)page);
		if (history_repair(room.path, copy.path, note, &faults, &error) >= 0) {
			assert_int_equal(verify(copy.path, &faults), 0);
			saved += ask(&copy, "SELECT count(*) FROM ticks") > 100;
		}
		change_bytes(&room, page * 4096, before, 4096);
	}
	assert_true(damaged > 3);
	assert_true(saved > 3);
	remove_room(&original);
}

/* Overwrites the page that has the text. */
static void damage_page_of(const struct room *room, const char *text)
{
	char page[4096], garbage[sizeof(page)];
	int fd = open(room->path, O_RDONLY | O_CLOEXEC);
	off_t place = 0;

	while (pread(fd, page, sizeof(page), place) == sizeof(page) &&
	       !memmem(page, sizeof(page), text, strlen(text)))
		place += (off_t)sizeof(page);
	close(fd);
	memset(garbage, 0x5a, sizeof(garbage));
	change_bytes(room, place, garbage, sizeof(garbage));
}

/* Numbers of stacks are hashes, so they go from one end of all numbers to the other. */
static void rows_with_any_numbers_are_saved(void **state)
{
	static const char *const rows[] = { "function_1;", "function_250;" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct room room = make_recording(), copy = room;
		struct faults faults = { 0 };
		struct error error = { 0 };

		change(&room,
		       "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
		       "INSERT INTO stacks(hash, frames) SELECT (i - 500) * 18446744073709551, "
		       "printf('function_%d;%0100d', i, i) FROM n");
		change(&room, "INSERT INTO stacks(hash, frames) VALUES(9223372036854775807, 'last')");
		damage_page_of(&room, rows[i]);
		snprintf(copy.path, sizeof(copy.path), "%s/copy.db", room.directory);
		assert_true(history_repair(room.path, copy.path, note, &faults, &error) > 0);
		assert_true(ask(&copy, "SELECT count(*) FROM stacks") > 900);
		remove_room(&room);
	}
}

static void a_table_with_code_behind_it_is_refused(void **state)
{
	struct room room = make_recording();
	struct faults faults;

	(void)state;
	change(&room,
	       "DROP TABLE stacks; CREATE VIRTUAL TABLE stacks USING rtree(hash, low, high)");
	assert_true(verify(room.path, &faults) > 0);
	assert_non_null(strstr(faults.sentences[0], "no such module"));
	remove_room(&room);
}

struct points {
	struct history_point list[400];
	size_t count;
};

static int see_point(void *context, const struct history_point *point)
{
	struct points *points = context;

	assert_string_equal(point->comm, "made-0");
	assert_int_equal(point->task.pid, 1000);
	assert_int_equal(point->task.tid, 1000);
	assert_int_equal(point->task.start_ns, SECOND_NS);
	assert_true(point->least <= point->mean && point->mean <= point->most);
	if (points->count > 0 && points->count < 400)
		assert_true(point->unix_ns > points->list[points->count - 1].unix_ns);
	if (points->count < 400)
		points->list[points->count] = *point;
	points->count++;
	return 0;
}

static int read_series(struct history *history, const struct series_query *query,
		       struct points *ret)
{
	struct error error = { 0 };

	ret->count = 0;
	return history_series(history, query, see_point, ret, &error);
}

/* SQLite would compute them for each row, for as long as a stranger wants. */
static void a_schema_that_computes_is_refused(void **state)
{
	static const char *const changes[] = {
		"ALTER TABLE events ADD COLUMN x AS (length(zeroblob(900000000)))",
		"CREATE TABLE y(a, b GENERATED ALWAYS AS (length(zeroblob(a))) STORED)",
		"CREATE INDEX z ON events(length(zeroblob(id)))",
		"CREATE INDEX w ON events(id) WHERE length(comm) > 5",
		"CREATE TABLE v(a check(length(zeroblob(a)) > 0))",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct room room = make_room();
		struct history *writer = create(&room), *reader = NULL;
		struct error error = { 0 };

		add_ticks(writer, &small, 0, 3);
		history_close(writer);
		change(&room, changes[i]);
		assert_int_equal(history_open(room.path, &reader, &error), -EBADMSG);
		assert_non_null(strstr(error.message, "has expressions"));
		remove_room(&room);
	}
}

static void a_series_is_of_ticks_or_of_minutes(void **state)
{
	struct room room = make_recording();
	struct history *history = open_history(&room);
	struct points *points = calloc(1, sizeof(*points));
	const struct history_span some = { BEGIN_NS + 20 * SECOND_NS, BEGIN_NS + 100 * SECOND_NS };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(read_series(history,
				     &(struct series_query){ .span = some,
							     .pid = 1000,
							     .metric = METRIC_rss_bytes },
				     points),
			 0);
	assert_int_equal(points->count, 17);
	assert_true(points->list[0].unix_ns == some.from_unix_ns);
	assert_true(points->list[16].unix_ns == some.to_unix_ns);
	assert_true(points->list[3].mean == 1 << 20);
	assert_false(points->list[0].is_minute);
	/* A counter is a rate: ns of CPU time a second. */
	assert_int_equal(read_series(history,
				     &(struct series_query){ .span = some,
							     .name = "made-0",
							     .metric = METRIC_run_time_ns,
							     .limit = 5 },
				     points),
			 0);
	assert_int_equal(points->count, 5);
	assert_true(points->list[4].unix_ns == some.to_unix_ns);
	assert_true(points->list[0].mean == 1e8);
	/* Too many ticks: minutes. */
	assert_int_equal(read_series(history,
				     &(struct series_query){ .span = always,
							     .pid = 1000,
							     .metric = METRIC_run_time_ns },
				     points),
			 0);
	assert_true(points->count > 1 && points->count <= 26);
	assert_true(points->list[1].is_minute);
	assert_true(points->list[1].mean == 1e8);
	/* Minutes do not have it: the key frames. */
	assert_int_equal(read_series(history,
				     &(struct series_query){ .span = always,
							     .pid = 1000,
							     .metric = METRIC_voluntary_csw },
				     points),
			 0);
	assert_int_equal(points->count, 2);
	assert_true(points->list[0].mean > 0.59 && points->list[0].mean < 0.61);
	assert_int_equal(history_series(history,
					&(struct series_query){
						.span = always, .pid = 1, .metric = METRIC_state },
					see_point, points, &error),
			 -ENODATA);
	free(points);
	history_close(history);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_recording_has_no_faults),
		cmocka_unit_test(a_minute_of_which_a_recorder_saw_only_zombies_is_no_fault),
		cmocka_unit_test(every_kind_of_damage_is_found),
		cmocka_unit_test(what_can_be_read_is_copied),
		cmocka_unit_test(damaged_pages_are_told_and_survived),
		cmocka_unit_test(a_table_with_code_behind_it_is_refused),
		cmocka_unit_test(rows_with_any_numbers_are_saved),
		cmocka_unit_test(a_schema_that_computes_is_refused),
		cmocka_unit_test(a_series_is_of_ticks_or_of_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

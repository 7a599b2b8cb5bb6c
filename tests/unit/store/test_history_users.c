/* SPDX-License-Identifier: MIT */
/* No user's rows push out those of others. */
#include "history_room.h"

#include <string.h>

#include "model/record/activity.h"
#include "store/history/history_activity.h"

#define FLOOD 10000

static const struct made_host one = { 1, 1, BEGIN_NS, 5 * SECOND_NS };

static void add_event(struct history *history, uint32_t uid, uint64_t second, const char *cmd)
{
	const struct life_event event = {
		.kind = LIFE_EXEC,
		.present = LIFE_HAS_UID,
		.uid = uid,
		.unix_ns = BEGIN_NS + second * SECOND_NS,
		.task = { .pid = 5, .tid = 5, .start_ns = 9 },
		.comm = "made",
		.cmd = cmd,
	};
	struct error error = { 0 };

	if (history_add_event(history, &event, &error) < 0)
		fail_msg("%s", error.message);
}

static void commit(struct history *history)
{
	struct error error = { 0 };

	if (history_commit(history, &error) < 0)
		fail_msg("%s", error.message);
}

#define KEPT(part, uid) "SELECT kept FROM user_rows WHERE part = '" part "' AND uid = " uid

static void expect_sums(const struct room *room)
{
	assert_true(ask(room,
			"SELECT count(*) FROM (SELECT uid, count(*) AS n FROM events GROUP BY "
			"uid) AS e JOIN user_rows AS u USING (uid) WHERE part = 'events' AND n <> "
			"u.kept") == 0);
	assert_true(
		ask(room, "SELECT coalesce(sum(kept), 0) FROM user_rows WHERE part = 'events'") ==
		ask(room, "SELECT count(*) FROM events"));
}

static void a_flood_pushes_out_only_its_own(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;

	(void)state;
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	add_tick(writer, &one, 0);
	for (uint64_t i = 0; i < 100; i++)
		add_event(writer, 1000, i, "of somebody else");
	commit(writer);
	for (uint64_t i = 0; i < FLOOD; i++) {
		add_event(writer, 666, 100 + i, "a flood of events with a command line");
		if (i % 20 == 0) {
			commit(writer);
			assert_true(file_size(&room) < kept.bytes);
		}
	}
	commit(writer);
	assert_true(ask(&room, "SELECT count(*) FROM events WHERE uid = 1000") == 100);
	assert_true(ask(&room, "SELECT count(*) FROM events WHERE uid = 666") > 1000);
	assert_true(ask(&room, "SELECT count(*) FROM events WHERE uid = 666") < FLOOD);
	/* Its newest are there, the tick is, and the sums are right. */
	assert_true(ask(&room, "SELECT max(ts_ns) FROM events WHERE uid = 666") ==
		    (int64_t)(BEGIN_NS + (100 + FLOOD - 1) * SECOND_NS));
	assert_true(ask(&room, "SELECT count(*) FROM ticks") == 1);
	expect_sums(&room);
	history_close(writer);
	remove_room(&room);
}

static void a_flood_within_a_few_commits_is_limited_as_well(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;

	(void)state;
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < 4 * FLOOD; i++) {
		add_event(writer, 666, i, "a flood of events with a command line");
		if (i % 4000 == 0)
			commit(writer);
	}
	commit(writer);
	assert_true(ask(&room, "SELECT count(*) FROM events") < 2 * FLOOD);
	history_close(writer);
	remove_room(&room);
}

/* Rows are of very different sizes: no more go than must. */
static void long_rows_do_not_go_all_at_once(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;
	char cmd[4000];

	(void)state;
	memset(cmd, 'x', sizeof(cmd));
	cmd[sizeof(cmd) - 1] = '\0';
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < 1000; i++) {
		add_event(writer, 666, i, cmd);
		commit(writer);
		if (i >= 300)
			assert_true(ask(&room, "SELECT count(*) FROM events") > 200);
	}
	expect_sums(&room);
	history_close(writer);
	remove_room(&room);
}

static void two_floods_share(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;
	int64_t first, second;

	(void)state;
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < FLOOD; i++) {
		add_event(writer, 1, i, "flood");
		add_event(writer, 2, i, "flood");
		if (i % 20 == 0)
			commit(writer);
	}
	commit(writer);
	first = ask(&room, KEPT("events", "1"));
	second = ask(&room, KEPT("events", "2"));
	assert_true(first < FLOOD && first < second + second / 2 && second < first + first / 2);
	history_close(writer);
	remove_room(&room);
}

/* Not all kinds keep a whole command line: of one user they have one, of the other none. */
static void a_row_counts_what_it_keeps(void **state)
{
	static const enum life_kind kinds[] = { LIFE_EXEC, LIFE_SPAWN, LIFE_EXIT, LIFE_KILL };
	struct room room = make_room();
	struct history *writer = create(&room);
	struct error error = { 0 };
	char command[3001];

	(void)state;
	memset(command, 'x', sizeof(command) - 1);
	command[sizeof(command) - 1] = '\0';
	for (size_t i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		const struct life_event event = { .kind = kinds[i / 2],
						  .unix_ns = BEGIN_NS,
						  .present = LIFE_HAS_UID,
						  .uid = i % 2,
						  .cmd = i % 2 ? command : NULL };

		assert_int_equal(history_add_event(writer, &event, &error), 0);
	}
	commit(writer);
	assert_true(ask(&room, "SELECT bytes FROM user_rows WHERE uid = 1") -
			    ask(&room, "SELECT sum(length(cmd)) FROM events") ==
		    ask(&room, "SELECT bytes FROM user_rows WHERE uid = 0"));
	history_close(writer);
	remove_room(&room);
}

static void what_goes_with_its_age_is_not_counted(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct error error = { 0 };
	struct history *writer;

	(void)state;
	kept.events_ns = HOUR_NS;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < 100; i++)
		add_event(writer, 7 + i % 2, i, i % 3 ? "some words" : NULL);
	commit(writer);
	assert_int_equal(history_expire(writer, BEGIN_NS + 90 * SECOND_NS + HOUR_NS, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM events") == 10);
	expect_sums(&room);
	assert_int_equal(history_expire(writer, BEGIN_NS + 200 * SECOND_NS + HOUR_NS, &error), 0);
	assert_true(ask(&room, "SELECT sum(abs(bytes)) FROM user_rows WHERE part = 'events'") == 0);
	history_close(writer);
	remove_room(&room);
}

static void run(const struct room *room, const char *sql)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(room->path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

static void a_file_without_sums_gets_them(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer = create_with(&room, &kept);

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		add_event(writer, 7, i, "words");
	commit(writer);
	history_close(writer);
	run(&room,
	    "DROP TABLE user_rows; CREATE TABLE event_users(uid); UPDATE events SET uid = NULL WHERE id = 1");
	writer = create_with(&room, &kept);
	assert_true(ask(&room, KEPT("events", "7")) == 9);
	assert_true(ask(&room, KEPT("events", "-1")) == 1);
	assert_true(ask(&room, "SELECT count(*) FROM sqlite_schema WHERE name = 'event_users'") ==
		    0);
	history_close(writer);
	remove_room(&room);
}

/* Sums that say more than there is, of a file that somebody else has made. */
static void wrong_sums_are_made_anew(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct error error = { 0 };
	struct history *writer = create_with(&room, &kept);

	(void)state;
	add_event(writer, 7, 1, "words");
	commit(writer);
	history_close(writer);
	run(&room, "INSERT INTO user_rows VALUES('events', 8, 1000000, 1000000000000, 0); "
		   "UPDATE events SET uid = 'seven' WHERE uid = 7");
	kept.bytes = 1 << 20;
	writer = create_with(&room, &kept);
	assert_int_equal(history_expire(writer, BEGIN_NS, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM events") == 1);
	assert_true(ask(&room, KEPT("events", "0")) == 1);
	assert_true(ask(&room, "SELECT sum(kept) FROM user_rows WHERE part = 'events'") == 1);
	history_close(writer);
	remove_room(&room);
}

/* Processes of a tick: a few of user 1000 that live on, and a crowd of user 666 of each tick alone. */
struct crowd {
	uint32_t quiet, crowd;
	uint32_t uid;  /* of the quiet ones */
	bool lives_on; /* the crowd is the same at each tick */
};

static void add_owned(struct snapshot *snapshot, int32_t pid, uint64_t start_ns, uint32_t uid)
{
	uint32_t process, row;
	struct task task = { .tid = pid, .start_time_ns = start_ns };

	made_check(snapshot_process(snapshot, pid, &process));
	snapshot->processes[process] =
		(struct process){ .tgid = pid,
				  .start_time_ns = start_ns,
				  .pcomm = made_text(snapshot, "of-%" PRIu32, uid),
				  .cmdline = made_text(snapshot, "a command line, number %" PRIu32,
						       (uint32_t)start_ns + (uint32_t)pid) };
	made_set(snapshot, METRIC_rss_bytes, process, 4096);
	made_set(snapshot, METRIC_uid, process, uid);
	task.process = process;
	task.comm = made_text(snapshot, "thread", 0);
	made_check(snapshot_add_task(snapshot, &task, &row));
	made_set(snapshot, METRIC_run_time_ns, row, start_ns);
}

static struct snapshot *crowded(const struct crowd *crowd, uint64_t tick)
{
	struct snapshot *snapshot = NULL;
	uint64_t second = 5 * tick, start_ns = (crowd->lives_on ? 1 : second + 100) * SECOND_NS;

	made_check(snapshot_new(&snapshot));
	for (uint32_t i = 0; i < crowd->quiet; i++)
		add_owned(snapshot, (int32_t)(10 + i), SECOND_NS, crowd->uid);
	for (uint32_t i = 0; i < crowd->crowd; i++)
		add_owned(snapshot, (int32_t)(1000 + i), start_ns, 666);
	made_check(snapshot_set_fact_text(snapshot, FACT_boot_id, MADE_BOOT_ID));
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns, BEGIN_NS + second * SECOND_NS);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, (100 + second) * SECOND_NS);
	made_check(snapshot_finish(snapshot));
	made_check(snapshot_finish_sheets(snapshot));
	return snapshot;
}

static void add_crowd(struct history *history, const struct crowd *crowd, uint64_t tick)
{
	struct snapshot *snapshot = crowded(crowd, tick);
	struct error error = { 0 };

	if (history_add_tick(history, &(struct history_tick){ .snapshot = snapshot }, &error) < 0)
		fail_msg("%s", error.message);
	commit(history);
	snapshot_free(snapshot);
}

/* The file with its WAL. */
static uint64_t whole_size(const struct room *room)
{
	char path[160];
	struct stat wal;

	snprintf(path, sizeof(path), "%s-wal", room->path);
	return file_size(room) + (stat(path, &wal) == 0 ? (uint64_t)wal.st_size : 0);
}

static void expect_no_fault(void *context, const char *sentence)
{
	(void)context;
	fail_msg("%s", sentence);
}

#define ROWS_OF(uid)                                                                                \
	"SELECT (SELECT count(*) FROM processes WHERE uid = " uid                                   \
	") + (SELECT count(*) FROM process_minutes JOIN processes ON id = process WHERE uid = " uid \
	")"

static void expect_process_sums(const struct room *room)
{
	assert_true(ask(room, KEPT("processes", "666")) == ask(room, ROWS_OF("666")));
	assert_true(ask(room, KEPT("processes", "1000")) == ask(room, ROWS_OF("1000")));
}

static void a_crowd_of_processes_pushes_out_only_its_own(void **state)
{
	static const struct crowd crowd = { .quiet = 20, .crowd = 200, .uid = 1000 };
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct error error = { 0 };
	struct history *writer;

	(void)state;
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < 250; i++) {
		add_crowd(writer, &crowd, i);
		/* What was to go is gone after each tick, whatever the age of the recording. */
		assert_true(whole_size(&room) <= kept.bytes);
	}
	assert_true(ask(&room, "SELECT count(*) FROM processes WHERE uid = 1000") == 20);
	/* 20 minutes were over, and what stays the same has one row. */
	assert_true(ask(&room, "SELECT sum(minutes) FROM process_minutes JOIN processes ON id = "
			       "process WHERE uid = 1000") >= 20 * 20);
	assert_true(ask(&room, ROWS_OF("666")) > 1000);
	assert_true(ask(&room, "SELECT max(start_time_ns) FROM processes WHERE uid = 666") ==
		    (double)((5 * 249 + 100) * SECOND_NS));
	assert_true(ask(&room, "SELECT sum(bytes) FROM user_rows WHERE part = 'processes'") <=
		    (double)kept.bytes / 2);
	assert_true(ask(&room, "SELECT count(*) FROM ticks") > 10);
	/* All that was added is there, or counted; the last tick's have no minute yet. */
	assert_true(ask(&room, "SELECT kept + dropped FROM user_rows WHERE part = 'processes' AND "
			       "uid = 666") == 250 * 200 + 249 * 200);
	assert_true(ask(&room, "SELECT dropped FROM user_rows WHERE part = 'processes' AND uid = "
			       "1000") == 0);
	assert_true(history_dropped_rows(writer) > 0);
	expect_process_sums(&room);
	history_close(writer);
	assert_int_equal(history_verify(room.path, expect_no_fault, NULL, &error), 0);
	remove_room(&room);
}

/* More processes live than there is room for: the rows that went come again, and the file stays small. */
static void a_row_that_went_comes_again_while_its_process_lives(void **state)
{
	static const struct crowd crowd = {
		.quiet = 2, .crowd = 6000, .uid = 1000, .lives_on = true
	};
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct error error = { 0 };
	struct history *writer;

	(void)state;
	kept.bytes = 1 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < 30; i++) {
		add_crowd(writer, &crowd, i);
		assert_true(whole_size(&room) <= kept.bytes + kept.bytes / 2);
	}
	assert_true(ask(&room, "SELECT count(*) FROM processes WHERE uid = 1000") == 2);
	assert_true(ask(&room, "SELECT count(*) FROM processes WHERE uid = 666") > 100);
	expect_process_sums(&room);
	history_close(writer);
	assert_int_equal(history_verify(room.path, expect_no_fault, NULL, &error), 0);
	remove_room(&room);
}

static void a_process_takes_its_rows_to_another_user(void **state)
{
	struct crowd crowd = { .quiet = 3, .uid = 7 };
	struct room room = make_room();
	struct history *writer = create(&room);

	(void)state;
	for (uint64_t i = 0; i < 30; i++) {
		crowd.uid = i < 20 ? 7 : 1000;
		add_crowd(writer, &crowd, i);
	}
	assert_true(ask(&room, KEPT("processes", "7")) == 0);
	assert_true(ask(&room, KEPT("processes", "1000")) > 3);
	assert_true(ask(&room, KEPT("processes", "1000")) == ask(&room, ROWS_OF("1000")));
	assert_true(ask(&room,
			"SELECT abs(bytes) FROM user_rows WHERE part = 'processes' AND uid = 7") ==
		    0);
	history_close(writer);
	remove_room(&room);
}

/* Activity of processes that went goes with them: no row refers to another process. */
static void activity_goes_with_its_process(void **state)
{
	static const struct crowd crowd = { .quiet = 2, .crowd = 200, .uid = 1000 };
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct error error = { 0 };
	struct history *writer;

	(void)state;
	kept.bytes = 2 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t i = 0; i < 100; i++) {
		struct activity_sample sample = { .pid = 1000,
						  .tid = 1000,
						  .start_ns = (5 * i + 100) * SECOND_NS,
						  .uid = 666,
						  .state = 'R',
						  .is_on_cpu = true,
						  .comm = "made",
						  .process_comm = "made" };
		struct activity activity = { .unix_ns = BEGIN_NS + 5 * i * SECOND_NS };

		add_crowd(writer, &crowd, i);
		assert_int_equal(array_append(&activity.samples, sample), 0);
		assert_int_equal(
			history_add_activity(
				writer, &(struct history_walk){ .activity = &activity }, &error),
			0);
		commit(writer);
		array_free(&activity.samples);
	}
	assert_true(ask(&room, "SELECT dropped FROM user_rows WHERE part = 'processes' AND uid = "
			       "666") > 0);
	assert_true(ask(&room, "SELECT count(*) FROM activity") > 0);
	assert_true(ask(&room, "SELECT count(*) FROM activity") < 100);
	history_close(writer);
	assert_int_equal(history_verify(room.path, expect_no_fault, NULL, &error), 0);
	remove_room(&room);
}

static void put_anomaly(struct history *history, enum anomaly_change change, uint64_t id,
			uint32_t uid)
{
	const struct anomaly anomaly = {
		.id = id,
		.rule = ANOMALY_FD_EXHAUSTION,
		.begin_unix_ns = BEGIN_NS + id * SECOND_NS,
		.end_unix_ns = change == ANOMALY_CLOSED ? BEGIN_NS + (id + 1) * SECOND_NS : 0,
		.has_uid = true,
		.uid = uid,
		.comm = "made",
		.details = "a sentence that says what is wrong, which has some length",
	};
	struct error error = { 0 };

	if (history_put_anomaly(history, change, &anomaly, &error) < 0)
		fail_msg("%s", error.message);
}

static void a_flood_of_anomalies_pushes_out_only_its_own(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;

	(void)state;
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	put_anomaly(writer, ANOMALY_CLOSED, 1, 1000);
	put_anomaly(writer, ANOMALY_OPENED, 2, 666);
	for (uint64_t id = 3; id < 2000; id++) {
		put_anomaly(writer, ANOMALY_OPENED, id, 666);
		put_anomaly(writer, ANOMALY_CLOSED, id, 666);
		commit(writer);
	}
	assert_true(ask(&room, "SELECT count(*) FROM anomalies") < 1000);
	assert_true(ask(&room, "SELECT count(*) FROM anomalies WHERE uid = 1000") == 1);
	/* One that is open stays, since it is still to be closed. */
	assert_true(ask(&room, "SELECT count(*) FROM anomalies WHERE end_ns IS NULL") == 1);
	assert_true(ask(&room, "SELECT kept + dropped FROM user_rows WHERE part = 'anomalies' AND "
			       "uid = 666") == 1998);
	history_close(writer);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_pushes_out_only_its_own),
		cmocka_unit_test(a_flood_within_a_few_commits_is_limited_as_well),
		cmocka_unit_test(long_rows_do_not_go_all_at_once),
		cmocka_unit_test(two_floods_share),
		cmocka_unit_test(a_row_counts_what_it_keeps),
		cmocka_unit_test(what_goes_with_its_age_is_not_counted),
		cmocka_unit_test(a_file_without_sums_gets_them),
		cmocka_unit_test(wrong_sums_are_made_anew),
		cmocka_unit_test(a_crowd_of_processes_pushes_out_only_its_own),
		cmocka_unit_test(a_row_that_went_comes_again_while_its_process_lives),
		cmocka_unit_test(a_process_takes_its_rows_to_another_user),
		cmocka_unit_test(activity_goes_with_its_process),
		cmocka_unit_test(a_flood_of_anomalies_pushes_out_only_its_own),
	};

	return cmocka_run_group_tests_name("history_users", tests, NULL, NULL);
}

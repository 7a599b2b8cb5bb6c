/* SPDX-License-Identifier: MIT */
/* No user's events push out those of others. */
#include "history_room.h"

#include <string.h>

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

static void expect_sums(const struct room *room)
{
	assert_true(ask(room,
			"SELECT count(*) FROM (SELECT uid, count(*) AS n FROM events GROUP BY "
			"uid) AS e JOIN event_users AS u USING (uid) WHERE n <> u.events") == 0);
	assert_true(ask(room, "SELECT sum(events) FROM event_users") ==
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
	first = ask(&room, "SELECT events FROM event_users WHERE uid = 1");
	second = ask(&room, "SELECT events FROM event_users WHERE uid = 2");
	assert_true(first < FLOOD && first < second + second / 2 && second < first + first / 2);
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
	assert_true(ask(&room, "SELECT sum(abs(bytes)) FROM event_users") == 0);
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
	run(&room, "DROP TABLE event_users; UPDATE events SET uid = NULL WHERE id = 1");
	writer = create_with(&room, &kept);
	assert_true(ask(&room, "SELECT events FROM event_users WHERE uid = 7") == 9);
	assert_true(ask(&room, "SELECT events FROM event_users WHERE uid = -1") == 1);
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
	run(&room, "INSERT INTO event_users VALUES(8, 1000000, 1000000000000); "
		   "UPDATE events SET uid = 'seven' WHERE uid = 7");
	kept.bytes = 1 << 20;
	writer = create_with(&room, &kept);
	assert_int_equal(history_expire(writer, BEGIN_NS, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM events") == 1);
	assert_true(ask(&room, "SELECT events FROM event_users WHERE uid = 0") == 1);
	assert_true(ask(&room, "SELECT sum(events) FROM event_users") == 1);
	history_close(writer);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_pushes_out_only_its_own),
		cmocka_unit_test(a_flood_within_a_few_commits_is_limited_as_well),
		cmocka_unit_test(two_floods_share),
		cmocka_unit_test(what_goes_with_its_age_is_not_counted),
		cmocka_unit_test(a_file_without_sums_gets_them),
		cmocka_unit_test(wrong_sums_are_made_anew),
	};

	return cmocka_run_group_tests_name("history_users", tests, NULL, NULL);
}

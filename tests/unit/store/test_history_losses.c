/* SPDX-License-Identifier: MIT */
/* Transactions that fail: what was in them is counted until something can be written again. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/error.h"
#include "history_room.h"
#include "model/record/anomaly.h"
#include "model/record/life_event.h"

static const struct life_event spawn = { .kind = LIFE_SPAWN, .task = { 7, 7, 70 } };

/* As on a full disk, nothing reaches a file, which is noticed when a transaction ends. */
static int commit_in_vain(struct history *history)
{
	struct rlimit before, none;
	struct error error = { 0 };
	int status;

	getrlimit(RLIMIT_FSIZE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &none);
	status = history_commit(history, &error);
	setrlimit(RLIMIT_FSIZE, &before);
	return status;
}

static void put_anomaly(struct history *history, uint64_t id, enum anomaly_change change,
			uint64_t end_ns)
{
	const struct anomaly anomaly = {
		.id = id, .rule = ANOMALY_ZOMBIE, .begin_unix_ns = BEGIN_NS, .end_unix_ns = end_ns
	};
	struct error error = { 0 };

	assert_int_equal(history_put_anomaly(history, change, &anomaly, &error), 0);
}

static void add_event(struct history *history, const struct life_event *event)
{
	struct error error = { 0 };

	assert_int_equal(history_add_event(history, event, &error), 0);
}

static void hold_tick(struct history *history, uint64_t number)
{
	struct snapshot *snapshot = made_snapshot(&small, number);
	struct host_sample sample = made_sample(&small, number);
	const struct history_tick tick = { .snapshot = snapshot, .sample = &sample, .missed = 3 };
	struct error error = { 0 };

	assert_int_equal(history_add_tick(history, &tick, &error), 0);
	snapshot_free(snapshot);
}

static void losses_are_counted_until_they_are_told(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	const struct life_event lost = { .kind = LIFE_LOST, .lost = 5 };

	(void)state;
	add_tick(history, &small, 0);
	add_event(history, &spawn);
	add_event(history, &lost);
	hold_tick(history, 1);
	assert_true(commit_in_vain(history) < 0);
	/* Now the losses are part of what is lost. */
	add_event(history, &spawn);
	hold_tick(history, 2);
	assert_true(commit_in_vain(history) < 0);
	add_tick(history, &small, 3);
	assert_true(ask(&room, "SELECT count(*) FROM ticks") == 2);
	/* What the caller calls missed is for the caller to say again. */
	assert_true(ask(&room, "SELECT missed FROM ticks ORDER BY id DESC") == 2);
	assert_true(ask(&room, "SELECT count(*) FROM events") == 1);
	assert_true(ask(&room, "SELECT lost FROM events WHERE kind = 'lost'") == 7);
	assert_true(ask(&room, "SELECT details LIKE '2 ticks and 7 events: %_' FROM events") == 1);
	/* They are told once. */
	add_tick(history, &small, 4);
	assert_true(ask(&room, "SELECT sum(missed) FROM ticks") == 2);
	assert_true(ask(&room, "SELECT count(*) FROM events") == 1);
	history_close(history);
	remove_room(&room);
}

static void an_anomaly_whose_row_was_lost_gets_another(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct error error = { 0 };

	(void)state;
	put_anomaly(history, 1, ANOMALY_OPENED, 0);
	assert_true(commit_in_vain(history) < 0);
	/* The number of the row that was lost is given to another. */
	put_anomaly(history, 2, ANOMALY_OPENED, 0);
	put_anomaly(history, 1, ANOMALY_GREW, 0);
	assert_int_equal(history_commit(history, &error), 0);
	put_anomaly(history, 1, ANOMALY_GREW, 0);
	assert_true(commit_in_vain(history) < 0);
	put_anomaly(history, 1, ANOMALY_CLOSED, BEGIN_NS + 9);
	put_anomaly(history, 2, ANOMALY_CLOSED, BEGIN_NS + 8);
	assert_int_equal(history_commit(history, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM anomalies") == 2);
	assert_true(ask(&room, "SELECT min(end_ns - begin_ns) FROM anomalies") == 8);
	assert_true(ask(&room, "SELECT max(end_ns - begin_ns) FROM anomalies") == 9);
	assert_true(ask(&room, "SELECT sum(lost) FROM events WHERE kind = 'lost'") == 2);
	history_close(history);
	remove_room(&room);
}

static void an_anomaly_that_cannot_be_written_is_counted(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	const struct anomaly anomaly = { .id = 1,
					 .rule = ANOMALY_ZOMBIE,
					 .begin_unix_ns = BEGIN_NS };
	struct error error = { 0 };
	sqlite3 *handle = NULL;

	(void)state;
	assert_int_equal(sqlite3_open(room.path, &handle), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(handle, "ALTER TABLE anomalies RENAME TO hidden", NULL, NULL, NULL),
		SQLITE_OK);
	assert_true(history_put_anomaly(history, ANOMALY_OPENED, &anomaly, &error) < 0);
	assert_int_equal(
		sqlite3_exec(handle, "ALTER TABLE hidden RENAME TO anomalies", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(handle);
	add_tick(history, &small, 0);
	assert_true(ask(&room, "SELECT lost FROM events WHERE kind = 'lost'") == 1);
	history_close(history);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_counted_until_they_are_told),
		cmocka_unit_test(an_anomaly_whose_row_was_lost_gets_another),
		cmocka_unit_test(an_anomaly_that_cannot_be_written_is_counted),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests_name("history_losses", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* System calls of processes in a recording. */
#include "history_room.h"

#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"
#include "store/history/calls/history_calls.h"

static const struct made_host one = { 1, 1, BEGIN_NS, 5 * SECOND_NS };
static const struct call_query all = { .span = { 0, UINT64_MAX } };

struct seen {
	size_t count;
	struct call_point points[64];
	char comm[64];
};

static int see(void *context, const struct call_point *point)
{
	struct seen *seen = context;

	if (seen->count < 64)
		seen->points[seen->count] = *point;
	seen->count++;
	snprintf(seen->comm, sizeof(seen->comm), "%s", point->comm ? point->comm : "");
	return 0;
}

static struct seen read_all(const struct room *room, const struct call_query *query)
{
	struct history *reader = open_history(room);
	struct seen seen = { 0 };
	struct error error = { 0 };

	assert_int_equal(history_calls(reader, query, see, &seen, &error), 0);
	history_close(reader);
	return seen;
}

static struct process_call call(struct task_key process, const char *name, uint64_t count)
{
	struct process_call ret = { .process = process,
				    .line = { .calls = count,
					      .errors = count / 2,
					      .time_ns = count * 1000,
					      .max_ns = count } };

	snprintf(ret.line.name, sizeof(ret.line.name), "%s", name);
	return ret;
}

/* Adds a tick with one process, and gives that process. */
static struct task_key first_tick(struct history *history)
{
	struct snapshot *snapshot = made_snapshot(&one, 0);
	const struct process *process = &snapshot->processes[0];
	struct task_key key = { process->tgid, process->tgid, process->start_time_ns };

	add_tick(history, &one, 0);
	snapshot_free(snapshot);
	return key;
}

static void add(struct history *history, uint64_t unix_ns, const struct process_call *calls,
		size_t count)
{
	struct error error = { 0 };

	if (history_add_calls(history, unix_ns, calls, count, &error) < 0)
		fail_msg("%s", error.message);
}

static void calls_of_a_minute_are_one_row(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct task_key process = first_tick(history);
	struct process_call calls[] = { call(process, "read", 10), call(process, "futex", 30) };
	struct seen seen;

	(void)state;
	add(history, BEGIN_NS, calls, 2);
	add(history, BEGIN_NS + SECOND_NS, calls, 1);
	add(history, BEGIN_NS + 60 * SECOND_NS, calls, 1);
	history_close(history);
	seen = read_all(&room, &all);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.points[0].line.name, "futex");
	assert_string_equal(seen.points[1].line.name, "read");
	assert_true(seen.points[1].line.calls == 20 && seen.points[1].line.errors == 10);
	assert_true(seen.points[1].line.time_ns == 20000 && seen.points[1].line.max_ns == 10);
	assert_true(seen.points[2].line.calls == 10);
	assert_true(seen.points[2].unix_ns == seen.points[0].unix_ns + 60 * SECOND_NS);
	assert_true(seen.points[0].process.pid == process.pid &&
		    seen.points[0].process.start_ns == process.start_ns);
	remove_room(&room);
}

static void what_is_beyond_the_most_is_one_row(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct task_key process = first_tick(history);
	uint64_t sum = 0;
	struct seen seen;

	(void)state;
	for (unsigned i = 1; i <= CALLS_PER_PROCESS + 5; i++) {
		char name[16];
		struct process_call made;

		snprintf(name, sizeof(name), "call%u", i);
		made = call(process, name, i);
		add(history, BEGIN_NS, &made, 1);
	}
	history_close(history);
	seen = read_all(&room, &all);
	assert_int_equal(seen.count, CALLS_PER_PROCESS + 1);
	for (size_t i = 0; i < seen.count; i++) {
		sum += seen.points[i].line.calls;
		if (!seen.points[i].line.name[0])
			assert_true(seen.points[i].line.calls == 1 + 2 + 3 + 4 + 5);
	}
	assert_true(sum == (CALLS_PER_PROCESS + 5) * (CALLS_PER_PROCESS + 6) / 2);
	remove_room(&room);
}

static void processes_that_no_tick_saw_are_kept_together(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct task_key process = first_tick(history), reused = process;
	struct process_call calls[] = { call((struct task_key){ 70000, 70000, 5 }, "read", 4),
					call((struct task_key){ 70001, 70001, 5 }, "read", 5),
					call(process, "read", 6), call(reused, "read", 7) };
	struct seen seen;

	(void)state;
	calls[3].process.start_ns += 1000 * SECOND_NS; /* another process of the same number */
	add(history, BEGIN_NS, calls, 4);
	history_close(history);
	seen = read_all(&room, &all);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.points[0].process.pid, 0);
	assert_true(seen.points[0].line.calls == 4 + 5 + 7);
	assert_true(seen.points[1].line.calls == 6);
	remove_room(&room);
}

static void a_query_chooses(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct task_key process = first_tick(history);
	struct process_call made = call(process, "read", 1);
	struct call_query query = all;
	struct seen seen;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		add(history, BEGIN_NS + i * 60 * SECOND_NS, &made, 1);
	history_close(history);
	query.limit = 2;
	seen = read_all(&room, &query);
	assert_int_equal(seen.count, 2);
	assert_true(seen.points[0].unix_ns < seen.points[1].unix_ns);
	assert_true(seen.points[1].unix_ns + 60 * SECOND_NS > BEGIN_NS + 4 * 60 * SECOND_NS);
	query = all;
	query.pid = process.pid + 1;
	assert_int_equal(read_all(&room, &query).count, 0);
	query.pid = process.pid;
	assert_int_equal(read_all(&room, &query).count, 5);
	query.name = seen.comm;
	assert_int_equal(read_all(&room, &query).count, 5);
	query.name = "another";
	assert_int_equal(read_all(&room, &query).count, 0);
	remove_room(&room);
}

static void rows_go_with_their_age(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct process_call made = call(first_tick(history), "read", 1);
	struct error error = { 0 };

	(void)state;
	add(history, BEGIN_NS, &made, 1);
	add(history, BEGIN_NS + 3600 * SECOND_NS, &made, 1);
	add(history, BEGIN_NS + 7200 * SECOND_NS, &made, 1);
	assert_int_equal(history_commit(history, &error), 0);
	assert_int_equal(
		history_expire(history,
			       BEGIN_NS + history_retention_defaults.minutes_ns + 3000 * SECOND_NS,
			       &error),
		0);
	history_close(history);
	assert_int_equal(read_all(&room, &all).count, 2);
	remove_room(&room);
}

static void take_fault(void *context, const char *sentence)
{
	(void)sentence;
	++*(int *)context;
}

static int count_faults(const struct room *room)
{
	struct error error = { 0 };
	int faults = 0;

	assert_true(history_verify(room->path, take_fault, &faults, &error) >= 0);
	return faults;
}

static void rows_that_cannot_be_are_found(void **state)
{
	static const char *const changes[] = {
		"UPDATE process_syscalls SET process = 77",
		"UPDATE process_syscalls SET process = 0, errors = calls + 1",
		"UPDATE process_syscalls SET errors = 0, max_ns = time_ns + 1",
		"UPDATE process_syscalls SET max_ns = 0, ts_ns = ts_ns + 1",
	};
	struct room room = make_room();
	struct history *history = create(&room);
	struct process_call made = call(first_tick(history), "read", 1);

	(void)state;
	add(history, BEGIN_NS, &made, 1);
	history_close(history);
	assert_int_equal(count_faults(&room), 0);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		sqlite3 *database;

		assert_int_equal(sqlite3_open(room.path, &database), SQLITE_OK);
		assert_int_equal(sqlite3_exec(database, changes[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(database);
		assert_int_equal(count_faults(&room), 1);
	}
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_a_minute_are_one_row),
		cmocka_unit_test(what_is_beyond_the_most_is_one_row),
		cmocka_unit_test(processes_that_no_tick_saw_are_kept_together),
		cmocka_unit_test(a_query_chooses),
		cmocka_unit_test(rows_go_with_their_age),
		cmocka_unit_test(rows_that_cannot_be_are_found),
	};

	return cmocka_run_group_tests_name("history_calls", tests, NULL, NULL);
}

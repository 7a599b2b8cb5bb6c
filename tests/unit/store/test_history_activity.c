/* SPDX-License-Identifier: MIT */
/* The activity of a recording: what is written is summed, and ends with its age. */
#include "history_room.h"

#include "model/record/activity.h"
#include "store/history/history_activity.h"

static const struct kernel_stack futex = { .hash = UINT64_C(1) << 63 | 7, .frames = "a;b;c" };
static const struct kernel_stack pipe_read = { .hash = 9, .frames = "pipe_read;vfs_read" };

static const struct activity_sample nap = {
	.pid = 70,
	.tid = 71,
	.start_ns = 5,
	.state = 'S',
	.reason = WAIT_TIMER,
	.comm = "nap",
	.process_comm = "new",
	.stack = &futex,
	.scope = "naps",
};
static const struct activity_sample reads = {
	.pid = 70,
	.tid = 72,
	.start_ns = 5,
	.state = 'S',
	.reason = WAIT_PIPE,
	.comm = "reads",
	.process_comm = "new",
	.stack = &pipe_read,
};
static const struct activity_sample runs = {
	.pid = 80,
	.tid = 80,
	.start_ns = 6,
	.state = 'R',
	.is_on_cpu = true,
	.comm = "runs",
	.process_comm = "runs",
};

static int add_walk(struct history *history, uint64_t second, uint64_t missed,
		    const struct activity_sample *samples, size_t count)
{
	struct activity activity = { .unix_ns = BEGIN_NS + second * SECOND_NS,
				     .stacks_left_out = second };
	struct error error = { 0 };
	int status;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(array_append(&activity.samples, samples[i]), 0);
	status = history_add_activity(
		history, &(struct history_walk){ .activity = &activity, .missed = missed }, &error);
	if (status == 0)
		status = history_commit(history, &error);
	array_free(&activity.samples);
	return status;
}

/* A tick, then three walks: nothing, two threads, three threads. */
static void record(struct history *history)
{
	add_tick(history, &small, 0);
	assert_int_equal(add_walk(history, 1, 0, NULL, 0), 0);
	assert_int_equal(add_walk(history, 2, 0, (struct activity_sample[]){ nap, runs }, 2), 0);
	assert_int_equal(add_walk(history, 5, 2, (struct activity_sample[]){ nap, reads, runs }, 3),
			 0);
}

struct found {
	char lines[8][64];
	uint64_t samples[8];
	size_t count;
};

static int find(void *context, const struct activity_group *group)
{
	struct found *found = context;

	snprintf(found->lines[found->count], sizeof(found->lines[0]), "%s %s",
		 group->values[0] ? group->values[0] : "-",
		 group->values[1] ? group->values[1] : "-");
	found->samples[found->count++] = group->samples;
	return 0;
}

static struct found sum(struct history *history, const struct activity_query *query)
{
	struct error error = { 0 };
	struct found found = { 0 };

	assert_int_equal(history_activity(history, query, find, &found, &error), 0);
	return found;
}

static void samples_are_summed_by_keys(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	struct activity_query query = { .span = always,
					.keys = { ACTIVITY_BY_pcomm, ACTIVITY_BY_wait },
					.key_count = 2 };
	struct activity_totals totals = { 0 };
	struct error error = { 0 };
	struct found found;

	(void)state;
	record(writer);
	reader = open_history(&room);
	assert_int_equal(history_activity_totals(reader, &query, &totals, &error), 0);
	assert_int_equal(totals.walks, 3);
	assert_int_equal(totals.missed, 2);
	assert_int_equal(totals.samples, 5);
	assert_int_equal(totals.stacks_left_out, 1 + 2 + 5);
	assert_true(totals.span.from_unix_ns == BEGIN_NS + SECOND_NS);
	found = sum(reader, &query);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.lines[0], "new timer");
	assert_string_equal(found.lines[1], "runs running");
	assert_string_equal(found.lines[2], "new pipe");
	assert_int_equal(found.samples[0], 2);
	assert_int_equal(found.samples[2], 1);
	/* Of one process, and of a part of the time. */
	query.pid = 80;
	found = sum(reader, &query);
	assert_int_equal(found.count, 1);
	query = (struct activity_query){
		.span = { 0, BEGIN_NS + 2 * SECOND_NS },
		.keys = { ACTIVITY_BY_stack, ACTIVITY_BY_scope },
		.key_count = 2,
	};
	found = sum(reader, &query);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.lines[0], "- -");
	assert_string_equal(found.lines[1], "a;b;c naps");
	assert_true(history_activity_at(reader, BEGIN_NS + 4 * SECOND_NS) ==
		    BEGIN_NS + 2 * SECOND_NS);
	assert_true(history_activity_at(reader, BEGIN_NS) == 0);
	history_close(reader);
	history_close(writer);
	assert_true(ask(&room, "SELECT count(*) FROM stacks") == 2);
	assert_true(ask(&room, "SELECT count(*) FROM processes WHERE pid = 70") == 1);
	remove_room(&room);
}

/* What the process before did that had the number says nothing about this one, nor in another boot. */
static void a_number_that_is_used_again_is_another_process(void **state)
{
	struct activity_sample again = reads;
	struct room room = make_room();
	struct history *writer = create(&room);
	struct activity_query query = { .span = always,
					.pid = 70,
					.keys = { ACTIVITY_BY_wait, ACTIVITY_BY_pid },
					.key_count = 2 };
	struct found found;

	(void)state;
	again.start_ns = 8;
	add_tick(writer, &small, 0);
	assert_int_equal(add_walk(writer, 1, 0, &nap, 1), 0);
	assert_int_equal(add_walk(writer, 2, 0, &again, 1), 0);
	assert_int_equal(sum(writer, &query).count, 2);
	query.start_ns = 8;
	found = sum(writer, &query);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.lines[0], "pipe 70");
	query.start_ns = 9;
	assert_int_equal(sum(writer, &query).count, 0);
	history_close(writer);
	remove_room(&room);
}

static void nothing_is_kept_before_the_first_tick(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);

	(void)state;
	assert_int_equal(add_walk(writer, 1, 0, &nap, 1), -EAGAIN);
	history_close(writer);
	remove_room(&room);
}

/* A stack that is gone with its samples is written again when it is seen again. */
static void it_goes_with_its_age_and_comes_back(void **state)
{
	struct history_retention retention = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;
	struct error error = { 0 };

	(void)state;
	retention.raw_ns = HOUR_NS;
	writer = create_with(&room, &retention);
	record(writer);
	assert_int_equal(history_expire(writer, BEGIN_NS + 3 * SECOND_NS + HOUR_NS, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM activity_walks") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM activity") == 3);
	assert_int_equal(history_expire(writer, BEGIN_NS + 9 * SECOND_NS + HOUR_NS, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM activity") == 0);
	assert_int_equal(history_expire(writer, BEGIN_NS + 3 * HOUR_NS, &error), 0);
	assert_true(ask(&room, "SELECT count(*) FROM stacks") == 0);
	assert_int_equal(add_walk(writer, 3700, 0, &nap, 1), 0);
	assert_true(ask(&room, "SELECT count(*) FROM stacks") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM activity JOIN stacks ON hash = stack") == 1);
	history_close(writer);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_summed_by_keys),
		cmocka_unit_test(a_number_that_is_used_again_is_another_process),
		cmocka_unit_test(nothing_is_kept_before_the_first_tick),
		cmocka_unit_test(it_goes_with_its_age_and_comes_back),
	};

	return cmocka_run_group_tests_name("history_activity", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Moments of a recording: which one a move leads to, what each has, and the ruler of all. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "history_room.h"
#include "store/history/job/history_jobs.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_source.h"

#define TICKS 12

static struct error error; /* of the last call */

static uint64_t second(uint64_t seconds)
{
	return BEGIN_NS + seconds * SECOND_NS;
}

static void put_anomaly(struct history *history, uint64_t from, uint64_t to)
{
	struct anomaly anomaly = { .id = from, .begin_unix_ns = second(from) };

	assert_int_equal(history_put_anomaly(history, ANOMALY_OPENED, &anomaly, &error), 0);
	anomaly.end_unix_ns = second(to);
	assert_int_equal(history_put_anomaly(history, ANOMALY_CLOSED, &anomaly, &error), 0);
}

static void put_event(struct history *history, enum life_kind kind, uint64_t at)
{
	const struct life_event event = { .kind = kind,
					  .unix_ns = second(at),
					  .task = { 7, 7, 7 } };

	assert_int_equal(history_add_event(history, &event, &error), 0);
}

static void put_job(struct history *history, uint64_t from, uint64_t to)
{
	const struct job_instant begin = { second(from), from * SECOND_NS, "boot" };
	const struct job_instant end = { second(to), to * SECOND_NS, "boot" };
	struct job job = { .name = "nightly" };

	job_begin(&job, &begin);
	job_end(&job, JOB_SUCCESS, &end);
	assert_int_equal(history_put_job(history, &job, &error), 0);
}

/* Ticks every 5 s from 0 to 55; what happened is between them. */
static struct moment_source *open_source(struct room *room, uint64_t age_ns, uint64_t at_unix_ns)
{
	struct moment_source *source = NULL;
	struct history *history;

	*room = make_room();
	history = create(room);
	add_ticks(history, &small, 0, TICKS);
	put_anomaly(history, 11, 21);
	put_anomaly(history, 31, 33);
	put_event(history, LIFE_SIGNAL, 13);
	put_event(history, LIFE_EXIT, 27);
	put_event(history, LIFE_KILL, 41);
	put_job(history, 6, 24);
	assert_int_equal(history_commit(history, &error), 0);
	history_close(history);
	assert_int_equal(store_source_open(open_history(room), age_ns, at_unix_ns, &source, &error),
			 0);
	return source;
}

static void close_source(struct room *room, struct moment_source *source, struct moment *moment)
{
	moment_clear(moment);
	moment_source_close(source);
	remove_room(room);
}

/* Moves, and is at that second then; or there is no such moment, and it says so. */
static void assert_move(struct moment_source *source, struct moment *moment,
			const struct move *move, int64_t seconds, const char *says)
{
	int status;

	error = (struct error){ 0 };
	status = moment_source_take(source, move, moment, &error);
	assert_int_equal(status, says ? -ENODATA : 0);
	if (says)
		assert_string_equal(error.message, says);
	assert_int_equal(moment->sample.unix_ns, second((uint64_t)seconds));
	assert_int_equal(moment->read->facts[FACT_captured_at_unix_ns].number,
			 second((uint64_t)seconds));
}

static void a_move_leads_to_its_moment(void **state)
{
	static const struct {
		struct move move;
		int64_t seconds;
		const char *says;
	} moves[] = {
		{ { .kind = MOVE_ON }, 0, NULL }, /* whatever comes first */
		{ { .kind = MOVE_BACK }, 0, "this is the first moment" },
		{ { .kind = MOVE_ON }, 5, NULL },
		{ { .kind = MOVE_BACK }, 0, NULL },
		{ { .kind = MOVE_LAST }, 55, NULL },
		{ { .kind = MOVE_ON }, 55, "the recording has no more moments" },
		{ { .kind = MOVE_BY, .ns = 1 }, 55, "the recording has no more moments" },
		{ { .kind = MOVE_BY, .ns = INT64_MIN }, 0, NULL },
		{ { .kind = MOVE_BY, .ns = -1 }, 0, "this is the first moment" },
		{ { .kind = MOVE_BY, .ns = 1 }, 5, NULL }, /* across the gap to the next */
		{ { .kind = MOVE_BY, .ns = 17 * (int64_t)SECOND_NS }, 20, NULL },
		{ { .kind = MOVE_BY, .ns = INT64_MAX }, 55, NULL },
		{ { .kind = MOVE_FIRST }, 0, NULL },
		{ { .kind = MOVE_TO_LAST_ANOMALY }, 0, "no anomaly opened before this moment" },
		{ { .kind = MOVE_TO_NEXT_ANOMALY }, 15, NULL },
		{ { .kind = MOVE_TO_NEXT_ANOMALY }, 35, NULL },
		{ { .kind = MOVE_TO_NEXT_ANOMALY }, 35, "no anomaly opened after this moment" },
		{ { .kind = MOVE_TO_LAST_ANOMALY }, 15, NULL },
		{ { .kind = MOVE_TO_NEXT_EVENT }, 45, NULL }, /* an exit is none */
		{ { .kind = MOVE_TO_NEXT_EVENT }, 45, "no process got a signal after this moment" },
		{ { .kind = MOVE_TO_LAST_EVENT }, 15, NULL },
		{ { .kind = MOVE_TO_LAST_EVENT },
		  15,
		  "no process got a signal before this moment" },
		{ { .kind = MOVE_TO_NEXT_JOB_EDGE }, 25, NULL },
		{ { .kind = MOVE_TO_NEXT_JOB_EDGE },
		  25,
		  "no job began or ended after this moment" },
		{ { .kind = MOVE_TO_LAST_JOB_EDGE }, 10, NULL },
		{ { .kind = MOVE_TO_LAST_JOB_EDGE },
		  10,
		  "no job began or ended before this moment" },
	};
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 0, 0);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		assert_move(source, &moment, &moves[i].move, moves[i].seconds, moves[i].says);
	close_source(&room, source, &moment);
}

static void a_time_between_ticks_is_told(void **state)
{
	const struct move on = { .kind = MOVE_ON }, before = { .kind = MOVE_TO, .unix_ns = 1 };
	struct move to = { .kind = MOVE_TO, .unix_ns = second(34) };
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 0, second(12));

	(void)state;
	assert_move(source, &moment, &on, 10, NULL);
	assert_int_equal(moment.asked_unix_ns, second(12));
	assert_move(source, &moment, &on, 15, NULL);
	assert_int_equal(moment.asked_unix_ns, 0);
	assert_move(source, &moment, &to, 30, NULL);
	assert_int_equal(moment.asked_unix_ns, second(34));
	to.unix_ns = second(35);
	assert_move(source, &moment, &to, 35, NULL);
	assert_int_equal(moment.asked_unix_ns, 0);
	assert_move(source, &moment, &before, 0, NULL);
	assert_int_equal(moment.asked_unix_ns, 1);
	close_source(&room, source, &moment);
}

static void only_the_newest_time_is_there_if_asked_so(void **state)
{
	const struct move first = { .kind = MOVE_FIRST };
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 20 * SECOND_NS, UINT64_MAX);

	(void)state;
	assert_move(source, &moment, &first, 55, NULL); /* where it begins */
	assert_int_equal(moment.asked_unix_ns, 0);
	assert_move(source, &moment, &first, 35, NULL);
	close_source(&room, source, &moment);
}

/* However one came there. */
static void a_moment_has_what_was_done_since_the_one_before(void **state)
{
	static const struct move ways[] = { { .kind = MOVE_ON },
					    { .kind = MOVE_FIRST },
					    { .kind = MOVE_ON },
					    { .kind = MOVE_LAST },
					    { .kind = MOVE_TO,
					      .unix_ns = BEGIN_NS + 5 * SECOND_NS } };
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 0, 0);
	uint64_t run_ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		assert_int_equal(moment_source_take(source, &ways[i], &moment, &error), 0);
		assert_false(moment.is_live);
		assert_true(moment.has_recorder);
		if (moment.sample.unix_ns == second(0)) {
			assert_int_equal(moment.tasks->interval_ns, 0);
			assert_int_equal(moment.before_unix_ns, 0);
			continue;
		}
		assert_int_equal(moment.tasks->interval_ns, 5 * SECOND_NS);
		assert_int_equal(moment.before_unix_ns, moment.sample.unix_ns - 5 * SECOND_NS);
		assert_true(snapshot_get(moment.tasks, METRIC_run_time_ns, 0, &run_ns));
		assert_int_equal(run_ns, SECOND_NS / 2);
		assert_int_equal(moment.sample.recorder_pid, 4711); /* no snapshot has it */
	}
	close_source(&room, source, &moment);
}

static void a_moment_has_what_was_open_and_what_happened_before(void **state)
{
	struct move to = { .kind = MOVE_TO };
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 0, 0);

	(void)state;
	assert_move(source, &moment, &to, 0, NULL);
	assert_int_equal(moment.anomalies.count + moment.events.count + moment.jobs.count, 0);
	to.unix_ns = second(20);
	assert_move(source, &moment, &to, 20, NULL);
	assert_int_equal(moment.anomalies.count, 1);
	assert_int_equal(moment.events.count, 1);
	assert_int_equal(moment.jobs.count, 1);
	assert_int_equal(moment.jobs.data[0].job.outcome, JOB_RUNNING);
	to.unix_ns = second(45);
	assert_move(source, &moment, &to, 45, NULL);
	assert_int_equal(moment.anomalies.count, 0);
	assert_int_equal(moment.events.count, 3);
	assert_int_equal(moment.events.data[0].kind, LIFE_KILL); /* the newest first */
	assert_int_equal(moment.jobs.data[0].job.outcome, JOB_SUCCESS);
	close_source(&room, source, &moment);
}

/* 56 s in 56 parts; the ring of marks is an exact picture. */
static void the_ruler_has_all_that_happened(void **state)
{
	static const uint64_t events[] = { 13, 41 }, anomalies[] = { 11, 31 }, edges[] = { 6, 24 };
	struct move to = { .kind = MOVE_TO, .unix_ns = second(30) };
	struct ruler ruler = { .count = 56 };
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 0, second(30));

	(void)state;
	assert_move(source, &moment, &to, 30, NULL);
	source->kind->ruler(source, &ruler);
	assert_int_equal(ruler.from_unix_ns, second(0));
	assert_int_equal(ruler.to_unix_ns, second(55));
	assert_in_range(ruler.at, 30, 31);
	for (size_t part = 0; part < ruler.count; part++)
		assert_true(ruler.marks[part] & RULER_TICK); /* from tick to tick there is no gap */
	for (size_t i = 0; i < 2; i++) {
		assert_true(ruler.marks[events[i] * 56 / 55] & RULER_EVENT);
		assert_true(ruler.marks[anomalies[i] * 56 / 55] & RULER_ANOMALY);
		assert_true(ruler.marks[edges[i] * 56 / 55] & RULER_JOB_EDGE);
	}
	for (size_t part = 0; part < ruler.count; part++) {
		assert_int_equal((ruler.marks[part] & RULER_JOB) != 0, part >= 6 && part <= 24);
		assert_false(part > 43 && ruler.marks[part] & RULER_EVENT);
	}
	close_source(&room, source, &moment);
}

/* Its end is as far away as numbers go. */
static void a_job_that_runs_is_on_the_ruler_of_a_single_tick(void **state)
{
	struct ruler ruler = { .count = 101 };
	struct moment_source *source = NULL;
	struct moment moment = { 0 };
	struct room room = make_room();
	struct history *history = create(&room);
	struct job job = { .name = "runs" };
	const struct job_instant begin = { second(0), 1, MADE_BOOT_ID };

	(void)state;
	add_tick(history, &small, 0);
	job_begin(&job, &begin);
	assert_int_equal(history_put_job(history, &job, &error), 0);
	history_close(history);
	assert_int_equal(store_source_open(open_history(&room), 0, 0, &source, &error), 0);
	source->kind->ruler(source, &ruler);
	for (size_t part = 0; part < ruler.count; part++)
		assert_true(ruler.marks[part] & RULER_JOB);
	close_source(&room, source, &moment);
}

static void time_without_ticks_is_a_gap_of_the_ruler(void **state)
{
	struct ruler ruler = { .count = 101 };
	struct moment_source *source = NULL;
	struct moment moment = { 0 };
	struct room room = make_room();
	struct history *history = create(&room);

	(void)state;
	add_ticks(history, &small, 0, 2);
	add_tick(history, &small, 4); /* three ticks on: no gap yet */
	add_tick(history, &small, 16);
	add_ticks(history, &small, 19, 21);
	history_close(history);
	assert_int_equal(store_source_open(open_history(&room), 0, 0, &source, &error), 0);
	source->kind->ruler(source, &ruler);
	for (size_t part = 0; part < ruler.count; part++)
		assert_int_equal((ruler.marks[part] & RULER_TICK) != 0, part <= 20 || part >= 80);
	assert_int_equal(ruler.at, 0);
	close_source(&room, source, &moment);
}

static void without_ticks_there_is_nothing_to_show(void **state)
{
	struct moment_source *source = NULL;
	struct room room = make_room();

	(void)state;
	history_close(create(&room));
	error = (struct error){ 0 };
	assert_int_equal(store_source_open(open_history(&room), 0, 0, &source, &error), -ENODATA);
	assert_string_equal(error.message, "the recording has no ticks of that time");
	assert_null(source);
	remove_room(&room);
}

static void a_job_is_chosen_by_its_name(void **state)
{
	const struct move last = { .kind = MOVE_LAST };
	struct moment moment = { 0 };
	struct room room;
	struct moment_source *source = open_source(&room, 0, UINT64_MAX);

	(void)state;
	error = (struct error){ 0 };
	assert_int_equal(moment_source_choose_job(source, "absent", &error), -ENODATA);
	assert_string_equal(error.message, "the recording has no job 'absent'");
	assert_move(source, &moment, &last, 55, NULL);
	assert_int_equal(moment.jobs.count, 1);
	assert_int_equal(moment_source_choose_job(source, "nightly", &error), 0);
	assert_move(source, &moment, &last, 55, NULL);
	assert_int_equal(moment.jobs.count, 1);
	source->job = "another";
	assert_move(source, &moment, &last, 55, NULL);
	assert_int_equal(moment.jobs.count, 0);
	close_source(&room, source, &moment);
}

static unsigned waits_read;

static void read_wait(struct moment_source *source, const struct task_key *thread,
		      struct thread_wait *ret)
{
	(void)source;
	waits_read++;
	snprintf(ret->what, sizeof(ret->what), "wait %d", thread->tid);
}

static void what_a_thread_waits_for_is_looked_up_once(void **state)
{
	static const struct moment_source_kind able = { .read_wait = read_wait }, unable = { 0 };
	struct moment_source source = { .kind = &unable };
	const struct task_key first = { 7, 8, 9 }, second_thread = { 7, 9, 9 };
	struct moment moment = { 0 };

	(void)state;
	assert_string_equal(moment_source_wait(&source, &moment, &first, true), "");
	source.kind = &able;
	assert_string_equal(moment_source_wait(&source, &moment, &first, false), "");
	assert_int_equal(waits_read, 0);
	assert_string_equal(moment_source_wait(&source, &moment, &first, true), "wait 8");
	assert_string_equal(moment_source_wait(&source, &moment, &second_thread, true), "wait 9");
	assert_string_equal(moment_source_wait(&source, &moment, &first, false), "wait 8");
	assert_int_equal(waits_read, 2);
	moment_clear(&moment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_move_leads_to_its_moment),
		cmocka_unit_test(a_time_between_ticks_is_told),
		cmocka_unit_test(only_the_newest_time_is_there_if_asked_so),
		cmocka_unit_test(a_moment_has_what_was_done_since_the_one_before),
		cmocka_unit_test(a_moment_has_what_was_open_and_what_happened_before),
		cmocka_unit_test(the_ruler_has_all_that_happened),
		cmocka_unit_test(time_without_ticks_is_a_gap_of_the_ruler),
		cmocka_unit_test(a_job_that_runs_is_on_the_ruler_of_a_single_tick),
		cmocka_unit_test(without_ticks_there_is_nothing_to_show),
		cmocka_unit_test(a_job_is_chosen_by_its_name),
		cmocka_unit_test(what_a_thread_waits_for_is_looked_up_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

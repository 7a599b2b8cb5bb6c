#include "analyze/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "two_snapshots.h"

/* Adds the same task to both, with values before and after. */
static void both(struct pair *pair, int32_t tgid, int32_t tid, const char *comm, enum metric_id id,
		 uint64_t before, uint64_t after)
{
	hand_set(pair->before, id, hand_task(pair->before, tgid, tid, comm, "/"), before);
	hand_set(pair->after, id, hand_task(pair->after, tgid, tid, comm, "/"), after);
}

static uint32_t process_row(struct snapshot *snapshot, int32_t tgid)
{
	return (uint32_t)snapshot_find_process(snapshot, tgid);
}

/* Totals of exited threads. */
static void dead(struct pair *pair, int32_t tgid, enum metric_id id, uint64_t before,
		 uint64_t after)
{
	hand_set(pair->before, id, process_row(pair->before, tgid), before);
	hand_set(pair->after, id, process_row(pair->after, tgid), after);
}

static bool has_note(const struct comparison *comparison, const char *part)
{
	for (size_t i = 0; i < comparison->notes.count; i++)
		if (strstr(comparison->notes.data[i], part))
			return true;
	return false;
}

/* Every way to live: staying, born, ended, born and ended, reused, renamed, missed. */
static struct pair lives_of_all_kinds(void)
{
	struct pair pair = pair_new();

	both(&pair, 10, 10, "server", METRIC_run_time_ns, 1000, 1500);
	both(&pair, 10, 11, "worker-1", METRIC_run_time_ns, 200, 260);
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 10, 12, "worker-2", "/"),
		 400);
	hand_set(pair.after, METRIC_run_time_ns,
		 hand_task(pair.after, 10, FIRST_BORN + 1, "worker-3", "/"), 70);
	/* worker-2 had done 450 when it ended; another came and went, and did 30. */
	dead(&pair, 10, METRIC_dead_run_time_ns, 5000, 5000 + 450 + 30);
	both(&pair, 20, 20, "other", METRIC_run_time_ns, 9000, 9000);
	dead(&pair, 20, METRIC_dead_run_time_ns, 0, 0);
	/* Process 30 ends, another gets its number. */
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 30, 30, "short", "/"), 77);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 30, 30, "short", "/"), 5);
	pair.after->tasks[pair.after->task_count - 1].start_time_ns = BEFORE_NS + 20000000;
	pair.after->processes[process_row(pair.after, 30)].start_time_ns = BEFORE_NS + 20000000;
	dead(&pair, 30, METRIC_dead_run_time_ns, 1, 3);
	/* Missed: older than the first snapshot. */
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 40, 40, "quiet", "/"), 666);
	return pair;
}

/* 500 + 60 stayed, 70 was born, 80 by those that ended; 5 + 3 by the process that is new. */
#define ALL_LIVES (500 + 60 + 70 + 80 + 5 + 3)

static void threads_that_stay_are_born_and_die_are_all_in_the_interval(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	const struct comparison_row *row = get_row(comparison, "server", METRIC_run_time_ns);

	(void)state;
	assert_int_equal(comparison->mode, COMPARE_INTERVAL);
	assert_int_equal(comparison->elapsed_ns, AFTER_NS - BEFORE_NS);
	assert_delta(comparison, "server", METRIC_run_time_ns, 500 + 60 + 70 + 80);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_true(row->has_rate && row->per_second == 71.0);
	assert_int_equal(row->before.number, 1600);
	assert_int_equal(row->after.number, 1830);
	assert_int_equal(comparison->groups.data[row->group].born, 1);
	assert_int_equal(comparison->groups.data[row->group].ended, 1);
	assert_int_equal(get_row(comparison, "other", METRIC_run_time_ns)->state, ROW_SAME);
}

static void a_reused_pid_counts_as_what_was_born(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);

	(void)state;
	assert_delta(comparison, "short", METRIC_run_time_ns, 5 + 3);
	assert_int_equal(comparison->processes_ended, 1);
	assert_true(has_note(comparison, "1 process ended: what it did"));
}

static void a_task_that_the_first_snapshot_missed_has_no_before(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	const struct comparison_row *row = get_row(comparison, "quiet", METRIC_run_time_ns);

	(void)state;
	assert_int_equal(row->state, ROW_ABSENT);
	assert_false(row->delta.known);
	assert_int_equal(row->before.measured, 0);
	assert_int_equal(row->before.population, 1);
	assert_int_equal(row->after.number, 666);
	assert_non_null(row->reason);
	assert_true(has_note(comparison, "1 task is older than the first"));
}

/* The first snapshot was limited to another process. */
static void what_a_filter_kept_out_is_neither_new_nor_from_nothing(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	uint32_t task;

	(void)state;
	both(&pair, 10, 10, "seen", METRIC_run_time_ns, 1, 1);
	task = hand_task(pair.after, 20, 20, "shell", "/");
	hand_set(pair.after, METRIC_run_time_ns, task, 700);
	hand_set(pair.after, METRIC_policy, task, 0);
	hand_set(pair.after, METRIC_rss_bytes, process_row(pair.after, 20), 4096);
	task = hand_task(pair.after, FIRST_BORN + 1, FIRST_BORN + 1, "shell", "/");
	hand_set(pair.after, METRIC_run_time_ns, task, 30);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "shell", METRIC_run_time_ns);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_int_equal(row->before.shape, VALUE_ABSENT);
	assert_int_equal(row->before.population, 1);
	assert_delta(comparison, "shell", METRIC_run_time_ns, 30);
	assert_int_equal(get_row(comparison, "shell", METRIC_policy)->state, ROW_ABSENT);
	row = get_row(comparison, "shell", METRIC_rss_bytes);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_false(row->delta.known);
	assert_int_equal(comparison->groups.data[row->group].missed, 1);
	assert_false(comparison->groups.data[row->group].has_run_time);
}

static void the_sum_over_groups_is_the_whole_on_every_axis(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
		CLEANUP(comparison_free_pointer)
		struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, axis);

		assert_int_equal(sum_of_deltas(comparison, METRIC_run_time_ns), ALL_LIVES);
	}
}

static void exited_threads_are_a_group_where_threads_of_a_process_are_told_apart(void **state)
{
	static const enum group_axis axes[] = { AXIS_COMM, AXIS_COMM_EXACT, AXIS_THREAD };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(axes); i++) {
		CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
		CLEANUP(comparison_free_pointer)
		struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, axes[i]);
		const struct comparison_row *row =
			get_row(comparison, "server (exited threads)", METRIC_run_time_ns);

		assert_delta(comparison, "server (exited threads)", METRIC_run_time_ns, 80);
		assert_int_equal(row->state, ROW_CHANGED);
		assert_int_equal(row->before.shape, VALUE_ABSENT);
		assert_int_equal(row->after.shape, VALUE_ABSENT);
		assert_int_equal(comparison->groups.data[row->group].tasks_after, 0);
		assert_null(find_row(comparison, "server (exited threads)", METRIC_wait_time_ns));
		assert_null(find_row(comparison, "other (exited threads)", METRIC_run_time_ns));
	}
}

static void without_totals_the_difference_is_of_the_living_and_coverage_says_so(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_run_time_ns, 1000, 1500);
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 10, 12, "worker", "/"),
		 400);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "server", METRIC_run_time_ns);
	assert_delta(comparison, "server", METRIC_run_time_ns, 500);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
	assert_true(has_note(comparison, "threads that stayed or were born"));
}

static void what_ended_threads_did_is_never_below_nothing(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_minflt, 10, 15);
	hand_set(pair.before, METRIC_minflt, hand_task(pair.before, 10, 12, "worker", "/"), 400);
	/* The totals of procfs are worked out, and may lag. */
	dead(&pair, 10, METRIC_dead_minflt, 7, 107);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "server", METRIC_minflt, 5);
}

/* Its parent's total of I/O contains all that it ever read. */
static void a_child_that_ended_takes_its_earlier_io_along(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "shell", METRIC_rchar, 100, 101);
	hand_set(pair.before, METRIC_rchar, hand_task(pair.before, 20, 20, "child", "/"), 4000);
	hand_set(pair.before, METRIC_rchar, hand_task(pair.before, 30, 30, "grandchild", "/"), 50);
	hand_set(pair.before, METRIC_ppid, process_row(pair.before, 20), 10);
	hand_set(pair.before, METRIC_ppid, process_row(pair.before, 30), 20);
	hand_set(pair.before, METRIC_dead_rchar, process_row(pair.before, 20), 600);
	/* The two read 7 more before they ended. */
	dead(&pair, 10, METRIC_dead_rchar, 0, 4000 + 600 + 50 + 7);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "shell", METRIC_rchar, 1 + 7);
}

/* A process that ends, with what it had used: itself, its exited threads, its children. */
static void child(struct pair *pair, int32_t tgid, uint64_t parent, uint64_t own, uint64_t exited,
		  uint64_t children)
{
	uint32_t task = hand_task(pair->before, tgid, tgid, "child", "/");
	uint32_t process = process_row(pair->before, tgid);

	hand_set(pair->before, METRIC_ppid, process, parent);
	hand_set(pair->before, METRIC_utime_ns, task, own);
	hand_set(pair->before, METRIC_dead_utime_ns, process, exited);
	hand_set(pair->before, METRIC_child_utime_ns, process, children);
}

static void a_child_that_ended_takes_its_earlier_cpu_time_along(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "shell", METRIC_utime_ns, 100, 101);
	both(&pair, 11, 11, "lazy", METRIC_utime_ns, 100, 100);
	both(&pair, 12, 12, "busy", METRIC_utime_ns, 100, 100);
	child(&pair, 20, 10, 3000, 200, 10);
	child(&pair, 21, 20, 40, 0, 0);
	/* Nobody waited for the child of lazy. */
	child(&pair, 30, 11, 500, 0, 0);
	/* The children of shell did 500 more; those of busy came and went in between. */
	dead(&pair, 10, METRIC_child_utime_ns, 7, 7 + 3000 + 200 + 10 + 40 + 500);
	dead(&pair, 11, METRIC_child_utime_ns, 9, 9);
	dead(&pair, 12, METRIC_child_utime_ns, 5, 805);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "shell", METRIC_child_utime_ns, 500);
	assert_delta(comparison, "lazy", METRIC_child_utime_ns, 0);
	assert_delta(comparison, "busy", METRIC_child_utime_ns, 800);
}

static void totals_of_exited_threads_grow_by_what_was_done_in_between(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	uint32_t task;

	(void)state;
	both(&pair, 10, 10, "shell", METRIC_rchar, 100, 101);
	task = hand_task(pair.before, 10, 11, "worker", "/");
	hand_set(pair.before, METRIC_rchar, task, 30);
	hand_set(pair.before, METRIC_run_time_ns, task, 60);
	hand_set(pair.before, METRIC_rchar, hand_task(pair.before, 20, 20, "child", "/"), 4000);
	hand_set(pair.before, METRIC_ppid, process_row(pair.before, 20), 10);
	dead(&pair, 10, METRIC_dead_rchar, 2, 2 + 4000 + 30 + 5);
	dead(&pair, 10, METRIC_dead_run_time_ns, 1, 1 + 60 + 8);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "shell", METRIC_dead_rchar, 5);
	assert_delta(comparison, "shell", METRIC_dead_run_time_ns, 8);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* A thread with its own fate; gives what it did in between. */
static uint64_t live(struct pair *pair, int32_t tgid, int32_t tid, uint64_t *random,
		     uint64_t *dead_after)
{
	uint64_t earlier = next_random(random) % 1000, work = next_random(random) % 1000;
	bool is_leader = tgid == tid, born = tid >= FIRST_BORN;
	bool ended = !is_leader && next_random(random) % 3 == 0;
	char name[16];

	snprintf(name, sizeof(name), "%c-%d", (char)('g' + next_random(random) % 5), tid);
	if (born)
		earlier = 0;
	else
		hand_set(pair->before, METRIC_run_time_ns,
			 hand_task(pair->before, tgid, tid, name, "/a"), earlier);
	if (!ended)
		hand_set(pair->after, METRIC_run_time_ns,
			 hand_task(pair->after, tgid, tid, name,
				   next_random(random) % 4 ? "/a" : "/moved"),
			 earlier + work);
	*dead_after += ended ? earlier + work : 0;
	return work;
}

static void whatever_threads_live_through_no_work_is_lost_or_counted_twice(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		for (int axis = 0; axis < AXIS_COUNT; axis++) {
			CLEANUP(pair_free) struct pair pair = pair_new();
			CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
			uint64_t random = seed, truth = 0;

			for (int32_t tgid = 100; tgid < 1000; tgid += 100) {
				uint64_t before = next_random(&random) % 500, after = before;
				int32_t threads = (int32_t)(next_random(&random) % 8);

				truth += live(&pair, tgid, tgid, &random, &after);
				for (int32_t i = 1; i <= threads; i++)
					truth += live(&pair, tgid, tgid + i, &random, &after);
				for (int32_t i = 1; i <= threads; i++)
					truth += live(&pair, tgid, FIRST_BORN + tgid + i, &random,
						      &after);
				dead(&pair, tgid, METRIC_dead_run_time_ns, before, after);
			}
			comparison = pair_compare(&pair, COMPARE_AUTO, axis);
			assert_int_equal(sum_of_deltas(comparison, METRIC_run_time_ns), truth);
		}
}

static void a_renamed_thread_did_its_work_in_its_new_group(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_majflt, 5, 5);
	hand_set(pair.before, METRIC_majflt, hand_task(pair.before, 10, 11, "young", "/"), 100);
	hand_set(pair.after, METRIC_majflt, hand_task(pair.after, 10, 11, "grown", "/"), 130);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_COMM);
	assert_delta(comparison, "grown", METRIC_majflt, 30);
	assert_int_equal(get_row(comparison, "grown", METRIC_majflt)->state, ROW_NEW);
	assert_int_equal(get_row(comparison, "young", METRIC_majflt)->state, ROW_GONE);
	assert_false(get_row(comparison, "young", METRIC_majflt)->delta.known);
	assert_int_equal(sum_of_deltas(comparison, METRIC_majflt), 30);
}

static void a_counter_that_fell_began_again(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "alone", METRIC_majflt, 100, 4);
	both(&pair, 20, 20, "pool", METRIC_majflt, 100, 4);
	both(&pair, 20, 21, "pool", METRIC_majflt, 10, 13);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "alone", METRIC_majflt);
	assert_int_equal(row->state, ROW_RESET);
	assert_false(row->delta.known);
	row = get_row(comparison, "pool", METRIC_majflt);
	assert_delta(comparison, "pool", METRIC_majflt, 3);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
}

/* User and system time are one measured sum split by samples: a part may be corrected. */
static void a_counter_that_is_worked_out_may_waver(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_utime_ns, 1000, 990);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "a", METRIC_utime_ns, -10);
}

static void ratios_are_of_the_interval_and_sides_of_the_lives(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_run_time_ns, 900, 1000);
	hand_set(pair.before, METRIC_wait_time_ns, 0, 100);
	hand_set(pair.after, METRIC_wait_time_ns, 0, 400);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_cpu_efficiency);
	assert_int_equal(row->section, COMPARE_DERIVED);
	assert_true(fabs(row->before.real - 0.9) < 1e-9);
	assert_true(fabs(row->after.real - 1000.0 / 1400) < 1e-9);
	assert_true(fabs(row->interval.real - 0.25) < 1e-9);
	assert_true(fabs(row->delta.real - (0.25 - 0.9)) < 1e-9);
	assert_false(row->has_rate);
}

/* A ratio of what exited threads ran and others waited is one of nobody. */
static void a_ratio_is_of_tasks_that_have_all_its_inputs(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	uint32_t ended;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_run_time_ns, 900, 1000);
	hand_set(pair.before, METRIC_wait_time_ns, 0, 100);
	hand_set(pair.after, METRIC_wait_time_ns, 0, 200);
	ended = hand_task(pair.before, 10, 11, "b", "/");
	hand_set(pair.before, METRIC_run_time_ns, ended, 50);
	hand_set(pair.before, METRIC_wait_time_ns, ended, 50);
	both(&pair, 10, 12, "b", METRIC_wait_time_ns, 7, 7);
	dead(&pair, 10, METRIC_dead_run_time_ns, 0, 50 + 8000);
	hand_set(pair.before, METRIC_voluntary_csw, 0, 10);
	hand_set(pair.after, METRIC_voluntary_csw, 0, 20);
	hand_set(pair.before, METRIC_nonvoluntary_csw, 0, 10);
	hand_set(pair.after, METRIC_nonvoluntary_csw, 0, 20);
	hand_set(pair.before, METRIC_voluntary_csw, ended, 0);
	hand_set(pair.before, METRIC_nonvoluntary_csw, ended, 0);
	dead(&pair, 10, METRIC_dead_voluntary_csw, 0, 0);
	dead(&pair, 10, METRIC_dead_nonvoluntary_csw, 0, 20);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_cpu_efficiency);
	assert_true(fabs(row->interval.real - 0.5) < 1e-9);
	assert_true(row->interval.measured < row->interval.population);
	assert_delta(comparison, "a", METRIC_run_time_ns, 100 + 8000);
	row = get_row(comparison, "a", METRIC_wait_time_ns);
	assert_int_equal(row->after.measured, 2);
	assert_int_equal(row->after.population, 3);
	row = get_row(comparison, "a", METRIC_involuntary_csw_ratio);
	assert_true(fabs(row->interval.real - 0.75) < 1e-9);
	comparison_free(comparison);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_COMM);
	row = get_row(comparison, "b", METRIC_wait_time_ns);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
}

static void threads_that_came_and_went_leave_a_counter_without_totals_partial(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_wait_time_ns, 100, 200);
	dead(&pair, 10, METRIC_dead_run_time_ns, 30, 70);
	/* A child that was waited for is no thread. */
	both(&pair, 20, 20, "shell", METRIC_wait_time_ns, 100, 200);
	dead(&pair, 20, METRIC_dead_run_time_ns, 30, 30);
	dead(&pair, 20, METRIC_dead_rchar, 30, 99);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_wait_time_ns);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
	assert_int_equal(get_row(comparison, "shell", METRIC_wait_time_ns)->after.population, 1);
	assert_true(has_note(comparison, "came and went in between in 1 process:"));
	assert_true(has_note(comparison, "nothing else of them is known"));
}

static void a_ratio_without_an_event_is_what_it_was(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_run_time_ns, 900, 900);
	hand_set(pair.before, METRIC_wait_time_ns, 0, 100);
	hand_set(pair.after, METRIC_wait_time_ns, 0, 100);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_cpu_efficiency);
	assert_int_equal(row->state, ROW_SAME);
	assert_int_equal(row->interval.shape, VALUE_ABSENT);
}

static void a_heap_that_shrinks_has_a_difference_below_nothing(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_allocated_bytes, 1000, 1100);
	hand_set(pair.before, METRIC_deallocated_bytes, 0, 200);
	hand_set(pair.after, METRIC_deallocated_bytes, 0, 700);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_live_heap_estimate);
	assert_int_equal(row->before.shape, VALUE_NUMBER);
	assert_int_equal(row->before.number, 800);
	assert_delta(comparison, "a", METRIC_live_heap_estimate, -400);
	assert_true(row->has_rate && row->per_second == -40);
}

static void gauges_peaks_and_lows_are_compared_as_they_stand(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_wait_max, 50, 90);
	both(&pair, 10, 11, "a", METRIC_wait_max, 70, 70);
	for (uint32_t row = 0; row < 2; row++) {
		hand_set(pair.before, METRIC_cpu_delay_min_ns, row, row ? 0 : 9);
		hand_set(pair.after, METRIC_cpu_delay_min_ns, row, row ? 4 : 9);
	}
	dead(&pair, 10, METRIC_rss_bytes, 1 << 20, 1 << 19);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "a", METRIC_wait_max, 20);
	assert_int_equal(get_row(comparison, "a", METRIC_wait_max)->after.number, 90);
	assert_delta(comparison, "a", METRIC_cpu_delay_min_ns, -5);
	assert_delta(comparison, "a", METRIC_rss_bytes, -(1 << 19));
	assert_false(get_row(comparison, "a", METRIC_rss_bytes)->has_rate);
}

static void settings_are_texts_and_ranges_that_changed_or_not(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_policy, 0, 1);
	hand_set(pair.before, METRIC_nice, 0, 0);
	hand_set(pair.after, METRIC_nice, 0, (uint64_t)-5);
	hand_set(pair.before, METRIC_cpu_affinity, 0, hand_text(pair.before, "0-3"));
	/* The same text has another number in the other snapshot. */
	hand_text(pair.after, "something else");
	hand_set(pair.after, METRIC_cpu_affinity, 0, hand_text(pair.after, "0-3"));
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_policy);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_string_equal(row->before.text, "SCHED_OTHER");
	assert_string_equal(row->after.text, "SCHED_FIFO");
	assert_false(row->delta.known);
	assert_delta(comparison, "a", METRIC_nice, -5);
	row = get_row(comparison, "a", METRIC_cpu_affinity);
	assert_int_equal(row->state, ROW_SAME);
	assert_string_equal(row->after.text, "0-3");
}

static void what_one_side_did_not_measure_is_absent_with_its_reason(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_minflt, 1, 1);
	hand_set(pair.before, METRIC_rchar, 0, 100);
	snapshot_set_absent(pair.after, METRIC_rchar, "run as root");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_rchar);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_string_equal(row->reason, "run as root");
	assert_int_equal(row->before.number, 100);
	assert_int_equal(row->after.shape, VALUE_ABSENT);
	assert_int_equal(row->after.population, 1);
}

static void nothing_moved_between_a_snapshot_and_itself(void **state)
{
	(void)state;
	for (int mode = COMPARE_INTERVAL; mode <= COMPARE_POPULATION; mode++)
		for (int axis = 0; axis < AXIS_COUNT; axis++) {
			CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
			struct compare_options options = pair_options(mode, axis);
			CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

			pair_finish(&pair);
			comparison = compare_snapshots(pair.after, pair.after, &options);
			assert_true(comparison->rows.count > 0);
			for (size_t i = 0; i < comparison->rows.count; i++) {
				const struct comparison_row *row = &comparison->rows.data[i];

				assert_true(row->state == ROW_SAME || row->state == ROW_ABSENT);
				assert_true(!row->delta.known || row->delta.real == 0);
				assert_true(row->score == 0);
			}
			assert_int_equal(comparison->host_changes.count, 0);
		}
}

static void populations_that_change_places_change_the_sign(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
		struct compare_options options = pair_options(COMPARE_POPULATION, axis);
		CLEANUP(comparison_free_pointer) struct comparison *there = NULL;
		CLEANUP(comparison_free_pointer) struct comparison *back = NULL;

		pair_finish(&pair);
		there = compare_snapshots(pair.before, pair.after, &options);
		back = compare_snapshots(pair.after, pair.before, &options);
		assert_int_equal(there->rows.count, back->rows.count);
		for (size_t i = 0; i < there->rows.count; i++) {
			const struct comparison_row *row = &there->rows.data[i];
			const struct comparison_row *other =
				get_row(back, there->groups.data[row->group].key,
					(enum metric_id)row->metric);

			assert_int_equal(row->delta.known, other->delta.known);
			assert_int_equal(row->delta.magnitude, other->delta.magnitude);
			assert_true(row->delta.real == -other->delta.real);
			assert_true(row->rate_before == other->rate_after);
		}
	}
}

static void populations_have_rates_by_the_lives_of_their_tasks(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 5000, 5000, "a", METRIC_run_time_ns, 500, 1200);
	comparison = pair_compare(&pair, COMPARE_POPULATION, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_run_time_ns);
	/* Started at 50 s. */
	assert_true(row->has_rate && row->rate_before == 10.0 && row->rate_after == 20.0);
}

static void a_side_that_has_no_value_has_no_rate(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 5000, 5000, "a", METRIC_run_time_ns, 500, 1200);
	hand_set(pair.before, METRIC_rchar, 0, 50);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 6000, 6000, "new", "/"), 50);
	comparison = pair_compare(&pair, COMPARE_POPULATION, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_run_time_ns);
	assert_true(row->has_rate_before && row->has_rate_after);
	row = get_row(comparison, "a", METRIC_rchar);
	assert_true(row->has_rate_before && row->rate_before == 1.0 && !row->has_rate_after);
	row = get_row(comparison, "new", METRIC_run_time_ns);
	assert_true(!row->has_rate_before && row->has_rate_after && row->rate_after == 1.0);
}

/* They hold no memory and no files, which is not to say that those stayed the same. */
static void exited_threads_have_no_rows_of_what_their_process_holds(void **state)
{
	static const enum metric_id ids[] = { METRIC_nr_threads, METRIC_open_fds, METRIC_rss_bytes,
					      METRIC_dead_run_time_ns };
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	dead(&pair, 10, METRIC_nr_threads, 3, 3);
	dead(&pair, 10, METRIC_rss_bytes, 4096, 8192);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_COMM);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_null(find_row(comparison, "server (exited threads)", ids[i]));
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (row->state == ROW_ABSENT && row->after.shape == VALUE_ABSENT)
			assert_false(row->delta.known);
	}
	assert_delta(comparison, "server", METRIC_rss_bytes, 4096);
}

static void a_group_of_one_side_is_new_or_gone_and_tells_its_size(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 10, 10, "old", "/"), 70);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 20, 20, "new", "/"), 90);
	hand_set(pair.after, METRIC_rss_bytes, 0, 4096);
	comparison = pair_compare(&pair, COMPARE_POPULATION, AXIS_PCOMM);
	row = get_row(comparison, "old", METRIC_run_time_ns);
	assert_int_equal(row->state, ROW_GONE);
	assert_delta(comparison, "old", METRIC_run_time_ns, -70);
	row = get_row(comparison, "new", METRIC_run_time_ns);
	assert_int_equal(row->state, ROW_NEW);
	assert_delta(comparison, "new", METRIC_run_time_ns, 90);
	assert_int_equal(row->before.population, 0);
	assert_true(comparison->groups.data[row->group].has_rss);
	assert_int_equal(comparison->groups.data[row->group].rss_bytes, 4096);
	assert_int_equal(comparison->groups.data[row->group].run_time_ns, 90);
}

static void auto_takes_an_interval_only_of_one_boot_in_order(void **state)
{
	static const struct {
		const char *boot_id;
		uint64_t after_ns;
		enum compare_mode mode;
		const char *note;
	} cases[] = {
		{ "one", AFTER_NS, COMPARE_INTERVAL, "10.000 s apart" },
		{ "one", BEFORE_NS, COMPARE_INTERVAL, "0.000 s apart" },
		{ "two", AFTER_NS, COMPARE_POPULATION, "different boots" },
		{ "one", BEFORE_NS - 1, COMPARE_POPULATION, "older than the first" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(pair_free) struct pair pair = pair_new();
		CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

		snapshot_set_fact_text(pair.after, FACT_boot_id, cases[i].boot_id);
		snapshot_set_fact_number(pair.after, FACT_boottime_ns, cases[i].after_ns);
		comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
		assert_int_equal(comparison->mode, cases[i].mode);
		assert_true(has_note(comparison, cases[i].note));
	}
}

static void an_interval_of_two_boots_is_refused_with_a_sentence(void **state)
{
	struct compare_options options = pair_options(COMPARE_INTERVAL, AXIS_PCOMM);
	CLEANUP(pair_free) struct pair pair = pair_new();
	const struct snapshot *before = pair.before, *after = pair.after;
	struct compare_side first = { &before, 1 }, second = { &after, 1 };
	struct comparison *comparison = NULL;
	struct error error = { 0 };

	(void)state;
	snapshot_set_fact_text(pair.after, FACT_boot_id, "two");
	pair_finish(&pair);
	assert_int_equal(comparison_new(&first, &second, &options, &comparison, &error), -EINVAL);
	assert_non_null(strstr(error.message, "different boots"));
	assert_null(comparison);
}

static void hosts_that_differ_are_told_and_what_moves_by_itself_is_not(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	char name[64];

	(void)state;
	snapshot_set_fact_text(pair.before, FACT_loadavg, "1 2 3");
	snapshot_set_fact_text(pair.after, FACT_loadavg, "3 2 1");
	snapshot_set_fact_text(pair.after, FACT_kernel_release, "6.18.0");
	for (int cpu = 0; cpu < 4; cpu++) {
		snprintf(name, sizeof(name), "cpufreq_governor cpu%d", cpu);
		snapshot_note_text(pair.before, SHEET_HOST, name, "powersave");
		snapshot_note_text(pair.after, SHEET_HOST, name, "performance");
	}
	snapshot_note_text(pair.after, SHEET_HOST, "sched_tunables sched_child_runs_first", "0");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_int_equal(comparison->host_changes.count, 3);
	assert_string_equal(comparison->host_changes.data[0].name, "kernel_release");
	assert_string_equal(comparison->host_changes.data[0].after, "6.18.0");
	assert_string_equal(comparison->host_changes.data[1].name,
			    "cpufreq_governor cpu0 and 3 more");
	assert_string_equal(comparison->host_changes.data[1].before, "powersave");
	assert_null(comparison->host_changes.data[2].before);
	assert_string_equal(comparison->host_changes.data[2].after, "0");
}

static void sides_of_different_kinds_are_noted(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	snapshot_set_fact_number(pair.before, FACT_cgroup_namespace, 1);
	snapshot_set_fact_number(pair.after, FACT_cgroup_namespace, 2);
	snapshot_set_fact_text(pair.before, FACT_task_source, "bpf");
	snapshot_set_fact_text(pair.after, FACT_task_source, "procfs");
	snapshot_set_fact_text(pair.after, FACT_filter, "pid 7");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_true(has_note(comparison, "different cgroup namespaces"));
	assert_true(has_note(comparison, "bpf, then procfs"));
	assert_true(has_note(comparison, "none, then pid 7"));
}

/* Runs of a server that does 100, 101 ... before and `step` more after. */
static struct comparison *compare_runs(struct snapshot **runs, size_t each, uint64_t step)
{
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct compare_side before = { (const struct snapshot *const *)runs, each };
	struct compare_side after = { (const struct snapshot *const *)(runs + each), each };
	struct comparison *comparison = NULL;
	struct error error = { 0 };

	for (size_t i = 0; i < 2 * each; i++) {
		uint64_t value = 100 + i % each + (i < each ? 0 : step);

		runs[i] = pair_snapshot("one", BEFORE_NS);
		hand_set(runs[i], METRIC_majflt, hand_task(runs[i], 10, 10, "server", "/"), value);
		assert_int_equal(snapshot_finish(runs[i]), 0);
	}
	assert_int_equal(comparison_new(&before, &after, &options, &comparison, &error), 0);
	return comparison;
}

static void several_runs_are_compared_by_their_medians_and_judged(void **state)
{
	struct snapshot *runs[10];
	struct comparison *comparison = compare_runs(runs, 5, 50);
	const struct comparison_row *row = get_row(comparison, "server", METRIC_majflt);

	(void)state;
	assert_int_equal(comparison->mode, COMPARE_POPULATION);
	assert_true(has_note(comparison, "several snapshots"));
	assert_int_equal(row->before.number, 102);
	assert_int_equal(row->after.number, 152);
	assert_int_equal(row->before.measured, 5);
	assert_delta(comparison, "server", METRIC_majflt, 50);
	assert_true(row->significance.tested && !row->significance.is_noise);
	assert_true(row->significance.before_low == 100 && row->significance.before_high == 104);
	assert_true(row->score > 0);
	assert_int_equal(comparison->groups.data[row->group].tasks_before, 1);
	comparison_free(comparison);
	for (size_t i = 0; i < 10; i++)
		snapshot_free(runs[i]);
}

static void runs_that_overlap_are_noise_and_score_nothing(void **state)
{
	struct snapshot *runs[10];
	struct comparison *comparison = compare_runs(runs, 5, 1);
	const struct comparison_row *row = get_row(comparison, "server", METRIC_majflt);

	(void)state;
	assert_true(row->significance.tested && row->significance.is_noise);
	assert_true(row->score == 0);
	comparison_free(comparison);
	for (size_t i = 0; i < 10; i++)
		snapshot_free(runs[i]);
}

static void rows_within_noise_are_counted_instead_of_kept(void **state)
{
	struct snapshot *runs[10];
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct compare_side before = { (const struct snapshot *const *)runs, 5 };
	struct compare_side after = { (const struct snapshot *const *)(runs + 5), 5 };
	struct comparison *comparison = compare_runs(runs, 5, 1);
	struct error error = { 0 };

	(void)state;
	comparison_free(comparison);
	options.unchanged = false;
	options.limit = 1;
	assert_int_equal(comparison_new(&before, &after, &options, &comparison, &error), 0);
	assert_null(find_row(comparison, "server", METRIC_majflt));
	assert_int_equal(comparison->tallies[COMPARE_PRIMARY].noise, 1);
	assert_int_equal(comparison->tallies[COMPARE_PRIMARY].beyond_limit, 0);
	comparison_free(comparison);
	for (size_t i = 0; i < 10; i++)
		snapshot_free(runs[i]);
}

static void rows_that_say_nothing_are_counted_instead_of_kept(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(comparison_free_pointer) struct comparison *all = NULL;
	CLEANUP(comparison_free_pointer) struct comparison *moved = NULL;
	uint64_t unchanged = 0;

	(void)state;
	pair_finish(&pair);
	all = compare_snapshots(pair.before, pair.after, &options);
	options.unchanged = false;
	moved = compare_snapshots(pair.before, pair.after, &options);
	for (size_t i = 0; i < moved->rows.count; i++)
		assert_true(moved->rows.data[i].state != ROW_SAME);
	for (int i = 0; i < COMPARE_SECTION_COUNT; i++)
		unchanged += moved->tallies[i].unchanged;
	assert_int_equal(moved->rows.count + unchanged, all->rows.count);
	assert_null(find_row(moved, "other", METRIC_run_time_ns));
	assert_non_null(find_row(moved, "server", METRIC_run_time_ns));
}

static void a_renamed_cgroup_is_one_group_that_knows_its_old_name(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	char name[16];

	(void)state;
	for (int32_t i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "kind%c", 'a' + i);
		hand_set(pair.before, METRIC_majflt,
			 hand_task(pair.before, 10, 10 + i, name, "/old.slice/web"), 10);
		hand_set(pair.after, METRIC_majflt,
			 hand_task(pair.after, 10, 10 + i, name, "/new.slice/web"), 11);
	}
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_CGROUP);
	row = get_row(comparison, "/new.slice/web", METRIC_majflt);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_int_equal(row->before.number, 120);
	assert_delta(comparison, "/new.slice/web", METRIC_majflt, 12);
	assert_string_equal(comparison->groups.data[row->group].renamed_from, "/old.slice/web");
	assert_null(find_row(comparison, "/old.slice/web", METRIC_majflt));
}

static void only_metrics_and_sections_that_are_asked_for_have_rows(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	options.metrics = (struct selection){ { METRIC_run_time_ns, METRIC_cpu_efficiency }, 2 };
	options.sections = 1u << COMPARE_PRIMARY;
	pair_finish(&pair);
	comparison = compare_snapshots(pair.before, pair.after, &options);
	assert_true(comparison->rows.count > 0);
	for (size_t i = 0; i < comparison->rows.count; i++)
		assert_int_equal(comparison->rows.data[i].metric, METRIC_run_time_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_stay_are_born_and_die_are_all_in_the_interval),
		cmocka_unit_test(a_reused_pid_counts_as_what_was_born),
		cmocka_unit_test(a_task_that_the_first_snapshot_missed_has_no_before),
		cmocka_unit_test(what_a_filter_kept_out_is_neither_new_nor_from_nothing),
		cmocka_unit_test(the_sum_over_groups_is_the_whole_on_every_axis),
		cmocka_unit_test(
			exited_threads_are_a_group_where_threads_of_a_process_are_told_apart),
		cmocka_unit_test(
			without_totals_the_difference_is_of_the_living_and_coverage_says_so),
		cmocka_unit_test(what_ended_threads_did_is_never_below_nothing),
		cmocka_unit_test(a_child_that_ended_takes_its_earlier_io_along),
		cmocka_unit_test(a_child_that_ended_takes_its_earlier_cpu_time_along),
		cmocka_unit_test(totals_of_exited_threads_grow_by_what_was_done_in_between),
		cmocka_unit_test(whatever_threads_live_through_no_work_is_lost_or_counted_twice),
		cmocka_unit_test(a_renamed_thread_did_its_work_in_its_new_group),
		cmocka_unit_test(a_counter_that_fell_began_again),
		cmocka_unit_test(a_counter_that_is_worked_out_may_waver),
		cmocka_unit_test(ratios_are_of_the_interval_and_sides_of_the_lives),
		cmocka_unit_test(a_ratio_is_of_tasks_that_have_all_its_inputs),
		cmocka_unit_test(threads_that_came_and_went_leave_a_counter_without_totals_partial),
		cmocka_unit_test(a_ratio_without_an_event_is_what_it_was),
		cmocka_unit_test(a_heap_that_shrinks_has_a_difference_below_nothing),
		cmocka_unit_test(gauges_peaks_and_lows_are_compared_as_they_stand),
		cmocka_unit_test(settings_are_texts_and_ranges_that_changed_or_not),
		cmocka_unit_test(what_one_side_did_not_measure_is_absent_with_its_reason),
		cmocka_unit_test(nothing_moved_between_a_snapshot_and_itself),
		cmocka_unit_test(populations_that_change_places_change_the_sign),
		cmocka_unit_test(populations_have_rates_by_the_lives_of_their_tasks),
		cmocka_unit_test(a_side_that_has_no_value_has_no_rate),
		cmocka_unit_test(exited_threads_have_no_rows_of_what_their_process_holds),
		cmocka_unit_test(a_group_of_one_side_is_new_or_gone_and_tells_its_size),
		cmocka_unit_test(auto_takes_an_interval_only_of_one_boot_in_order),
		cmocka_unit_test(an_interval_of_two_boots_is_refused_with_a_sentence),
		cmocka_unit_test(hosts_that_differ_are_told_and_what_moves_by_itself_is_not),
		cmocka_unit_test(sides_of_different_kinds_are_noted),
		cmocka_unit_test(several_runs_are_compared_by_their_medians_and_judged),
		cmocka_unit_test(runs_that_overlap_are_noise_and_score_nothing),
		cmocka_unit_test(rows_within_noise_are_counted_instead_of_kept),
		cmocka_unit_test(rows_that_say_nothing_are_counted_instead_of_kept),
		cmocka_unit_test(a_renamed_cgroup_is_one_group_that_knows_its_old_name),
		cmocka_unit_test(only_metrics_and_sections_that_are_asked_for_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

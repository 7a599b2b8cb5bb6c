/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/task/taskstats_rows.h"
#include "scene.h"
#include "taskstats_kernel.h"

#define SECOND 1000000000ull

/* Words of the structure, in version 16. */
enum {
	WORD_BLKIO_COUNT = 32 / 8,
	WORD_BLKIO_TOTAL,
	WORD_SWAPIN_COUNT,
	WORD_ETIME = 144 / 8,
	WORD_HIWATER_RSS = 200 / 8,
	WORD_CPU_MAX = 432 / 8,
	WORD_BLKIO_MAX = 448 / 8,
};

/*
 * A capture that began 100 seconds after boot and is at 101 now, with a task that
 * was started at 10; accounting is on.
 */
static void make_capture(struct scene *scene, size_t tasks)
{
	struct capture *capture = &scene->capture;
	struct task task = { .start_time_ns = 10 * SECOND };
	uint32_t row;

	tree_text(&scene->tree, "taskscope-root",
		  "captured_at_unix_ns 1\nmonotonic_ns 101000000000\nboottime_ns 101000000000\n");
	tree_text(&scene->tree, "proc/sys/kernel/task_delayacct", "1\n");
	tree_text(&scene->tree, "proc/pressure/irq", "full avg10=0.00\n");
	scene_open(scene, scene->tree.root);
	capture->clock.monotonic_ns = 100 * SECOND;
	capture->clock.boottime_ns = 100 * SECOND;
	for (size_t i = 0; i < tasks; i++) {
		task.tid = (int32_t)i + 1;
		assert_int_equal(snapshot_process(capture->snapshot, task.tid, &task.process), 0);
		assert_int_equal(snapshot_add_task(capture->snapshot, &task, &row), 0);
	}
}

/* All zeros but for the version and an age of 91 seconds. */
static struct stats quiet_stats(void)
{
	struct stats stats = { .length = 560 };
	const uint16_t version = 16;

	memcpy(stats.words, &version, sizeof(version));
	stats.words[WORD_ETIME] = 91 * 1000000;
	return stats;
}

/* Answers every question with the test's structure, or its errno. */
struct reply {
	struct stats stats;
	int error;
};

static void answer(struct kernel *kernel, const struct question *question)
{
	const struct reply *reply = kernel->context;

	if (reply->error)
		kernel_refuse(kernel, question->sequence, reply->error);
	else
		kernel_tell(kernel, question->sequence, question->tid, &reply->stats);
}

static size_t fill(struct scene *scene, struct reply *reply)
{
	struct kernel kernel = { .answer = answer, .context = reply };
	struct taskstats_socket *opened = kernel_start(&kernel);

	assert_int_equal(taskstats_rows_fill(&scene->capture, opened), 0);
	kernel_stop(&kernel, opened);
	return kernel.questions;
}

static uint64_t tallied(const struct scene *scene, const char *name)
{
	const struct sheet *sheet = &scene->capture.snapshot->sheets[SHEET_CAPTURE];
	uint64_t value = UINT64_MAX;

	assert_int_equal(column_get(sheet_find(sheet, name), 0, &value), CELL_NUMBER);
	return value;
}

static const char *absent(const struct scene *scene, enum metric_id id)
{
	const char *reason = scene->capture.snapshot->columns[id].absent;

	return reason ? reason : "";
}

static void a_task_with_any_delay_has_all_its_families(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };
	const struct snapshot *snapshot;

	make_capture(scene, 1);
	reply.stats.words[WORD_BLKIO_COUNT] = 7;
	reply.stats.words[WORD_BLKIO_TOTAL] = 5000;
	reply.stats.words[WORD_BLKIO_MAX] = 3000;
	fill(scene, &reply);
	snapshot = scene->capture.snapshot;
	assert_int_equal(cell(snapshot, METRIC_blkio_delay_count, 1), 7);
	assert_int_equal(cell(snapshot, METRIC_blkio_delay_total_ns, 1), 5000);
	assert_int_equal(cell(snapshot, METRIC_blkio_delay_max_ns, 1), 3000);
	assert_int_equal(cell(snapshot, METRIC_irq_delay_count, 1), 0);
	assert_null(snapshot->columns[METRIC_irq_delay_count].absent);
	assert_int_equal(tallied(scene, "taskstats ok"), 1);
	assert_int_equal(tallied(scene, "taskstats not_opened"), 0);
	assert_int_equal(scene->capture.tallies[SOURCE_TASKSTATS].read, 1);
}

static void what_the_kernel_does_not_count_is_not_zero(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 1);
	scene->capture.gates[GATE_IRQ_DELAY].open = false;
	reply.stats.words[WORD_BLKIO_COUNT] = 7;
	fill(scene, &reply);
	assert_int_equal(cell(scene->capture.snapshot, METRIC_blkio_delay_count, 1), 7);
	assert_false(has_cell(scene->capture.snapshot, METRIC_irq_delay_count, 1));
}

static void a_task_without_any_delay_is_not_known_to_be_measured(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 1);
	reply.stats.words[WORD_CPU_MAX] = 9;
	fill(scene, &reply);
	assert_false(has_cell(scene->capture.snapshot, METRIC_blkio_delay_count, 1));
	assert_non_null(strstr(absent(scene, METRIC_blkio_delay_count), "none happened, or"));
	/* Waits for a CPU are counted by the scheduler, whatever the switch says. */
	assert_int_equal(cell(scene->capture.snapshot, METRIC_cpu_delay_max_ns, 1), 9);
	assert_int_equal(tallied(scene, "taskstats ok"), 1);
}

static void a_wait_longer_than_the_life_is_discarded_and_counted(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 1);
	reply.stats.words[WORD_BLKIO_COUNT] = 1;
	reply.stats.words[WORD_BLKIO_TOTAL] = 100 * SECOND;
	reply.stats.words[WORD_BLKIO_MAX] = 91 * SECOND;
	fill(scene, &reply);
	assert_false(has_cell(scene->capture.snapshot, METRIC_blkio_delay_total_ns, 1));
	assert_int_equal(cell(scene->capture.snapshot, METRIC_blkio_delay_max_ns, 1), 91 * SECOND);
	assert_int_equal(scene->capture.snapshot->tally.discarded_values, 1);
	assert_non_null(strstr(absent(scene, METRIC_blkio_delay_total_ns), "longer than"));
}

static void a_younger_task_with_the_same_number_is_another(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 1);
	reply.stats.words[WORD_BLKIO_COUNT] = 1;
	reply.stats.words[WORD_ETIME] = 999999; /* born after the capture began */
	fill(scene, &reply);
	assert_false(has_cell(scene->capture.snapshot, METRIC_blkio_delay_count, 1));
	assert_int_equal(tallied(scene, "taskstats ok"), 0);
	assert_int_equal(tallied(scene, "taskstats esrch"), 1);
}

static void an_age_without_suspends_is_still_that_of_the_task(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 1);
	reply.stats.words[WORD_BLKIO_COUNT] = 1;
	reply.stats.words[WORD_ETIME] = 1000000;
	fill(scene, &reply);
	assert_int_equal(cell(scene->capture.snapshot, METRIC_blkio_delay_count, 1), 1);
}

static void a_task_born_during_the_capture_is_known_by_its_age(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 1);
	scene->capture.snapshot->tasks[0].start_time_ns = 100 * SECOND + SECOND / 2;
	reply.stats.words[WORD_SWAPIN_COUNT] = 1;
	reply.stats.words[WORD_ETIME] = 400000;
	fill(scene, &reply);
	assert_int_equal(tallied(scene, "taskstats esrch"), 1);
	reply.stats.words[WORD_ETIME] = 491000; /* start times are in whole ticks */
	fill(scene, &reply);
	assert_int_equal(cell(scene->capture.snapshot, METRIC_swapin_delay_count, 1), 1);
}

static void a_value_that_is_there_is_kept(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };
	struct snapshot *snapshot;

	make_capture(scene, 1);
	snapshot = scene->capture.snapshot;
	assert_int_equal(snapshot_need_column(snapshot, METRIC_blkio_delay_count), 0);
	snapshot_set(snapshot, METRIC_blkio_delay_count, 0, 3);
	reply.stats.words[WORD_BLKIO_COUNT] = 8;
	reply.stats.words[WORD_HIWATER_RSS] = 2;
	fill(scene, &reply);
	assert_int_equal(cell(snapshot, METRIC_blkio_delay_count, 1), 3);
	assert_int_equal(cell(snapshot, METRIC_hiwater_rss_bytes, 1), 2048);
	/* No size is told of a task without memory. */
	assert_false(has_cell(snapshot, METRIC_hiwater_vm_bytes, 1));
}

static void tasks_of_the_iterator_are_not_asked_about(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 5);
	scene->capture.tallies[SOURCE_TASK_ITERATOR].read = 3;
	reply.stats.words[WORD_BLKIO_COUNT] = 1;
	assert_int_equal(fill(scene, &reply), 2);
	assert_false(has_cell(scene->capture.snapshot, METRIC_blkio_delay_count, 3));
	assert_true(has_cell(scene->capture.snapshot, METRIC_blkio_delay_count, 4));
}

static void the_first_refusal_is_for_all(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .error = -EPERM };

	make_capture(scene, 3 * TASKSTATS_BATCH);
	assert_int_equal(fill(scene, &reply), TASKSTATS_BATCH);
	assert_int_equal(tallied(scene, "taskstats eperm"), 3 * TASKSTATS_BATCH);
	assert_int_equal(scene->capture.tallies[SOURCE_TASKSTATS].failed, 3 * TASKSTATS_BATCH);
	assert_non_null(strstr(scene->capture.tallies[SOURCE_TASKSTATS].reason, "CAP_NET_ADMIN"));
}

static void one_failure_is_not_the_next_ones(void **state)
{
	struct scene *scene = *state;
	struct reply reply = { .error = -ENOMEM };

	make_capture(scene, 3);
	assert_int_equal(fill(scene, &reply), 3);
	assert_int_equal(tallied(scene, "taskstats other"), 3);
	reply.error = -ESRCH;
	fill(scene, &reply);
	assert_int_equal(tallied(scene, "taskstats esrch"), 3);
	assert_int_equal(scene->capture.tallies[SOURCE_TASKSTATS].failed, 3);
}

static void a_kernel_that_has_nothing_wanted_is_asked_once(void **state)
{
	const uint16_t version = 14;
	struct scene *scene = *state;
	struct reply reply = { .stats = quiet_stats() };

	make_capture(scene, 3 * TASKSTATS_BATCH);
	scene->capture.gates[GATE_TASK_DELAY_ACCT].open = false;
	scene->capture.gates[GATE_IRQ_DELAY].open = false;
	scene->capture.tallies[SOURCE_STATUS].read = 1;
	scene->capture.tallies[SOURCE_SCHEDSTAT].read = 1;
	memcpy(reply.stats.words, &version, sizeof(version));
	reply.stats.length = 432;
	assert_int_equal(fill(scene, &reply), TASKSTATS_BATCH);
	assert_non_null(strstr(absent(scene, METRIC_cpu_delay_max_ns), "do not have it"));
}

static void without_a_socket_that_is_counted(void **state)
{
	struct scene *scene = *state;

	make_capture(scene, 4);
	assert_int_equal(taskstats_collect(&scene->capture), 0);
	assert_int_equal(tallied(scene, "taskstats not_opened"), 4);
	assert_int_equal(tallied(scene, "taskstats ok"), 0);
	assert_non_null(strstr(scene->capture.tallies[SOURCE_TASKSTATS].reason, "recorded"));
}

static void nothing_is_asked_when_the_iterator_listed_all(void **state)
{
	struct scene *scene = *state;

	make_capture(scene, 4);
	scene->capture.tallies[SOURCE_TASK_ITERATOR].read = 4;
	assert_int_equal(taskstats_collect(&scene->capture), 0);
	assert_null(scene->capture.tallies[SOURCE_TASKSTATS].reason);
	assert_int_equal(scene->capture.snapshot->sheets[SHEET_CAPTURE].row_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_task_with_any_delay_has_all_its_families),
		SCENE_TEST(what_the_kernel_does_not_count_is_not_zero),
		SCENE_TEST(a_task_without_any_delay_is_not_known_to_be_measured),
		SCENE_TEST(a_wait_longer_than_the_life_is_discarded_and_counted),
		SCENE_TEST(a_younger_task_with_the_same_number_is_another),
		SCENE_TEST(an_age_without_suspends_is_still_that_of_the_task),
		SCENE_TEST(a_task_born_during_the_capture_is_known_by_its_age),
		SCENE_TEST(a_value_that_is_there_is_kept),
		SCENE_TEST(tasks_of_the_iterator_are_not_asked_about),
		SCENE_TEST(the_first_refusal_is_for_all),
		SCENE_TEST(one_failure_is_not_the_next_ones),
		SCENE_TEST(a_kernel_that_has_nothing_wanted_is_asked_once),
		SCENE_TEST(without_a_socket_that_is_counted),
		SCENE_TEST(nothing_is_asked_when_the_iterator_listed_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

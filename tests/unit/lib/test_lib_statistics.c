/* SPDX-License-Identifier: MIT */
/* Counts and times by label, of threads that live and that ended. */
#include "lib_support.h"

#include "lib/scope/statistics.h"

enum { LABELS = 80, TIMES = 3 };

static struct taskscope_site sites[LABELS];
static char texts[LABELS][16];

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < LABELS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "label %zu", i);
		sites[i].label = texts[i];
	}
	library_start(TASKSCOPE_STATISTICS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	return 0;
}

static uint64_t bucket_sum(const struct scope_statistic *statistic)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SCOPE_BUCKETS; i++)
		sum += statistic->buckets[i];
	return sum;
}

static void use_labels(size_t first, size_t end)
{
	for (size_t i = 0; i < TIMES; i++) {
		for (size_t label = first; label < end; label++)
			taskscope_leave(taskscope_enter_site(&sites[label]));
	}
}

static void *count_labels(void *argument)
{
	const struct scope_thread *block;

	use_labels(0, 20);
	block = own_block();
	assert_int_equal(block->statistic_count, 16);
	for (size_t i = 0; i < 16; i++) {
		assert_int_equal(block->statistics[i].label, sites[i].number);
		assert_int_equal(block->statistics[i].count, TIMES);
		assert_int_equal(bucket_sum(&block->statistics[i]), TIMES);
	}
	assert_int_equal(block->statistics[16].count, 0);
	for (size_t i = 16; i < 20; i++) {
		const struct scope_statistic *common = &area_retired()[sites[i].number];

		assert_int_equal(common->label, sites[i].number);
		assert_int_equal(common->count, TIMES);
		assert_int_equal(bucket_sum(common), TIMES);
		assert_true(common->longest_ticks <= common->total_ticks);
	}
	return argument;
}

static void the_first_labels_have_a_place_and_the_others_a_common_one(void **state)
{
	(void)state;
	on_thread(count_labels, NULL);
}

static void *take_time(void *argument)
{
	struct taskscope_scope outer = taskscope_enter_site(&sites[0]);
	const struct scope_statistic *statistics;

	taskscope_leave(taskscope_enter_site(&sites[1]));
	usleep(2000);
	taskscope_leave(outer);
	statistics = own_block()->statistics;
	assert_true(statistics[0].total_ticks > statistics[1].total_ticks);
	assert_true(statistics[0].longest_ticks == statistics[0].total_ticks);
	assert_true(statistics[0].self_ticks ==
		    statistics[0].total_ticks - statistics[1].total_ticks);
	assert_true(statistics[1].self_ticks == statistics[1].total_ticks);
	assert_int_equal(statistics[0].buckets[63 - __builtin_clzll(statistics[0].total_ticks)], 1);
	return argument;
}

static void a_scope_is_timed_with_what_is_inside(void **state)
{
	(void)state;
	on_thread(take_time, NULL);
}

static void *unwind(void *argument)
{
	struct taskscope_scope outer = taskscope_enter_site(&sites[0]);

	taskscope_enter_site(&sites[1]);
	taskscope_leave(outer);
	assert_int_equal(own_block()->statistics[0].count, 1);
	assert_int_equal(own_block()->statistics[1].count, 1);
	return argument;
}

static void scopes_that_are_unwound_count_too(void **state)
{
	(void)state;
	on_thread(unwind, NULL);
}

static void *use_some(void *argument)
{
	size_t first = (size_t)(uintptr_t)argument;

	use_labels(first, first + 16);
	return NULL;
}

static uint64_t retired_sum(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SCOPE_RETIRED; i++) {
		assert_int_equal(bucket_sum(&area_retired()[i]), area_retired()[i].count);
		sum += area_retired()[i].count;
	}
	return sum;
}

static void nothing_is_lost_when_threads_end(void **state)
{
	uint64_t before = retired_sum();

	(void)state;
	for (size_t first = 0; first < LABELS; first += 16) {
		on_thread(use_some, (void *)(uintptr_t)first);
		on_thread(use_some, (void *)(uintptr_t)first);
	}
	assert_int_equal(retired_sum(), before + 2 * LABELS * TIMES);
	assert_int_equal(area_retired()[SCOPE_RETIRED - 1].label, 0);
	assert_int_equal(area.header->retired_sequence % 2, 0);
}

static uint64_t count_among(const struct scope_statistic *statistics, size_t count, uint32_t label)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += statistics[i].label == label ? statistics[i].count : 0;
	return sum;
}

/* What a reader finds about a label. */
static uint64_t label_count(uint32_t label)
{
	uint64_t sum = count_among(area_retired(), SCOPE_RETIRED, label);

	for (uint32_t i = 0; i < area.header->thread_count; i++)
		sum += count_among(area_thread(i)->statistics, SCOPE_STATISTICS, label);
	return sum;
}

static uint64_t live_counts[LABELS];

static void *use_and_look(void *argument)
{
	size_t label = (size_t)(uintptr_t)argument;

	use_labels(label, label + 1);
	live_counts[label] = label_count(sites[label].number);
	return NULL;
}

static void no_label_falls_when_its_threads_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < LABELS; i++) {
		on_thread(use_and_look, (void *)(uintptr_t)i);
		assert_true(live_counts[i] >= TIMES);
		assert_int_equal(label_count(sites[i].number), live_counts[i]);
	}
}

static void *use_no_label(void *argument)
{
	taskscope_leave((taskscope_enter)(NULL));
	return argument;
}

static void what_has_no_label_retires_together(void **state)
{
	uint64_t before = area_retired()[SCOPE_RETIRED - 1].count;

	(void)state;
	on_thread(use_no_label, NULL);
	on_thread(use_no_label, NULL);
	assert_int_equal(area_retired()[SCOPE_RETIRED - 1].count, before + 2);
}

static void the_times_of_threads_that_ended_add_up(void **state)
{
	static struct scope_thread thread;
	enum { LABEL = SCOPE_LABELS - 1 }; /* no call site of this test */
	const struct scope_statistic *sum = &area_retired()[LABEL];

	(void)state;
	for (uint64_t longest = 40; longest >= 30; longest -= 10) {
		thread.statistic_count = 3;
		thread.statistics[2] = (struct scope_statistic){
			.label = LABEL,
			.count = 2,
			.total_ticks = 50,
			.self_ticks = 35,
			.longest_ticks = longest,
			.cpu_ns = 700,
			.cpu_samples = 3,
			.buckets[4] = 2,
		};
		statistics_retire(&thread);
		assert_int_equal(thread.statistic_count, 0);
		assert_int_equal(thread.statistics[2].count, 0);
	}
	assert_int_equal(sum->label, LABEL);
	assert_int_equal(sum->count, 4);
	assert_int_equal(sum->total_ticks, 100);
	assert_int_equal(sum->self_ticks, 70);
	assert_int_equal(sum->longest_ticks, 40);
	assert_int_equal(sum->cpu_ns, 1400);
	assert_int_equal(sum->cpu_samples, 6);
	assert_int_equal(sum->buckets[4], 4);
}

/* A thread's number of scopes of one length is at its end: no more fit in 32 bits. */
static void *fill_buckets(void *argument)
{
	struct scope_statistic *statistic;

	use_labels(0, 1);
	statistic = own_block()->statistics;
	for (size_t i = 0; i < SCOPE_BUCKETS; i++)
		statistic->buckets[i] = UINT32_MAX;
	use_labels(0, 1);
	for (size_t i = 0; i < SCOPE_BUCKETS; i++)
		assert_int_equal(statistic->buckets[i], UINT32_MAX);
	assert_int_equal(statistic->count, 2 * TIMES);
	return argument;
}

/* Last: what is full stays so. */
static void a_full_bucket_stays_full(void **state)
{
	const struct scope_statistic *retired;

	(void)state;
	on_thread(fill_buckets, NULL);
	on_thread(fill_buckets, NULL);
	retired = &area_retired()[sites[0].number];
	assert_int_equal(retired->label, sites[0].number);
	for (size_t i = 0; i < SCOPE_BUCKETS; i++)
		assert_int_equal(retired->buckets[i], UINT32_MAX);
}

static void *use_without(void *argument)
{
	use_labels(0, 4);
	assert_int_equal(own_block()->statistic_count, 0);
	return argument;
}

static void without_statistics_nothing_is_counted(void **state)
{
	(void)state;
	taskscope_stop();
	library_start(0);
	assert_int_equal(area.header->flags & SCOPE_HAS_STATISTICS, 0);
	on_thread(use_without, NULL);
}

#define STATISTICS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATISTICS_TEST(the_first_labels_have_a_place_and_the_others_a_common_one),
		STATISTICS_TEST(a_scope_is_timed_with_what_is_inside),
		STATISTICS_TEST(scopes_that_are_unwound_count_too),
		STATISTICS_TEST(nothing_is_lost_when_threads_end),
		STATISTICS_TEST(no_label_falls_when_its_threads_end),
		STATISTICS_TEST(what_has_no_label_retires_together),
		STATISTICS_TEST(the_times_of_threads_that_ended_add_up),
		STATISTICS_TEST(without_statistics_nothing_is_counted),
		STATISTICS_TEST(a_full_bucket_stays_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

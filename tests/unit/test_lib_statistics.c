/* Counts and times by label, of threads that live and that ended. */
#include "lib_support.h"

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
	taskscope_leave((taskscope_enter)("made at run time"));
	block = own_block();
	assert_int_equal(block->statistic_count, 16);
	for (size_t i = 0; i < 16; i++) {
		assert_int_equal(block->statistics[i].label, sites[i].number);
		assert_int_equal(block->statistics[i].count, TIMES);
		assert_int_equal(bucket_sum(&block->statistics[i]), TIMES);
	}
	assert_int_equal(block->statistics[16].label, 0);
	assert_int_equal(block->statistics[16].count, 4 * TIMES + 1);
	return argument;
}

static void the_first_labels_have_a_place_and_all_others_one(void **state)
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
	assert_int_not_equal(area_retired()[SCOPE_RETIRED - 2].label, 0);
	assert_int_equal(area_retired()[SCOPE_RETIRED - 1].label, 0);
	assert_int_equal(area.header->retired_sequence % 2, 0);
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
		STATISTICS_TEST(the_first_labels_have_a_place_and_all_others_one),
		STATISTICS_TEST(a_scope_is_timed_with_what_is_inside),
		STATISTICS_TEST(scopes_that_are_unwound_count_too),
		STATISTICS_TEST(nothing_is_lost_when_threads_end),
		STATISTICS_TEST(without_statistics_nothing_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

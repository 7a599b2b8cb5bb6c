/* SPDX-License-Identifier: MIT */
/* taskscope_due(): true for one thread in each interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <taskscope.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { THREADS = 2000, INTERVAL_MS = 50, INTERVALS = 5 };

static uint64_t coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void the_first_call_begins_the_first_interval(void **state)
{
	taskscope_due_state due = { 0 };
	uint64_t before = coarse_ns();

	(void)state;
	assert_int_equal(taskscope_due(&due, 3600 * 1000), 0);
	assert_in_range(due.next_ns, before + 3600 * 1000 * MS, coarse_ns() + 3600 * 1000 * MS);
	assert_int_equal(taskscope_due(&due, 3600 * 1000), 0);
}

static void after_the_interval_it_is_true_once(void **state)
{
	taskscope_due_state due = { .next_ns = coarse_ns() };

	(void)state;
	assert_int_equal(taskscope_due(&due, 3600 * 1000), 1);
	assert_int_equal(taskscope_due(&due, 3600 * 1000), 0);
}

/* A loop that was held up is not owed the intervals that it missed. */
static void missed_intervals_are_not_made_up_for(void **state)
{
	taskscope_due_state due = { .next_ns = 1 };

	(void)state;
	assert_int_equal(taskscope_due(&due, 3600 * 1000), 1);
	assert_int_equal(taskscope_due(&due, 3600 * 1000), 0);
}

static void never_is_never(void **state)
{
	taskscope_due_state due = { .next_ns = 1 };

	(void)state;
	assert_int_equal(taskscope_due(&due, TASKSCOPE_NEVER), 0);
	assert_int_equal(due.next_ns, 1);
}

static taskscope_due_state shared;
static uint64_t times[INTERVALS + 1];
static unsigned told;

static void *ask(void *argument)
{
	while (__atomic_load_n(&told, __ATOMIC_ACQUIRE) < INTERVALS) {
		if (taskscope_due(&shared, INTERVAL_MS)) {
			unsigned place = __atomic_fetch_add(&told, 1, __ATOMIC_ACQ_REL);

			if (place < INTERVALS)
				times[place] = coarse_ns();
		}
		usleep(1000);
	}
	return argument;
}

static int by_time(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* A thread may be late in noting the time, but two in one interval would be one after the other. */
static void one_of_2000_threads_gets_it(void **state)
{
	static pthread_t threads[THREADS];
	size_t count = 0;
	pthread_attr_t small;
	uint64_t began = coarse_ns();

	(void)state;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	while (count < THREADS && pthread_create(&threads[count], &small, ask, NULL) == 0)
		count++;
	assert_true(count > 100);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	qsort(times, INTERVALS, sizeof(times[0]), by_time);
	assert_true(times[INTERVALS - 1] - began >= INTERVALS * INTERVAL_MS * MS);
}

static taskscope_due_state raced;
static unsigned winners;
static pthread_barrier_t gate;

static void *race(void *argument)
{
	(void)argument;
	pthread_barrier_wait(&gate);
	if (taskscope_due(&raced, 3600 * 1000))
		__atomic_add_fetch(&winners, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void threads_that_ask_at_once_have_one_winner(void **state)
{
	pthread_t threads[8];

	(void)state;
	for (int round = 0; round < 200; round++) {
		raced.next_ns = 1;
		winners = 0;
		pthread_barrier_init(&gate, NULL, 8);
		for (size_t i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, race, NULL), 0);
		for (size_t i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&gate);
		assert_int_equal(winners, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_call_begins_the_first_interval),
		cmocka_unit_test(after_the_interval_it_is_true_once),
		cmocka_unit_test(missed_intervals_are_not_made_up_for),
		cmocka_unit_test(never_is_never),
		cmocka_unit_test(one_of_2000_threads_gets_it),
		cmocka_unit_test(threads_that_ask_at_once_have_one_winner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

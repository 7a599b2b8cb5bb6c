/* SPDX-License-Identifier: MIT */
/* Which label burns, when no scope is open for as long as a tick. */
#include "lib_support.h"

#include <time.h>

#include "lib/usage/cpu_shares.h"

#define MS UINT64_C(1000000)

static struct taskscope_site burning = { "burning", 0 }, waiting = { "waiting", 0 },
			     around = { "around", 0 };

static int setup(void **state)
{
	(void)state;
	library_start(TASKSCOPE_STATISTICS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	return 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t ns)
{
	struct taskscope_scope scope = taskscope_enter_site(&burning);
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
	taskscope_leave(scope);
}

static void wait(uint64_t ns)
{
	struct taskscope_scope scope = taskscope_enter_site(&waiting);
	struct timespec pause = { .tv_nsec = (long)ns };

	nanosleep(&pause, NULL);
	taskscope_leave(scope);
}

static uint64_t cpu_of(const struct taskscope_site *site)
{
	const struct scope_thread *block = own_block();

	for (uint32_t i = 0; i < block->statistic_count; i++)
		if (block->statistics[i].label == site->number)
			return __atomic_load_n(&block->statistics[i].cpu_ns, __ATOMIC_ACQUIRE);
	return 0;
}

static void who_waits_is_not_named_as_who_burns(void **state)
{
	struct taskscope_scope scope = taskscope_enter_site(&around);

	(void)state;
	/*
	 * A moment may begin in a wait and end in a fire: a few of the samples.  On a busy machine there
	 * are more of those, and fewer samples, so that it takes more of them to see who burns.
	 */
	while (cpu_of(&burning) < 1500 * MS ||
	       (cpu_of(&waiting) * 2 >= cpu_of(&burning) && cpu_of(&burning) < 15000 * MS)) {
		burn(30 * MS);
		wait(30 * MS);
	}
	assert_true(cpu_of(&waiting) * 2 < cpu_of(&burning));
	assert_true(cpu_of(&around) >= cpu_of(&burning) / 2);
	taskscope_leave(scope);
}

/* The heartbeat thread of a busy machine comes back much later than it wanted to. */
static void take_long_moment(struct taskscope_site *site, bool outlasts, uint64_t tick_ns)
{
	struct taskscope_scope scope = taskscope_enter_site(site);
	static struct cpu_shares shares;
	static struct stacks stacks;

	memset(&shares, 0, sizeof(shares));
	stacks_copy(&stacks);
	assert_int_equal(stacks.thread_count, 1);
	cpu_shares_note(&shares, &stacks.threads[0], MS, clock_ns(CLOCK_THREAD_CPUTIME_ID));
	if (!outlasts)
		taskscope_leave(scope);
	burn(20 * MS);
	cpu_shares_give(&shares, &stacks, tick_ns);
	if (outlasts)
		taskscope_leave(scope);
}

static void of_a_long_moment_only_who_outlasts_it_has_a_share(void **state)
{
	(void)state;
	take_long_moment(&waiting, false, 100 * MS);
	assert_int_equal(cpu_of(&waiting), 0);
	take_long_moment(&around, true, 100 * MS);
	assert_true(cpu_of(&around) > 0);
}

/* Of the longest tick, all would be a share of a thread that has lived much shorter. */
static void no_label_has_more_than_its_thread(void **state)
{
	(void)state;
	take_long_moment(&around, true, 1000000 * MS);
	assert_in_range(cpu_of(&around), 1, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void ticks_vary_by_a_quarter_and_are_longer_with_many_threads(void **state)
{
	static struct cpu_shares shares;

	(void)state;
	for (uint32_t threads = 63; threads <= 64; threads++) {
		uint64_t usual = threads < 64 ? 100 * MS : 200 * MS, least = UINT64_MAX, most = 0;

		for (size_t i = 0; i < 1000; i++) {
			uint64_t tick_ns = cpu_shares_tick_ns(&shares, threads);

			least = tick_ns < least ? tick_ns : least;
			most = tick_ns > most ? tick_ns : most;
		}
		assert_in_range(least, usual * 75 / 100, usual * 80 / 100);
		assert_in_range(most, usual * 120 / 100, usual * 125 / 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_vary_by_a_quarter_and_are_longer_with_many_threads),
		cmocka_unit_test_setup_teardown(of_a_long_moment_only_who_outlasts_it_has_a_share,
						setup, teardown),
		cmocka_unit_test_setup_teardown(no_label_has_more_than_its_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(who_waits_is_not_named_as_who_burns, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

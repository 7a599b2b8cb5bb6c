/* SPDX-License-Identifier: MIT */
/* How often the heartbeat thread looks: as often as the limits of open scopes want it. */
#include "lib_support.h"

#include "lib/ticks.h"

enum {
	MILLISECOND_NS = 1000000,
	SHORT_LIMIT_MS = 40,  /* ten milliseconds a tick */
	FORGETTING_MS = 2500, /* a tick of one second, and the second for which limits are kept */
};

static int setup(void **state)
{
	(void)state;
	library_start(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	return 0;
}

/* How often it looked in so long. */
static unsigned int looks_within(unsigned int milliseconds)
{
	uint64_t until = ticks_monotonic_ns() + (uint64_t)milliseconds * MILLISECOND_NS;
	uint64_t last = __atomic_load_n(&area.header->latest_ns, __ATOMIC_ACQUIRE);
	unsigned int count = 0;

	while (ticks_monotonic_ns() < until) {
		uint64_t now = __atomic_load_n(&area.header->latest_ns, __ATOMIC_ACQUIRE);

		count += now != last;
		last = now;
		usleep(1000);
	}
	return count;
}

static void a_short_limit_is_looked_at_often_while_its_scope_is_open(void **state)
{
	struct taskscope_scope scope = taskscope_enter("short");

	(void)state;
	taskscope_limit(scope, SHORT_LIMIT_MS);
	assert_true(looks_within(1500) > 20);
	assert_true(looks_within(500) > 5);
	taskscope_leave(scope);
	looks_within(FORGETTING_MS);
	assert_true(looks_within(1200) <= 3);
}

static void a_limit_that_is_raised_is_looked_at_less_often(void **state)
{
	struct taskscope_scope scope = taskscope_enter("raised");

	(void)state;
	taskscope_limit(scope, SHORT_LIMIT_MS);
	assert_true(looks_within(300) > 3);
	taskscope_limit(scope, 60000);
	looks_within(FORGETTING_MS);
	assert_true(looks_within(1200) <= 3);
	taskscope_leave(scope);
}

/* Scopes that are too short to be seen do not wake the thread each time. */
static void limits_of_scopes_that_come_and_go_wake_it_once(void **state)
{
	uint64_t until = ticks_monotonic_ns() + 500 * (uint64_t)MILLISECOND_NS;
	uint64_t last = 0;
	unsigned int looks = 0;

	(void)state;
	while (ticks_monotonic_ns() < until) {
		struct taskscope_scope scope = taskscope_enter("brief");
		uint64_t now;

		taskscope_limit(scope, SHORT_LIMIT_MS);
		taskscope_leave(scope);
		now = __atomic_load_n(&area.header->latest_ns, __ATOMIC_ACQUIRE);
		looks += now != last;
		last = now;
	}
	assert_in_range(looks, 2, 60);
}

#define HEARTBEAT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HEARTBEAT_TEST(a_short_limit_is_looked_at_often_while_its_scope_is_open),
		HEARTBEAT_TEST(a_limit_that_is_raised_is_looked_at_less_often),
		HEARTBEAT_TEST(limits_of_scopes_that_come_and_go_wake_it_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

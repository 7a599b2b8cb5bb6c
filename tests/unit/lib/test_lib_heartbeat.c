/* SPDX-License-Identifier: MIT */
/* How often the heartbeat thread looks: as often as the limits of open scopes want it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib_support.h"

#include "lib/scope/ticks.h"

enum {
	MILLISECOND_NS = 1000000,
	SHORT_LIMIT_MS = 40,		 /* ten milliseconds a tick */
	OFTEN_NS = 300 * MILLISECOND_NS, /* a tick that is late is shorter than one that is long */
	SEVERAL = 3,
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

static uint64_t last_look_ns(void)
{
	return __atomic_load_n(&area.header->latest_ns, __ATOMIC_ACQUIRE);
}

/* Until several pauses between two looks, one after the other, were all short or all long. */
static void await_looks(bool are_often)
{
	uint64_t last = last_look_ns(), now;
	unsigned int count = 0;

	for (unsigned int i = 0; count < SEVERAL; i++) {
		assert_in_range(i, 0, 1000);
		WAIT_UNTIL((now = last_look_ns()) != last);
		count = (now - last < OFTEN_NS) == are_often ? count + 1 : 0;
		last = now;
	}
}

static void a_short_limit_is_looked_at_often_while_its_scope_is_open(void **state)
{
	struct taskscope_scope scope = taskscope_enter("short");

	(void)state;
	taskscope_limit(scope, SHORT_LIMIT_MS);
	await_looks(true);
	taskscope_leave(scope);
	await_looks(false);
}

static void a_limit_that_is_raised_is_looked_at_less_often(void **state)
{
	struct taskscope_scope scope = taskscope_enter("raised");

	(void)state;
	taskscope_limit(scope, SHORT_LIMIT_MS);
	await_looks(true);
	taskscope_limit(scope, 60000);
	await_looks(false);
	taskscope_leave(scope);
}

/* Scopes that are too short to be seen do not wake the thread each time. */
static void limits_of_scopes_that_come_and_go_wake_it_once(void **state)
{
	uint64_t until = ticks_monotonic_ns() + 500 * (uint64_t)MILLISECOND_NS;
	uint64_t last = 0;
	unsigned int looks = 0;

	(void)state;
	while (ticks_monotonic_ns() < until || looks < 2) {
		struct taskscope_scope scope = taskscope_enter("brief");
		uint64_t now;

		taskscope_limit(scope, SHORT_LIMIT_MS);
		taskscope_leave(scope);
		now = last_look_ns();
		looks += now != last;
		last = now;
	}
	assert_in_range(looks, 2, 60); /* 50, at ten milliseconds a tick */
}

static unsigned int lines;
static bool has_stopped;

/* On the heartbeat thread, which ends without looking again. */
static void want_lines_and_stop(void *context, enum taskscope_level level, const char *line)
{
	lines_ignore(context, level, line);
	taskscope_dump();
	taskscope_stop();
	__atomic_store_n(&has_stopped, true, __ATOMIC_RELEASE);
}

static void count_line(void *context, enum taskscope_level level, const char *line)
{
	lines_ignore(context, level, line);
	__atomic_add_fetch(&lines, 1, __ATOMIC_RELEASE);
}

static void start_with(void (*log)(void *context, enum taskscope_level level, const char *line))
{
	assert_int_equal(taskscope_start(&(struct taskscope_options){
				 .size = sizeof(struct taskscope_options),
				 .heartbeat_ms = TASKSCOPE_NEVER,
				 .log = log,
			 }),
			 0);
}

static void lines_that_were_wanted_before_a_stop_are_not_printed_after_it(void **state)
{
	uint64_t last;

	(void)state;
	taskscope_stop();
	start_with(want_lines_and_stop);
	taskscope_dump();
	WAIT_UNTIL(__atomic_load_n(&has_stopped, __ATOMIC_ACQUIRE));
	last = last_look_ns();
	start_with(count_line);
	WAIT_UNTIL(last_look_ns() != last);
	taskscope_stop();
	assert_int_equal(__atomic_load_n(&lines, __ATOMIC_ACQUIRE), 0);
}

static int asleep_seconds; /* that the machine was suspended */
static bool has_slept;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int status = __real_clock_gettime(clock == CLOCK_BOOTTIME ? CLOCK_MONOTONIC : clock, ret);

	if (clock == CLOCK_BOOTTIME)
		ret->tv_sec += __atomic_load_n(&asleep_seconds, __ATOMIC_ACQUIRE);
	return status;
}

/* The thread may be late as well. */
static void find_sleep(void *context, enum taskscope_level level, const char *line)
{
	const char *amount = strstr(line, " for=");
	char *end = NULL;
	double seconds = amount ? strtod(amount + 5, &end) : 0;

	lines_ignore(context, level, line);
	if (seconds >= 2 && seconds < 60 && strncmp(end, "s: ", 3) == 0)
		__atomic_store_n(&has_slept, true, __ATOMIC_RELEASE);
}

static void time_that_the_machine_was_suspended_is_told(void **state)
{
	uint64_t last;

	(void)state;
	taskscope_stop();
	start_with(find_sleep);
	last = last_look_ns();
	WAIT_UNTIL(last_look_ns() != last);
	assert_false(__atomic_load_n(&has_slept, __ATOMIC_ACQUIRE));
	__atomic_store_n(&asleep_seconds, 2, __ATOMIC_RELEASE);
	WAIT_UNTIL(__atomic_load_n(&has_slept, __ATOMIC_ACQUIRE));
}

#define HEARTBEAT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HEARTBEAT_TEST(a_short_limit_is_looked_at_often_while_its_scope_is_open),
		HEARTBEAT_TEST(a_limit_that_is_raised_is_looked_at_less_often),
		HEARTBEAT_TEST(limits_of_scopes_that_come_and_go_wake_it_once),
		HEARTBEAT_TEST(lines_that_were_wanted_before_a_stop_are_not_printed_after_it),
		HEARTBEAT_TEST(time_that_the_machine_was_suspended_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The memory that readers see, as it is made. */
#include <time.h>

#include "lib_support.h"

#include "lib/scope/ticks.h"

enum {
	MILLISECOND_NS = 1000000,
	INTERRUPTION_MS = 50,
	NEAR_MS = 10,
};

static unsigned int interruptions;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

/* The thread does not get to run just before it reads the clock. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (interruptions) {
		interruptions--;
		usleep(INTERRUPTION_MS * 1000);
	}
	return __real_clock_gettime(clock, ret);
}

struct moment {
	uint64_t ticks, ns;
};

/* On both clocks, without much time between the two. */
static struct moment moment_now(void)
{
	struct moment moment;
	uint64_t before;

	do {
		before = ticks_monotonic_ns();
		moment = (struct moment){ .ticks = ticks_now(), .ns = ticks_monotonic_ns() };
	} while (moment.ns - before > MILLISECOND_NS);
	return moment;
}

static void both_clocks_are_read_at_the_same_moment(void **state)
{
	struct moment first, last;
	double ns_per_tick, apart_ns;

	(void)state;
	ticks_choose();
	interruptions = 1;
	assert_int_equal(area_open(), 0);
	assert_int_equal(interruptions, 0);
	first = moment_now();
	usleep(4 * INTERRUPTION_MS * 1000);
	last = moment_now();
	ns_per_tick = (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
	apart_ns = (double)(first.ns - area.header->anchor_ns) -
		   (double)(first.ticks - area.header->anchor_ticks) * ns_per_tick;
	assert_true(apart_ns < NEAR_MS * MILLISECOND_NS && apart_ns > -NEAR_MS * MILLISECOND_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_clocks_are_read_at_the_same_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

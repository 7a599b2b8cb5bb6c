/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "host/proc/cpu_times.h"

/* Of a virtual machine with two CPUs: idle, then with two busy loops while its host was busy. */
static const char before[] = "cpu  34993 67457 29795 58702 632 0 144 222 0 0\n"
			     "cpu0 17400 33800 14900 29300 300 0 70 110 0 0\n"
			     "cpu1 17593 33657 14895 29402 332 0 74 112 0 0\n"
			     "intr 12345 0 9\nctxt 99\n";
static const char after[] = "cpu  35193 67657 29801 58712 633 0 146 262 0 0\n"
			    "cpu0 17500 33900 14903 29305 300 1 71 140 50 0\n"
			    "cpu1 17693 33757 14898 29407 333 0 75 122 0 0\n"
			    "intr 12399 0 9\nctxt 199\n";

static bool between(const char *from, const char *to, struct cpu_time *ret)
{
	CLEANUP(cpu_times_clear) struct cpu_times begin = { 0 };
	CLEANUP(cpu_times_clear) struct cpu_times end = { 0 };

	assert_int_equal(cpu_times_parse(from, &begin), 0);
	assert_int_equal(cpu_times_parse(to, &end), 0);
	return cpu_times_between(&begin, &end, ret);
}

/* Not idle, not waiting for a disk; and what a guest of this host used counts once. */
static void what_grew_is_added_up_over_the_cpus(void **state)
{
	struct cpu_time grown;

	(void)state;
	assert_true(between(before, after, &grown));
	assert_int_equal(grown.stolen, 30 + 10);
	assert_int_equal(grown.busy, (100 + 100 + 3 + 1 + 1) + (100 + 100 + 3 + 0 + 1));
}

static void a_time_that_fell_grew_by_nothing(void **state)
{
	struct cpu_time grown;

	(void)state;
	assert_true(between(after, before, &grown));
	assert_int_equal(grown.stolen, 0);
	assert_int_equal(grown.busy, 0);
	assert_true(between("cpu0 1 0 0 0 0 0 0 50 0 0\ncpu1 1 0 0 0 0 0 0 0 0 0\n",
			    "cpu0 9 0 0 0 0 0 0 3 0 0\ncpu1 2 0 0 0 0 0 0 4 0 0\n", &grown));
	assert_int_equal(grown.stolen, 4);
	assert_int_equal(grown.busy, 8 + 1);
}

static void cpus_that_came_or_went_do_not_count(void **state)
{
	struct cpu_time grown;

	(void)state;
	assert_true(between("cpu0 1 0 0 0 0 0 0 1 0 0\ncpu2 5 0 0 0 0 0 0 5 0 0\n",
			    "cpu1 900 0 0 0 0 0 0 900 0 0\ncpu2 7 0 0 0 0 0 0 8 0 0\n", &grown));
	assert_int_equal(grown.stolen, 3);
	assert_int_equal(grown.busy, 2);
}

/* A kernel without a clock for it says 0 for ever. */
static void without_any_since_boot_it_is_not_known(void **state)
{
	struct cpu_time grown;

	(void)state;
	assert_false(between("cpu0 1 0 0 0 0 0 0 0 0 0\n", "cpu0 9 0 0 0 0 0 0 0 0 0\n", &grown));
	assert_false(between("", "", &grown));
	assert_true(between("cpu0 1 0 0 0 0 0 0 0 0 0\n", "cpu0 9 0 0 0 0 0 0 1 0 0\n", &grown));
	assert_int_equal(grown.stolen, 1);
	assert_true(between("cpu0 1 0 0 0 0 0 0 7 0 0\n", "cpu0 9 0 0 0 0 0 0 7 0 0\n", &grown));
	assert_int_equal(grown.stolen, 0);
}

static void lines_that_are_cut_are_left_out(void **state)
{
	struct cpu_time grown;

	(void)state;
	assert_false(between("cpu0 1 0 0 0 0 0 0 4", "cpu0 1 0 0 0 0 0 0 9", &grown));
	assert_false(between("cpu0 1 0 0 0 0\n", "cpu0 1 0 0 x 0 0 0 9 0\n", &grown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grew_is_added_up_over_the_cpus),
		cmocka_unit_test(a_time_that_fell_grew_by_nothing),
		cmocka_unit_test(cpus_that_came_or_went_do_not_count),
		cmocka_unit_test(without_any_since_boot_it_is_not_known),
		cmocka_unit_test(lines_that_are_cut_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "trace/life/life_budget.h"

#define BEGIN (100 * NS_PER_SECOND)

struct told {
	size_t count;
	struct life_event last;
	char details[512];
	uint64_t lost;
	int answer;
};

static int take(void *context, const struct life_event *event)
{
	struct told *told = context;

	told->count++;
	told->lost += event->lost;
	told->last = *event;
	snprintf(told->details, sizeof(told->details), "%s", event->details);
	return told->answer;
}

static int keep_many(struct life_budget *budget, int count, uint64_t now_ns)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		kept += life_budget_keeps(budget, LIFE_EXEC, "true", now_ns);
	return kept;
}

static void without_a_limit_all_is_kept(void **state)
{
	struct life_budget budget = { 0 };

	(void)state;
	assert_int_equal(keep_many(&budget, 1000, BEGIN), 1000);
	assert_false(life_budget_has_counts(&budget));
}

static void a_second_has_so_many(void **state)
{
	struct life_budget budget = { .per_second = 10 };

	(void)state;
	assert_int_equal(keep_many(&budget, 100, BEGIN), 10);
	assert_int_equal(keep_many(&budget, 100, BEGIN + NS_PER_SECOND / 2), 5);
	assert_int_equal(keep_many(&budget, 100, BEGIN + 100 * NS_PER_SECOND), 10);
	/* A clock that goes back gives nothing. */
	assert_int_equal(keep_many(&budget, 100, BEGIN), 0);
	assert_int_equal(budget.counted, 375);
}

static void kills_are_always_kept(void **state)
{
	struct life_budget budget = { .per_second = 1 };

	(void)state;
	keep_many(&budget, 10, BEGIN);
	assert_true(life_budget_keeps(&budget, LIFE_KILL, "x", BEGIN));
	assert_true(life_budget_keeps(&budget, LIFE_OOM, "x", BEGIN));
	assert_false(life_budget_keeps(&budget, LIFE_SIGNAL, "x", BEGIN));
}

static void counts_are_told_by_program(void **state)
{
	struct life_budget budget = { .per_second = 1 };
	struct told told = { 0 };

	(void)state;
	keep_many(&budget, 4, BEGIN);
	life_budget_keeps(&budget, LIFE_EXIT, "true", BEGIN);
	assert_false(life_budget_is_due(&budget, BEGIN + NS_PER_SECOND - 1));
	assert_true(life_budget_is_due(&budget, BEGIN + NS_PER_SECOND));
	assert_int_equal(life_budget_report(&budget, 5, take, &told), 0);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.last.kind, LIFE_LOST);
	assert_int_equal(told.last.lost, 4);
	assert_int_equal(told.last.unix_ns, 5);
	assert_string_equal(told.last.comm, "true");
	assert_string_equal(
		told.details,
		"3 exec, 1 exit were counted, not kept: there were more than 1 events a second");
	assert_false(life_budget_has_counts(&budget));
	assert_int_equal(life_budget_report(&budget, 5, take, &told), 0);
	assert_int_equal(told.count, 1);
}

static void more_programs_than_have_room_are_one(void **state)
{
	struct life_budget budget = { .per_second = 1 };
	struct told told = { 0 };
	char comm[TREE_COMM_SIZE];

	(void)state;
	life_budget_keeps(&budget, LIFE_EXEC, "first", BEGIN);
	for (int i = 0; i < LIFE_PROGRAMS_MAX + 10; i++) {
		snprintf(comm, sizeof(comm), "program %d", i);
		life_budget_keeps(&budget, LIFE_EXEC, comm, BEGIN);
	}
	assert_int_equal(life_budget_report(&budget, 5, take, &told), 0);
	assert_int_equal(told.count, LIFE_PROGRAMS_MAX + 1);
	assert_int_equal(told.lost, LIFE_PROGRAMS_MAX + 10);
	assert_string_equal(told.last.comm, "");
	assert_int_equal(told.last.lost, 10);
}

static void what_the_sink_says_ends_it(void **state)
{
	struct life_budget budget = { .per_second = 1 };
	struct told told = { .answer = -5 };

	(void)state;
	keep_many(&budget, 3, BEGIN);
	assert_int_equal(life_budget_report(&budget, 5, take, &told), -5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_all_is_kept),
		cmocka_unit_test(a_second_has_so_many),
		cmocka_unit_test(kills_are_always_kept),
		cmocka_unit_test(counts_are_told_by_program),
		cmocka_unit_test(more_programs_than_have_room_are_one),
		cmocka_unit_test(what_the_sink_says_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

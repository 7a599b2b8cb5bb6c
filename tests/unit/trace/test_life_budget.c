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

static bool keep(struct life_budget *budget, enum life_kind kind, const char *comm, uint32_t uid,
		 uint64_t now_ns)
{
	struct life_event event = { .kind = kind, .present = LIFE_HAS_UID, .uid = uid };

	snprintf(event.comm, sizeof(event.comm), "%s", comm);
	return life_budget_keeps(budget, &event, now_ns);
}

static int keep_many_of(struct life_budget *budget, uint32_t uid, int count, uint64_t now_ns)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		kept += keep(budget, LIFE_EXEC, "true", uid, now_ns);
	return kept;
}

static int keep_many(struct life_budget *budget, int count, uint64_t now_ns)
{
	return keep_many_of(budget, 1000, count, now_ns);
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
	/* A quarter is left to others. */
	assert_int_equal(keep_many(&budget, 100, BEGIN), 7);
	assert_int_equal(keep_many(&budget, 100, BEGIN + NS_PER_SECOND / 2), 5);
	assert_int_equal(keep_many(&budget, 100, BEGIN + 100 * NS_PER_SECOND), 7);
	/* A clock that goes back gives nothing. */
	assert_int_equal(keep_many(&budget, 100, BEGIN), 0);
	assert_int_equal(budget.counted, 381);
}

static void kills_are_kept_when_others_are_not(void **state)
{
	struct life_budget budget = { .per_second = 1 };

	(void)state;
	keep_many(&budget, 10, BEGIN);
	assert_true(keep(&budget, LIFE_KILL, "x", 1000, BEGIN));
	assert_true(keep(&budget, LIFE_OOM, "x", 1000, BEGIN));
	assert_false(keep(&budget, LIFE_SIGNAL, "x", 1000, BEGIN));
	/* But not without end: they are as easily made as others. */
	for (int i = 0; i < 8; i++)
		assert_true(keep(&budget, LIFE_KILL, "x", 1000, BEGIN));
	assert_false(keep(&budget, LIFE_KILL, "x", 1000, BEGIN));
	assert_true(keep(&budget, LIFE_KILL, "x", 1001, BEGIN));
	assert_true(keep(&budget, LIFE_OOM, "x", 1000, BEGIN));
}

static void a_user_may_send_all_for_ten_seconds_and_then_a_quarter(void **state)
{
	struct life_budget budget = { .per_second = 1000 };
	uint64_t now_ns = BEGIN;
	int kept = 0;

	(void)state;
	for (int second = 0; second < 10; second++, now_ns += NS_PER_SECOND)
		for (int part = 0; part < 10; part++)
			kept += keep_many(&budget, 100,
					  now_ns + (uint64_t)part * NS_PER_SECOND / 10);
	assert_int_equal(kept, 10 * 1000);
	for (int second = 0; second < 60; second++, now_ns += NS_PER_SECOND)
		keep_many(&budget, 1000, now_ns);
	assert_int_equal(keep_many(&budget, 1000, now_ns), 250);
}

static void one_user_cannot_take_what_others_need(void **state)
{
	struct life_budget budget = { .per_second = 1000 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint64_t now_ns = BEGIN + (uint64_t)i * NS_PER_SECOND / 20;

		keep_many_of(&budget, 666, 2000, now_ns);
		assert_int_equal(keep_many_of(&budget, 1000, 5, now_ns), 5);
	}
}

static void more_users_than_have_room_lose_nothing(void **state)
{
	struct life_budget budget = { .per_second = 1000 };

	(void)state;
	for (uint32_t uid = 0; uid < 4 * LIFE_USERS_MAX; uid++)
		assert_int_equal(keep_many_of(&budget, uid, 3, BEGIN), 3);
}

static void counts_of_users_are_told_apart(void **state)
{
	struct life_budget budget = { .per_second = 1 };
	struct told told = { 0 };

	(void)state;
	keep_many_of(&budget, 1, 5, BEGIN);
	keep_many_of(&budget, 2, 5, BEGIN);
	assert_int_equal(life_budget_report(&budget, 5, take, &told), 0);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.lost, 9);
	assert_true(told.last.present & LIFE_HAS_UID);
	assert_int_equal(told.last.uid, 2);
}

static void counts_are_told_by_program(void **state)
{
	struct life_budget budget = { .per_second = 1 };
	struct told told = { 0 };

	(void)state;
	keep_many(&budget, 4, BEGIN);
	keep(&budget, LIFE_EXIT, "true", 1000, BEGIN);
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
		"3 exec, 1 exit were counted, not kept: more than a fair share of 1 events a second");
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
	keep(&budget, LIFE_EXEC, "first", 0, BEGIN);
	for (uint32_t i = 0; i < LIFE_PROGRAMS_MAX + 10; i++) {
		snprintf(comm, sizeof(comm), "program %u", i);
		keep(&budget, LIFE_EXEC, comm, i / LIFE_PROGRAMS_OF_USER, BEGIN);
	}
	assert_int_equal(life_budget_report(&budget, 5, take, &told), 0);
	assert_int_equal(told.count, LIFE_PROGRAMS_MAX + 1);
	assert_int_equal(told.lost, LIFE_PROGRAMS_MAX + 10);
	assert_string_equal(told.last.comm, "");
	assert_int_equal(told.last.lost, 10);
	assert_false(told.last.present & LIFE_HAS_UID);
}

static void a_user_with_many_programs_leaves_room_to_others(void **state)
{
	struct life_budget budget = { .per_second = 1 };
	struct told told = { 0 };
	char comm[TREE_COMM_SIZE];

	(void)state;
	keep(&budget, LIFE_EXEC, "first", 0, BEGIN);
	for (int i = 0; i < 1000; i++) {
		snprintf(comm, sizeof(comm), "program %d", i);
		keep(&budget, LIFE_EXEC, comm, 666, BEGIN);
	}
	assert_int_equal(life_budget_report(&budget, 5, take, &told), 0);
	assert_int_equal(told.count, LIFE_PROGRAMS_OF_USER + 1);
	assert_int_equal(told.lost, 1000);
	assert_string_equal(told.last.comm, "");
	assert_int_equal(told.last.uid, 666);
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
		cmocka_unit_test(kills_are_kept_when_others_are_not),
		cmocka_unit_test(a_user_may_send_all_for_ten_seconds_and_then_a_quarter),
		cmocka_unit_test(one_user_cannot_take_what_others_need),
		cmocka_unit_test(more_users_than_have_room_lose_nothing),
		cmocka_unit_test(counts_of_users_are_told_apart),
		cmocka_unit_test(a_user_with_many_programs_leaves_room_to_others),
		cmocka_unit_test(counts_are_told_by_program),
		cmocka_unit_test(more_programs_than_have_room_are_one),
		cmocka_unit_test(what_the_sink_says_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collect/proc/proc_view.h"
#include "host/proc/task_text.h"

#define MS 1000000ull

static void expect_time(struct cputime time, uint64_t utime, uint64_t stime)
{
	assert_int_equal(time.utime, utime);
	assert_int_equal(time.stime, stime);
}

static void time_is_divided_as_the_ticks_were(void **state)
{
	(void)state;
	expect_time(cputime_adjust((struct cputime){ 300 * MS, 100 * MS }, 800 * MS,
				   (struct cputime){ 0 }),
		    600 * MS, 200 * MS);
}

static void without_ticks_all_time_is_user_time(void **state)
{
	(void)state;
	expect_time(cputime_adjust((struct cputime){ 0 }, 3 * MS, (struct cputime){ 0 }), 3 * MS,
		    0);
	expect_time(cputime_adjust((struct cputime){ 4 * MS, 0 }, 3 * MS, (struct cputime){ 0 }),
		    3 * MS, 0);
}

static void with_system_ticks_only_all_time_is_system_time(void **state)
{
	(void)state;
	expect_time(cputime_adjust((struct cputime){ 0, 4 * MS }, 3 * MS, (struct cputime){ 0 }), 0,
		    3 * MS);
}

static void what_was_shown_before_never_falls(void **state)
{
	const struct cputime shown = { 10 * MS, 40 * MS };

	(void)state;
	/* No new time: as it was. */
	expect_time(cputime_adjust((struct cputime){ 90 * MS, 10 * MS }, 50 * MS, shown), 10 * MS,
		    40 * MS);
	/* The ticks would now give 6 ms of system time. */
	expect_time(cputime_adjust((struct cputime){ 90 * MS, 10 * MS }, 60 * MS, shown), 20 * MS,
		    40 * MS);
	/* The ticks would now give no user time. */
	expect_time(cputime_adjust((struct cputime){ 0, 10 * MS }, 60 * MS, shown), 10 * MS,
		    50 * MS);
}

static void times_of_centuries_do_not_overflow(void **state)
{
	const uint64_t huge = UINT64_MAX / 2;
	struct cputime time = cputime_adjust((struct cputime){ UINT64_MAX, UINT64_MAX }, huge,
					     (struct cputime){ 0 });

	(void)state;
	assert_int_equal(time.utime + time.stime, huge);
	expect_time(cputime_adjust((struct cputime){ 1, 1 }, 5,
				   (struct cputime){ UINT64_MAX, UINT64_MAX }),
		    UINT64_MAX, UINT64_MAX);
}

static void states_have_the_kernels_letters(void **state)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
	} cases[] = {
		{ 0x0000, 0, 'R' },    { 0x0001, 0, 'S' },
		{ 0x2001, 0, 'S' },			   /* freezable */
		{ 0x0002, 0, 'D' },    { 0x0102, 0, 'D' }, /* killable */
		{ 0x0402, 0, 'I' },    { 0x2402, 0, 'I' },
		{ 0x0401, 0, 'S' }, /* no load alone is not idle */
		{ 0x0104, 0, 'T' },    { 0x0008, 0, 't' },
		{ 0x0080, 0x10, 'X' }, { 0x0080, 0x20, 'Z' },
		{ 0x0040, 0, 'P' },    { 0x0200, 0, 'R' }, /* waking */
		{ 0x0800, 0, 'R' },			   /* new */
		{ 0x1000, 0, 'D' },			   /* sleeping lock of a real-time kernel */
		{ 0x8000, 0, 'D' },			   /* frozen */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(task_state_letter(cases[i].state, cases[i].exit_state),
				 cases[i].letter);
}

static void expect_name(const char *comm, const struct name_fields *fields, const char *expected)
{
	char padded[TASK_COMM_SIZE] = { 0 };
	char name[TASK_NAME_SIZE];
	char text[TASK_NAME_SIZE + 1] = { 0 };
	size_t length;

	memcpy(padded, comm, strnlen(comm, sizeof(padded)));
	length = kernel_thread_name(padded, fields, name);
	assert_true(length < TASK_NAME_SIZE);
	memcpy(text, name, length);
	assert_string_equal(text, expected);
}

static void a_kernel_thread_is_shown_by_its_full_name(void **state)
{
	(void)state;
	expect_name("kthreadd", &(struct name_fields){ 0 }, "kthreadd");
	expect_name("pool_workqueue_", &(struct name_fields){ .full = "pool_workqueue_release" },
		    "pool_workqueue_release");
}

static void a_worker_is_shown_with_its_work(void **state)
{
	struct name_fields fields = { .is_worker = 1, .description = "events" };

	(void)state;
	expect_name("kworker/0:1", &fields, "kworker/0:1-events");
	fields.is_busy = 1;
	expect_name("kworker/0:1", &fields, "kworker/0:1+events");
	fields.description[0] = '\0';
	expect_name("kworker/0:1", &fields, "kworker/0:1");
}

static void a_workers_full_name_counts_where_the_kernel_shows_it(void **state)
{
	struct name_fields fields = { .is_worker = 1, .full = "kworker/R-rcu_gp" };

	(void)state;
	expect_name("kworker/R-rcu_g", &fields, "kworker/R-rcu_g");
	fields.has_full_worker_name = 1;
	expect_name("kworker/R-rcu_g", &fields, "kworker/R-rcu_gp");
}

static void names_without_an_end_are_cut(void **state)
{
	struct name_fields fields = { .is_worker = 1, .has_full_worker_name = 1 };
	char expected[TASK_NAME_SIZE];

	(void)state;
	memset(fields.full, 'f', sizeof(fields.full));
	memset(fields.description, 'd', sizeof(fields.description));
	memset(expected, 'f', sizeof(expected) - 1);
	expected[sizeof(expected) - 1] = '\0';
	expect_name("0123456789abcdef", &fields, expected);

	fields.full[0] = '\0';
	snprintf(expected, sizeof(expected), "0123456789abcdef-%.*s", TASK_DESCRIPTION_SIZE,
		 fields.description);
	expect_name("0123456789abcdef", &fields, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_divided_as_the_ticks_were),
		cmocka_unit_test(without_ticks_all_time_is_user_time),
		cmocka_unit_test(with_system_ticks_only_all_time_is_system_time),
		cmocka_unit_test(what_was_shown_before_never_falls),
		cmocka_unit_test(times_of_centuries_do_not_overflow),
		cmocka_unit_test(states_have_the_kernels_letters),
		cmocka_unit_test(a_kernel_thread_is_shown_by_its_full_name),
		cmocka_unit_test(a_worker_is_shown_with_its_work),
		cmocka_unit_test(a_workers_full_name_counts_where_the_kernel_shows_it),
		cmocka_unit_test(names_without_an_end_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "two_snapshots.h"

#define TOTAL METRIC_total_offcpu_delay_ns

/* Each kind of delay is `each`; those by interrupts are not counted unless asked for. */
static void add_delays(struct snapshot *snapshot, uint64_t each, bool with_irq)
{
	const struct formula *formula = &metrics[TOTAL].formula;
	uint32_t task = hand_task(snapshot, 10, 10, "server", "/");

	for (unsigned i = 0; i < formula->count; i++)
		if (with_irq || !formula_spares(formula, i))
			hand_set(snapshot, formula->inputs[i], task, each);
}

static int64_t delta_of_total(bool before_has_irq, bool after_has_irq, enum compare_mode mode)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	add_delays(pair.before, 1000, before_has_irq);
	add_delays(pair.after, 3000, after_has_irq);
	comparison = pair_compare(&pair, mode, AXIS_PCOMM);
	row = get_row(comparison, "server", TOTAL);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_int_equal(row->after.measured, 1);
	return (int64_t)row->delta.magnitude;
}

static void delays_that_a_kernel_does_not_count_are_left_out_on_both_sides(void **state)
{
	int64_t whole = delta_of_total(true, true, COMPARE_INTERVAL);

	(void)state;
	for (enum compare_mode mode = COMPARE_INTERVAL; mode <= COMPARE_POPULATION; mode++) {
		assert_int_equal(delta_of_total(false, false, mode), whole - 2000);
		assert_int_equal(delta_of_total(false, true, mode), whole - 2000);
		assert_int_equal(delta_of_total(true, false, mode), whole - 2000);
		assert_int_equal(delta_of_total(true, true, mode), whole);
	}
}

static void a_ratio_of_what_never_happened_has_nothing_to_divide_by(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	uint32_t task;

	(void)state;
	hand_task(pair.before, 10, 10, "server", "/");
	task = hand_task(pair.after, FIRST_BORN + 1, FIRST_BORN + 1, "fresh", "/");
	hand_set(pair.after, METRIC_run_time_ns, task, 0);
	hand_set(pair.after, METRIC_wait_time_ns, task, 0);
	comparison = pair_compare(&pair, COMPARE_INTERVAL, AXIS_PCOMM);
	row = get_row(comparison, "fresh", METRIC_cpu_efficiency);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_string_equal(row->reason, "nothing to divide by");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delays_that_a_kernel_does_not_count_are_left_out_on_both_sides),
		cmocka_unit_test(a_ratio_of_what_never_happened_has_nothing_to_divide_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

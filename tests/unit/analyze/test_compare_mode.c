/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "two_snapshots.h"

static void add_server(struct pair *pair)
{
	hand_task(pair->before, 10, 10, "server", "/");
	hand_task(pair->after, 10, 10, "server", "/");
}

static void one_boot_id_with_two_kernels_is_no_interval(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	add_server(&pair);
	snapshot_set_fact_text(pair.after, FACT_kernel_release, "6.12.1");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_int_equal(comparison->mode, COMPARE_POPULATION);
	assert_true(has_note(comparison, "one boot id but different kernels"));
}

static void what_a_side_does_not_tell_of_its_host_is_named(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	add_server(&pair);
	pair.before->facts[FACT_boot_id].present = false;
	pair.before->facts[FACT_boottime_ns].present = false;
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_true(
		has_note(comparison, "before: not known of the host: boot id, time since boot"));
	assert_false(has_note(comparison, "after: not known"));
}

static void a_minute_is_not_taken_for_a_moment(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	add_server(&pair);
	snapshot_set_fact_text(pair.before, FACT_resolution, "minute");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_true(has_note(comparison, "before: no tick is kept of that time"));
	assert_false(has_note(comparison, "after: no tick"));
}

static void one_is_not_many(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	add_server(&pair);
	hand_task(pair.before, 10, 11, "worker", "/");
	pair.after->tally.discarded_values = 1;
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_true(has_note(comparison, "1 thread ended of processes"));
	assert_true(has_note(comparison, "after: 1 impossible value was dropped"));
}

static void who_belongs_where_is_found_out_once_for_two_comparisons(void **state)
{
	static const enum group_axis axes[] = { AXIS_PCOMM, AXIS_COMM, AXIS_THREAD };

	(void)state;
	for (size_t axis = 0; axis < ARRAY_SIZE(axes); axis++) {
		CLEANUP(pair_free) struct pair pair = pair_new();
		CLEANUP(comparison_free_pointer) struct comparison *first = NULL;
		CLEANUP(comparison_free_pointer) struct comparison *second = NULL;
		struct compare_options options = pair_options(COMPARE_AUTO, axes[axis]);

		add_server(&pair);
		hand_task(pair.before, 10, 11, "worker", "/");
		hand_task(pair.after, FIRST_BORN, FIRST_BORN, "fresh", "/");
		options.metrics_only = true;
		pair_finish(&pair);
		first = compare_snapshots(pair.before, pair.after, &options);
		options.like = first;
		second = compare_snapshots(pair.before, pair.after, &options);
		assert_int_equal(first->groups.count, second->groups.count);
		assert_int_equal(first->rows.count, second->rows.count);
		assert_int_equal(first->notes.count, second->notes.count);
		assert_int_equal(first->processes_ended, second->processes_ended);
		for (size_t i = 0; i < first->groups.count; i++)
			assert_string_equal(first->groups.data[i].key, second->groups.data[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_boot_id_with_two_kernels_is_no_interval),
		cmocka_unit_test(what_a_side_does_not_tell_of_its_host_is_named),
		cmocka_unit_test(a_minute_is_not_taken_for_a_moment),
		cmocka_unit_test(one_is_not_many),
		cmocka_unit_test(who_belongs_where_is_found_out_once_for_two_comparisons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rank/compare_rank.h"

#include "base/cleanup.h"
#include "two_snapshots.h"

static const double ms = 1e6, second = 1e9;

static struct rank_scale scale_of_ten_seconds(void)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = pair_snapshot("one", BEFORE_NS);
	struct rank_scale scale;

	hand_task(snapshot, 1, 1, "a", "/");
	rank_scale_init(&scale, snapshot, (uint64_t)10 * 1000000000);
	return scale;
}

static void what_is_below_the_noise_floor_scores_nothing(void **state)
{
	struct rank_scale scale = scale_of_ten_seconds();

	(void)state;
	assert_true(rank_amount(&scale, &metrics[METRIC_run_time_ns], 0.9 * ms, 1) == 0);
	assert_true(rank_amount(&scale, &metrics[METRIC_run_time_ns], 1.1 * ms, 1) > 0);
	assert_true(rank_amount(&scale, &metrics[METRIC_majflt], 9, 1) == 0);
	assert_true(rank_amount(&scale, &metrics[METRIC_rss_bytes], 65535, 1) == 0);
}

static void a_larger_share_of_a_larger_change_scores_more(void **state)
{
	struct rank_scale scale = scale_of_ten_seconds();

	(void)state;
	assert_true(rank_amount(&scale, &metrics[METRIC_run_time_ns], 10 * second, 0.9) >
		    rank_amount(&scale, &metrics[METRIC_run_time_ns], second, 0.1));
	/* All of next to nothing is less than half of the host. */
	assert_true(rank_amount(&scale, &metrics[METRIC_run_time_ns], 20 * second, 0.5) >
		    rank_amount(&scale, &metrics[METRIC_wait_time_ns], 2 * ms, 1));
	assert_true(rank_amount(&scale, &metrics[METRIC_run_time_ns], 1e30, 1) <= 1);
}

static void a_change_never_scores_more_than_its_bound(void **state)
{
	struct rank_scale scale = scale_of_ten_seconds();

	(void)state;
	for (int id = 0; id < METRIC_COUNT; id++) {
		double amount = rank_amount(&scale, &metrics[id], 1e18, 0.7);

		assert_true(amount <= rank_bound(&metrics[id], 0.7) || metrics[id].formula.count);
	}
	assert_true(rank_ratio(&scale, &metrics[METRIC_avg_wait_ns], 0, 1, 1e18, 0.7) <=
		    rank_bound(&metrics[METRIC_avg_wait_ns], 0.7));
}

static void a_ratio_scores_by_how_far_it_went_and_what_it_is_about(void **state)
{
	struct rank_scale scale = scale_of_ten_seconds();

	(void)state;
	assert_true(rank_ratio(&scale, &metrics[METRIC_cpu_efficiency], 0.9, 0.1, second, 0.5) >
		    rank_ratio(&scale, &metrics[METRIC_cpu_efficiency], 0.9, 0.8, second, 0.5));
	assert_true(rank_ratio(&scale, &metrics[METRIC_cpu_efficiency], 0.9, 0.1, second, 0.5) >
		    rank_ratio(&scale, &metrics[METRIC_cpu_efficiency], 0.9, 0.1, 2 * ms, 0.5));
	assert_true(rank_ratio(&scale, &metrics[METRIC_cpu_efficiency], 0.9, 0.1, 0.5 * ms, 0.5) ==
		    0);
	assert_true(rank_ratio(&scale, &metrics[METRIC_cpu_efficiency], 0, 0, second, 0.5) == 0);
}

static void numbers_that_name_something_are_never_important(void **state)
{
	(void)state;
	assert_true(rank_setting(&metrics[METRIC_ppid], 1) == 0);
	assert_true(rank_setting(&metrics[METRIC_state], 1) == 0);
	assert_true(rank_setting(&metrics[METRIC_policy], 1) > 0);
}

/* A server whose work doubles from much, and a tool that goes from nothing to a little. */
static void the_large_mover_comes_before_the_one_that_had_nothing(void **state)
{
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *first;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct snapshot *snapshot = i ? pair.after : pair.before;

		hand_task(snapshot, 10, 10, "server", "/");
		hand_task(snapshot, 20, 20, "tool", "/");
		hand_set(snapshot, METRIC_run_time_ns, 0, (uint64_t)(i ? 20 : 10) * 1000000000);
		hand_set(snapshot, METRIC_run_time_ns, 1, i ? 2000000 : 0);
		hand_set(snapshot, METRIC_minflt, 0, 50000);
		hand_set(snapshot, METRIC_minflt, 1, i ? 1 : 0);
	}
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	first = &comparison->rows.data[0];
	assert_string_equal(comparison->groups.data[first->group].key, "server");
	assert_ptr_equal(first->metric, &metrics[METRIC_run_time_ns]);
	assert_true(first->share > 0.99);
	/* One fault is all change of faults there is, and noise. */
	assert_true(get_row(comparison, "tool", METRIC_minflt)->score == 0);
	comparison_free(comparison);
	options.limit = 1;
	options.unchanged = false;
	comparison = compare_snapshots(pair.before, pair.after, &options);
	assert_int_equal(comparison->rows.count, 1);
	assert_ptr_equal(comparison->rows.data[0].metric, &metrics[METRIC_run_time_ns]);
	assert_int_equal(comparison->tallies[COMPARE_PRIMARY].kept, 1);
	assert_int_equal(comparison->tallies[COMPARE_PRIMARY].beyond_limit, 2);
}

/* The only one that has children uses little of the CPU. */
static void the_lone_mover_of_a_rare_metric_has_its_share_of_the_resource(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *server, *children;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct snapshot *snapshot = i ? pair.after : pair.before;

		hand_task(snapshot, 10, 10, "server", "/");
		hand_task(snapshot, 20, 20, "bash", "/");
		hand_set(snapshot, METRIC_run_time_ns, 0, i ? 839000000 : 0);
		hand_set(snapshot, METRIC_run_time_ns, 1, i ? 1000000 : 0);
		hand_set(snapshot, METRIC_child_utime_ns, 1, i ? 90000000 : 0);
	}
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	server = get_row(comparison, "server", METRIC_run_time_ns);
	children = get_row(comparison, "bash", METRIC_child_utime_ns);
	assert_true(server->score > children->score);
	assert_true(server->share > 0.9 && server->share < 0.91);
	assert_true(children->share > 0.09 && children->share < 0.1);
	/* The row of its CPU time stands for what its children did, too. */
	assert_true(get_row(comparison, "bash", METRIC_run_time_ns)->share > children->share);
	assert_int_equal(comparison->groups.data[children->group].children_ns, 90000000);
}

static void taskscope_itself_and_what_only_ages_are_not_ranked(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct snapshot *snapshot = i ? pair.after : pair.before;

		hand_task(snapshot, 10, 10, "taskscope", "/");
		hand_task(snapshot, 20, 20, "server", "/");
		hand_set(snapshot, METRIC_run_time_ns, 0, i ? 9000000000 : 0);
		hand_set(snapshot, METRIC_run_time_ns, 1, i ? 100000000 : 0);
		hand_set(snapshot, METRIC_scope_age_ns, 1, i ? 9000000000 : 0);
	}
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_true(get_row(comparison, "taskscope", METRIC_run_time_ns)->score == 0);
	assert_true(get_row(comparison, "server", METRIC_run_time_ns)->score > 0);
	assert_true(get_row(comparison, "server", METRIC_scope_age_ns)->score == 0);
}

static void what_is_part_of_another_row_is_left_out_if_that_was_measured(void **state)
{
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	options.fold_parts = true;
	for (int i = 0; i < 2; i++) {
		struct snapshot *snapshot = i ? pair.after : pair.before;

		hand_task(snapshot, 10, 10, "server", "/");
		hand_set(snapshot, METRIC_run_time_ns, 0, i ? 9000000000 : 0);
		hand_set(snapshot, METRIC_utime_ns, 0, i ? 8000000000 : 0);
		hand_set(snapshot, METRIC_cpu_delay_total_ns, 0, i ? 1000000000 : 0);
		snapshot_note_number(snapshot, SHEET_HOST, "pressure cpu some avg10", i ? 900 : 0);
		snapshot_note_number(snapshot, SHEET_HOST, "pressure io some avg10", i ? 900 : 0);
		snapshot_note_number(snapshot, SHEET_HOST, "pressure io some total", i ? 900 : 0);
	}
	pair_finish(&pair);
	comparison = compare_snapshots(pair.before, pair.after, &options);
	assert_non_null(find_row(comparison, "server", METRIC_run_time_ns));
	assert_null(find_row(comparison, "server", METRIC_utime_ns));
	assert_non_null(find_row(comparison, "server", METRIC_cpu_delay_total_ns));
	for (size_t i = 0; i < comparison->rows.count; i++)
		assert_string_not_equal(comparison->rows.data[i].metric->name,
					"pressure io some avg10");
	assert_int_equal(comparison->tallies[COMPARE_HOST_PRESSURE].kept, 2);
}

static void parts_stand_for_themselves_where_no_row_contains_them(void **state)
{
	(void)state;
	assert_int_equal(rank_whole_of(METRIC_utime_ns, PART_PLAIN), METRIC_run_time_ns);
	assert_int_equal(rank_whole_of(METRIC_dead_rchar, PART_PLAIN), METRIC_COUNT);
	assert_int_equal(rank_whole_of(METRIC_dead_rchar, PART_OF_EXITED), METRIC_rchar);
	assert_int_equal(rank_whole_of(METRIC_child_utime_ns, PART_OF_EXITED), METRIC_COUNT);
	assert_int_equal(rank_whole_of(METRIC_child_utime_ns, PART_OF_CHILDREN),
			 METRIC_run_time_ns);
	assert_int_equal(rank_whole_of(METRIC_run_time_ns, PART_OF_CHILDREN), METRIC_COUNT);
}

static void rows_of_equal_score_are_in_order_of_section_group_and_metric(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	hand_task(pair.before, 10, 10, "b", "/");
	hand_task(pair.before, 20, 20, "a", "/");
	hand_task(pair.after, 10, 10, "b", "/");
	hand_task(pair.after, 20, 20, "a", "/");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	for (size_t i = 1; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		assert_true(row->score == 0);
		assert_true(rank_tie(comparison, &row[-1], row) < 0);
	}
}

/* Whatever the limit, the rows kept are the first of those kept without one. */
static void a_limit_keeps_the_best_rows_of_each_section(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *all = NULL;
	char name[16];

	(void)state;
	for (int32_t tid = 10; tid < 60; tid++) {
		snprintf(name, sizeof(name), "%c%c", 'g' + tid % 16, 'g' + tid / 16);
		for (int i = 0; i < 2; i++) {
			struct snapshot *snapshot = i ? pair.after : pair.before;
			uint32_t row = hand_task(snapshot, tid, tid, name, "/");

			hand_set(snapshot, METRIC_run_time_ns, row,
				 i ? (uint64_t)(tid * 7919 % 50) * 10000000 : 0);
			hand_set(snapshot, METRIC_wait_time_ns, row, i ? 5000000 : 0);
		}
	}
	all = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	for (size_t limit = 1; limit < 120; limit += 13) {
		struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
		CLEANUP(comparison_free_pointer) struct comparison *few = NULL;
		size_t next = 0, primary = 0;

		options.limit = limit;
		few = compare_snapshots(pair.before, pair.after, &options);
		for (size_t i = 0; i < all->rows.count && primary < limit; i++) {
			const struct comparison_row *row = &all->rows.data[i];

			if (row->section != COMPARE_PRIMARY)
				continue;
			primary++;
			while (few->rows.data[next].section != COMPARE_PRIMARY)
				next++;
			assert_ptr_equal(few->rows.data[next].metric, row->metric);
			assert_int_equal(few->rows.data[next].group, row->group);
			next++;
		}
		assert_int_equal(few->tallies[COMPARE_PRIMARY].kept +
					 few->tallies[COMPARE_PRIMARY].beyond_limit,
				 all->tallies[COMPARE_PRIMARY].kept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_below_the_noise_floor_scores_nothing),
		cmocka_unit_test(a_larger_share_of_a_larger_change_scores_more),
		cmocka_unit_test(a_change_never_scores_more_than_its_bound),
		cmocka_unit_test(a_ratio_scores_by_how_far_it_went_and_what_it_is_about),
		cmocka_unit_test(numbers_that_name_something_are_never_important),
		cmocka_unit_test(the_large_mover_comes_before_the_one_that_had_nothing),
		cmocka_unit_test(the_lone_mover_of_a_rare_metric_has_its_share_of_the_resource),
		cmocka_unit_test(taskscope_itself_and_what_only_ages_are_not_ranked),
		cmocka_unit_test(what_is_part_of_another_row_is_left_out_if_that_was_measured),
		cmocka_unit_test(parts_stand_for_themselves_where_no_row_contains_them),
		cmocka_unit_test(rows_of_equal_score_are_in_order_of_section_group_and_metric),
		cmocka_unit_test(a_limit_keeps_the_best_rows_of_each_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

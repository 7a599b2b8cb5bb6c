/* SPDX-License-Identifier: MIT */
/* Losses and statistics, also of threads that end meanwhile. */
#include "scope_decoding.h"

static void losses_are_of_all_threads(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_header(memory)->lost_threads = 1;
	memory_header(memory)->lost_scopes = 2;
	memory_header(memory)->ended_unwound = 10;
	memory_thread(memory, 0)->unwound = 3;
	memory_thread(memory, 1)->unwound = 4;
	memory_thread(memory, 1)->lost_depth = 5;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.losses.threads, 1);
	assert_int_equal(scopes.losses.scopes, 2);
	assert_int_equal(scopes.losses.unwound, 17);
	assert_int_equal(scopes.losses.depth, 5);
	scopes_free(&scopes);
	free(memory);
}

static void losses_of_a_thread_that_ends_meanwhile_are_counted_once(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct unsteady unsteady = {
			.memory = memory_sample(),
			.size = MEMORY_SIZE,
			.ends = i / 2 + 1,
		};
		struct scopes scopes = { 0 };

		memory_header(unsteady.memory)->ended_unwound = 10;
		memory_thread(unsteady.memory, 1)->unwound = 1;
		decode_unsteady(&unsteady, i % 2, &scopes);
		assert_int_equal(unsteady.ends, 0);
		assert_int_equal(scopes.losses.unwound, 11 + i / 2);
		assert_int_equal(scopes.tasks.count, 1);
		scopes_free(&scopes);
		free(unsteady.memory);
	}
}

static void labels_that_come_meanwhile_are_read_with_the_rest(void **state)
{
	struct unsteady unsteady = {
		.memory = memory_sample(),
		.size = MEMORY_SIZE,
		.ends = 1,
		.has_late = true,
	};
	struct scopes scopes = { 0 };

	(void)state;
	decode_unsteady(&unsteady, true, &scopes);
	assert_string_equal(scopes.list.data[0].label, "late");
	scopes_free(&scopes);
	free(unsteady.memory);
}

static void threads_that_never_cease_to_end_are_read_a_few_times(void **state)
{
	struct unsteady unsteady = {
		.memory = memory_sample(),
		.size = MEMORY_SIZE,
		.ends = 1000,
	};
	struct scopes scopes = { 0 };

	(void)state;
	decode_unsteady(&unsteady, false, &scopes);
	assert_true(unsteady.ends > 980);
	scopes_free(&scopes);
	free(unsteady.memory);
}

static char *memory_with_statistics(void)
{
	char *memory = memory_sample();

	memory_count(memory_statistic(memory, 0, 0), 1, 20, 90);
	memory_count(memory_statistic(memory, 0, 0), 1, 30, 10);
	memory_count(memory_statistic(memory, 1, 1), 1, 20, 100);
	memory_count(memory_statistic(memory, 1, 0), 2, 31, 1);
	memory_statistic(memory, 1, 0)->cpu_ns = 500;
	memory_statistic(memory, 1, 0)->cpu_samples = 1;
	memory_count(memory_statistic(memory, 1, MEMORY_STATISTICS - 1), 0, 33, 9);
	memory_count(memory_retired(memory, 0), 2, 31, 4);
	memory_count(memory_retired(memory, MEMORY_RETIRED - 1), 0, 33, 2);
	return memory;
}

static void of_labels_that_are_not_there_no_statistics_are_read(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();

	(void)state;
	memory_header(memory)->label_count = 1;
	memory_count(memory_retired(memory, 1), 1, 31, 4);
	memory_count(memory_retired(memory, MEMORY_RETIRED - 1), 0, 33, 2);
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 1);
	assert_int_equal(scopes.labels.data[0].count, 2);
	scopes_free(&scopes);
	free(memory);
}

static void statistics_are_of_all_threads_also_those_that_ended(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_with_statistics();
	const struct scope_label_use *uses;

	(void)state;
	decode_well(memory, &scopes);
	uses = scopes.labels.data;
	assert_int_equal(scopes.labels.count, 3);
	assert_string_equal(uses[0].label, "load matrix");
	assert_int_equal(uses[0].count, 200);
	assert_int_equal(uses[0].longest_ns, (UINT64_C(1) << 30) / 2);
	assert_in_range(uses[0].p50_ns, (1 << 20) / 2, (1 << 21) / 2);
	assert_in_range(uses[0].p99_ns, (1 << 30) / 2, UINT32_MAX / 2);
	assert_true(uses[0].p99_ns <= uses[0].longest_ns);
	assert_false(uses[0].has_cpu);
	assert_string_equal(uses[1].label, "solve");
	assert_int_equal(uses[1].count, 5);
	assert_true(uses[1].has_cpu);
	assert_int_equal(uses[1].cpu_ns, 500);
	assert_string_equal(uses[2].label, ""); /* the rest, last although it took longest */
	assert_int_equal(uses[2].count, 11);
	scopes_free(&scopes);
	free(memory);
}

static void statistics_come_when_they_are_wanted_and_taken(void **state)
{
	struct scopes scopes = { 0 };
	struct error error = { 0 };
	char *memory = memory_with_statistics();

	(void)state;
	assert_int_equal(scopes_decode(memory, MEMORY_SIZE, MEMORY_NOW_TICKS, MEMORY_NOW_NS, false,
				       &scopes, &error),
			 0);
	assert_int_equal(scopes.labels.count, 0);
	assert_true(scopes.has_statistics);
	memory_header(memory)->flags = 0;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 0);
	assert_false(scopes.has_statistics);
	scopes_free(&scopes);
	free(memory);
}

static void statistics_of_no_label_are_of_the_rest(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_with_statistics();

	(void)state;
	memory_statistic(memory, 0, 0)->label = UINT32_MAX;
	memory_statistic(memory, 0, 0)->total_ticks = UINT64_MAX;
	memory_statistic(memory, 1, 1)->label = 0; /* free: not the last one */
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 2);
	assert_int_equal(scopes.labels.data[1].count, 111);
	assert_int_equal(scopes.labels.data[1].total_ns, INT64_MAX);
	scopes_free(&scopes);
	free(memory);
}

static void time_of_a_label_that_is_open_is_told_before_it_is_closed(void **state)
{
	struct scopes scopes = { 0 };
	char *memory = memory_sample();
	struct scope_statistic *statistic = memory_statistic(memory, 0, 0);

	(void)state;
	statistic->label = 1;
	statistic->cpu_ns = 700;
	statistic->cpu_samples = 2;
	decode_well(memory, &scopes);
	assert_int_equal(scopes.labels.count, 1);
	assert_string_equal(scopes.labels.data[0].label, "load matrix");
	assert_int_equal(scopes.labels.data[0].count, 0);
	assert_true(scopes.labels.data[0].has_cpu);
	assert_int_equal(scopes.labels.data[0].cpu_ns, 700);
	scopes_free(&scopes);
	free(memory);
}

/* Statistics of ended threads in a table of their own, far behind all labels; counts its bytes. */
struct table {
	char *memory;
	struct scope_statistic places[SCOPE_RETIRED];
	size_t bytes_read;
};

static ssize_t read_table(void *context, uint64_t offset, void *buffer, size_t size)
{
	struct table *table = context;

	if (offset < MEMORY_SIZE) {
		memcpy(buffer, table->memory + offset, size);
		return (ssize_t)size;
	}
	table->bytes_read += size;
	memcpy(buffer, (char *)table->places + (offset - MEMORY_SIZE), size);
	return (ssize_t)size;
}

static void decode_table(struct table *table, struct scopes *ret)
{
	struct scope_source source = { read_table, table, MEMORY_SIZE + sizeof(table->places) };
	struct scope_moment moment = { MEMORY_NOW_TICKS, MEMORY_NOW_NS, true };
	struct scope_header *told = memory_header(table->memory);
	struct scope_workspace workspace = { 0 };
	struct scope_header header;
	struct error error = { 0 };

	told->statistics_max = 0;
	told->statistic_size = sizeof(struct scope_statistic);
	told->retired_offset = MEMORY_SIZE;
	told->retired_max = SCOPE_RETIRED;
	assert_int_equal(scope_header_read(&source, &header, &error), 0);
	assert_int_equal(scope_source_decode(&source, &header, &moment, true, &workspace, ret), 0);
	scope_workspace_clear(&workspace);
}

/* By the labels' numbers, or one after the other. */
static void places_of_ended_threads_are_read_as_far_as_there_are_labels(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 2; first++) {
		struct table table = { .memory = memory_sample() };
		struct scopes scopes = { 0 };

		memory_count(&table.places[first], 1, 20, 90);
		memory_count(&table.places[first + 1], 2, 31, 4);
		memory_count(&table.places[SCOPE_RETIRED - 1], 0, 33, 2);
		decode_table(&table, &scopes);
		assert_int_equal(scopes.labels.count, 3);
		assert_string_equal(scopes.labels.data[0].label, "solve");
		assert_int_equal(scopes.labels.data[0].count, 4);
		assert_int_equal(scopes.labels.data[1].count, 90);
		assert_string_equal(scopes.labels.data[2].label, "");
		assert_int_equal(scopes.labels.data[2].count, 2);
		assert_in_range(table.bytes_read, 1, 4 * sizeof(struct scope_statistic));
		scopes_free(&scopes);
		free(table.memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_of_all_threads),
		cmocka_unit_test(losses_of_a_thread_that_ends_meanwhile_are_counted_once),
		cmocka_unit_test(labels_that_come_meanwhile_are_read_with_the_rest),
		cmocka_unit_test(threads_that_never_cease_to_end_are_read_a_few_times),
		cmocka_unit_test(of_labels_that_are_not_there_no_statistics_are_read),
		cmocka_unit_test(statistics_are_of_all_threads_also_those_that_ended),
		cmocka_unit_test(statistics_come_when_they_are_wanted_and_taken),
		cmocka_unit_test(statistics_of_no_label_are_of_the_rest),
		cmocka_unit_test(time_of_a_label_that_is_open_is_told_before_it_is_closed),
		cmocka_unit_test(places_of_ended_threads_are_read_as_far_as_there_are_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

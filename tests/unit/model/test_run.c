/* SPDX-License-Identifier: MIT */
/* A run: its manifest, and what its samples say together. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "model/tree/run.h"
#include "some_amounts.h"
#include "model/tree/run_fields.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct run *new_run(void)
{
	struct run *run = NULL;
	struct tree_event event = { .type = TREE_FORK, .task = { 10, 10, 1 }, .time_ns = SECOND };

	assert_int_equal(run_new(&run), 0);
	run->begin_ns = SECOND;
	assert_int_equal(tree_apply(run->tree, &event), 0);
	return run;
}

static void use_cpu(struct run *run, uint64_t cpu_ns)
{
	struct tree_event event = { .type = TREE_THREAD, .task = { 10, 10, 1 } };

	charge(&event.account.amounts, cpu_ns);
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

static void hold(struct run *run, uint64_t rss_bytes, uint64_t fds)
{
	struct tree_event event = { .type = TREE_PROCESS, .task = { 10, 10, 1 } };

	event.process.present = TREE_PROCESS_RSS | TREE_PROCESS_FDS;
	event.process.rss_bytes = rss_bytes;
	event.process.fds = fds;
	assert_int_equal(tree_apply(run->tree, &event), 0);
}

static void the_manifest_says_what_works_and_why_not(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	char name[] = "tree";

	(void)state;
	assert_int_equal(run_add_source(run, name, SOURCE_OK, NULL), 0);
	name[0] = '\0';
	assert_int_equal(run_add_source(run, "wakers", SOURCE_OFF, "not asked for"), 0);
	assert_int_equal(run_add_source(run, "memory", SOURCE_PARTIAL, "some"), 0);
	assert_true(run_source_works(run_source(run, "tree")));
	assert_null(run_source(run, "tree")->reason);
	assert_false(run_source_works(run_source(run, "wakers")));
	assert_string_equal(run_source(run, "wakers")->reason, "not asked for");
	assert_true(run_source_works(run_source(run, "memory")));
	assert_null(run_source(run, "ledger"));
	assert_false(run_source_works(NULL));
}

static void the_manifest_has_an_end(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	for (int i = 0; i < RUN_SOURCES_MAX; i++)
		assert_int_equal(run_add_source(run, "x", SOURCE_OK, NULL), 0);
	assert_int_equal(run_add_source(run, "x", SOURCE_OK, NULL), -ENOSPC);
}

static void averages_are_weighted_by_time(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	hold(run, 1000, 3);
	run_sample(run, SECOND);
	run_sample(run, 10 * SECOND);
	hold(run, 2000, 8);
	run_sample(run, 10 * SECOND + 1);
	run_sample(run, 11 * SECOND);
	assert_int_equal(run->sampling.samples, 4);
	assert_true(fabs(run->sampling.rss_average.value - 1100) < 0.001);
	assert_int_equal(run->sampling.peak_rss_bytes.value, 2000);
	assert_int_equal(run->tree->peak_rss_bytes, 2000);
	assert_int_equal(run->sampling.most_fds.value, 8);
	assert_int_equal(run->sampling.shortest_ns.value, 1);
	assert_int_equal(run->sampling.longest_ns.value, 9 * SECOND);
	assert_int_equal(run->sampling.covered_ns, 10 * SECOND);
	assert_int_equal(run->last.time_ns, 11 * SECOND);
	assert_int_equal(run->previous.time_ns, 10 * SECOND + 1);
}

static void a_long_run_of_much_memory_still_has_an_average(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	hold(run, UINT64_C(1) << 40, 3);
	for (int day = 0; day < 30; day++)
		run_sample(run, SECOND * 86400 * (unsigned)(day + 1));
	assert_true(fabs(run->sampling.rss_average.value / (double)(UINT64_C(1) << 40) - 1) < 1e-9);
}

static void samples_without_rss_leave_the_average_alone(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	run_sample(run, SECOND);
	run_sample(run, 2 * SECOND);
	assert_false(run->last.has_rss);
	assert_false(run->tree->has_peak_rss);
	assert_false(run->sampling.rss_average.present);
	assert_false(run->sampling.peak_rss_bytes.present);
	assert_false(run->sampling.most_fds.present);
	assert_int_equal(run->sampling.rss_ns, 0);
	assert_int_equal(run->sampling.covered_ns, SECOND);
	hold(run, 500, 1);
	run_sample(run, 3 * SECOND);
	run_sample(run, 4 * SECOND);
	assert_int_equal(run->sampling.rss_ns, SECOND);
	assert_true(fabs(run->sampling.rss_average.value - 500) < 0.001);
}

static void the_busiest_interval_is_at_least_fifty_milliseconds_long(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	use_cpu(run, 10 * MS);
	run_sample(run, SECOND + 10 * MS); /* one core, but for too short a time */
	assert_false(run->sampling.cores_peak.present);
	use_cpu(run, 25 * MS);
	run_sample(run, SECOND + 50 * MS);
	assert_true(fabs(run->sampling.cores_peak.value - 0.5) < 1e-6);
	use_cpu(run, 225 * MS);
	run_sample(run, SECOND + 150 * MS);
	assert_true(fabs(run->sampling.cores_peak.value - 2) < 1e-6);
	run_sample(run, SECOND + 500 * MS);
	assert_true(fabs(run->sampling.cores_peak.value - 2) < 1e-6);
}

static void no_more_cores_are_busy_than_there_are(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	run->limits.online_cpus = 2;
	use_cpu(run, 210 * MS);
	run_sample(run, SECOND + 100 * MS);
	assert_true(run->sampling.cores_peak.value == 2);
}

static void cores_are_not_known_without_time_or_cpu(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	assert_true(run_cores(run) < 0);
	run->end_ns = 3 * SECOND;
	assert_true(run_cores(run) < 0);
	use_cpu(run, SECOND);
	assert_true(fabs(run_cores(run) - 0.5) < 1e-9);
}

static void more_cores_than_threads_are_a_wall_time_that_is_not_known(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();

	(void)state;
	run->end_ns = run->begin_ns + 10 * MS;
	use_cpu(run, 11 * MS);
	run->tree->threads = 1;
	assert_true(fabs(run_cores(run) - 1) < 1e-9);
	use_cpu(run, 1000 * SECOND);
	assert_true(run_cores(run) < 0);
}

/* Charged by the kernel, but not seen on a CPU. */
static uint64_t unseen_of(uint64_t charged_ns, uint64_t seen_ns, uint64_t lost)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	struct tree_event event = { .type = TREE_THREAD, .task = { 10, 10, 1 } };

	charge(&event.account.amounts, charged_ns);
	amounts_set(&event.account.amounts, AMOUNT_run_time_ns, seen_ns);
	assert_int_equal(tree_apply(run->tree, &event), 0);
	run->losses.threads = lost;
	return run_unseen_cpu_ns(run);
}

static void a_gap_of_two_percent_is_time_of_others_where_something_was_lost(void **state)
{
	(void)state;
	assert_int_equal(unseen_of(SECOND, SECOND - 30 * MS, 1), 30 * MS);
	assert_int_equal(unseen_of(SECOND, SECOND - 20 * MS - 1, 1), 20 * MS + 1);
	assert_int_equal(unseen_of(SECOND, SECOND - 20 * MS, 1), 0);
	assert_int_equal(unseen_of(SECOND, SECOND - 30 * MS, 0), 0);
	assert_int_equal(unseen_of(SECOND, SECOND + 30 * MS, 1), 0);
}

static const struct run_field *field_named(const char *key)
{
	for (size_t i = 0; i < run_field_count; i++)
		if (strcmp(run_fields[i].key, key) == 0)
			return &run_fields[i];
	fail();
	return NULL;
}

/* Only bpf hears of all of them; one that was heard of all the same is one. */
static void no_oom_kill_is_known_only_where_they_are_told(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	const struct run_field *kills = field_named("oom_kills");

	(void)state;
	assert_true(run_field_is_known(run, field_named("forks")));
	assert_true(run_field_is_known(run, kills)); /* from a file that has no tracer */
	run->tracer = "bpf";
	assert_true(run_field_is_known(run, kills));
	run->tracer = "procfs";
	assert_false(run_field_is_known(run, kills));
	assert_true(run_field_is_known(run, field_named("forks")));
	run->tree->oom_kills = 1;
	assert_true(run_field_is_known(run, kills));
	run->tree->unknown = TREE_UNKNOWN_OOM_KILLS;
	assert_false(run_field_is_known(run, kills));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manifest_says_what_works_and_why_not),
		cmocka_unit_test(the_manifest_has_an_end),
		cmocka_unit_test(averages_are_weighted_by_time),
		cmocka_unit_test(a_long_run_of_much_memory_still_has_an_average),
		cmocka_unit_test(samples_without_rss_leave_the_average_alone),
		cmocka_unit_test(the_busiest_interval_is_at_least_fifty_milliseconds_long),
		cmocka_unit_test(no_more_cores_are_busy_than_there_are),
		cmocka_unit_test(more_cores_than_threads_are_a_wall_time_that_is_not_known),
		cmocka_unit_test(a_gap_of_two_percent_is_time_of_others_where_something_was_lost),
		cmocka_unit_test(no_oom_kill_is_known_only_where_they_are_told),
		cmocka_unit_test(cores_are_not_known_without_time_or_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

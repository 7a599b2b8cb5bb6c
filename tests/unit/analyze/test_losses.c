/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

static void add_source(struct snapshot *snapshot, const char *name, enum source_state state,
		       uint64_t failed)
{
	struct source_report *report = snapshot_source(snapshot, name);

	assert_non_null(report);
	report->state = state;
	report->failed = failed;
}

static void files_that_the_kernel_lacks_are_noticed_though_nothing_failed(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct losses losses;

	(void)state;
	assert_int_equal(snapshot_new(&snapshot), 0);
	add_source(snapshot, "io", SOURCE_MISSING, 0);
	losses = losses_of(snapshot);
	assert_true(losses.kernel_config);
	assert_null(losses.dominant);
	assert_int_equal(losses.read_failures, 0);
}

static void what_is_missing_for_another_cause_is_not_the_kernels_fault(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	(void)state;
	assert_int_equal(snapshot_new(&snapshot), 0);
	add_source(snapshot, "schedstat", SOURCE_UNAVAILABLE, 3); /* not recorded */
	add_source(snapshot, "cgroup", SOURCE_MISSING, 0);	  /* not mounted */
	assert_false(losses_of(snapshot).kernel_config);
}

static void the_source_that_fails_most_dominates(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct losses losses;

	(void)state;
	assert_int_equal(snapshot_new(&snapshot), 0);
	add_source(snapshot, "io", SOURCE_PARTIAL, 5);
	add_source(snapshot, "fds", SOURCE_PARTIAL, 5);
	add_source(snapshot, "statm", SOURCE_PARTIAL, 1);
	losses = losses_of(snapshot);
	assert_int_equal(losses.read_failures, 11);
	assert_string_equal(losses.dominant->name, "fds");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_the_kernel_lacks_are_noticed_though_nothing_failed),
		cmocka_unit_test(what_is_missing_for_another_cause_is_not_the_kernels_fault),
		cmocka_unit_test(the_source_that_fails_most_dominates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

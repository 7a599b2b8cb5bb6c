/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/capability.h>

#include "base/collection/array.h"
#include "collect/source.h"
#include "host/privilege.h"
#include "scene.h"

#define STAT "1 (one) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n"

/* A host of one process, of which little was recorded. */
static void write_tree(const struct tree *tree, const char *recorded)
{
	tree_text(tree, "taskscope-root", recorded);
	tree_task_text(tree, 1, 1, "stat", STAT);
	tree_task_text(tree, 1, 0, "stat", STAT);
	tree_task_text(tree, 1, 0, "statm", "765 409 382 5 0 123 0\n");
}

static void take(struct scene *scene)
{
	struct error error = { 0 };

	scene_open(scene, scene->tree.root);
	snapshot_free(scene->capture.snapshot);
	if (capture_take(scene->host, &scene->options, &scene->capture.snapshot, &error) < 0)
		fail_msg("%s", error.message);
}

static const struct source_report *report_of(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->source_count; i++)
		if (strcmp(snapshot->sources[i].name, name) == 0)
			return &snapshot->sources[i];
	fail_msg("there is no source %s", name);
	return NULL;
}

static void sizes_are_absent_when_the_page_size_is_not_known(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_tree(&scene->tree, "page_size 0\n");
	take(scene);
	snapshot = scene->capture.snapshot;
	assert_false(has_cell(snapshot, METRIC_rss_bytes, 1));
	assert_string_equal(snapshot->columns[METRIC_rss_bytes].absent,
			    "the recording does not have the page size");
	assert_false(snapshot->facts[FACT_page_size].present);
	assert_false(snapshot->facts[FACT_clock_ticks].present);
}

static void what_a_recording_lacks_its_kernel_may_have(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_tree(&scene->tree, "page_size 4096\nclock_ticks 100\n");
	take(scene);
	snapshot = scene->capture.snapshot;
	assert_int_equal(snapshot->facts[FACT_page_size].number, 4096);
	assert_int_equal(snapshot->facts[FACT_clock_ticks].number, 100);
	assert_int_equal(report_of(snapshot, "io")->state, SOURCE_UNAVAILABLE);
	assert_int_equal(report_of(snapshot, "cgroup")->state, SOURCE_UNAVAILABLE);
	assert_string_equal(report_of(snapshot, "cgroup")->reason, NOT_RECORDED);
	for (int gate = GATE_NONE + 1; gate < GATE_COUNT; gate++)
		if (!scene->capture.gates[gate].open)
			assert_string_equal(scene->capture.gates[gate].reason, NOT_RECORDED);
}

static void a_recording_has_no_kernel_to_ask(void **state)
{
	static const char *const names[] = { "task_iterator", "taskstats", "jemalloc" };
	struct scene *scene = *state;

	write_tree(&scene->tree, "");
	take(scene);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct source_report *report = report_of(scene->capture.snapshot, names[i]);

		assert_int_equal(report->state, SOURCE_OFF);
		assert_null(strstr(report->reason, "not asked"));
	}
	assert_string_equal(report_of(scene->capture.snapshot, "task_iterator")->reason,
			    "a recorded tree has no kernel to ask");
}

/* The report of a source that failed for some of the tasks that the iterator did not list. */
static void a_source_that_the_iterator_stands_in_for_is_partial(void **state)
{
	struct scene *scene = *state;
	const struct source_report *report;

	write_tree(&scene->tree, "");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	scene->capture.tallies[SOURCE_TASK_ITERATOR].read = 95;
	scene->capture.tallies[SOURCE_IO].failed = 12;
	scene->capture.tallies[SOURCE_IO].error = EACCES;
	scene->capture.tallies[SOURCE_EXE].failed = 1;
	scene->capture.tallies[SOURCE_EXE].error = EACCES;
	assert_int_equal(source_reports(&scene->capture), 0);
	report = report_of(scene->capture.snapshot, "io");
	assert_int_equal(report->state, SOURCE_PARTIAL);
	assert_string_equal(report->reason, "Permission denied (12 of 12 reads; the task iterator "
					    "reported it for 95 other tasks)");
	/* No iterator knows the path of a program. */
	report = report_of(scene->capture.snapshot, "exe");
	assert_int_equal(report->state, SOURCE_UNAVAILABLE);
}

static void nothing_comes_from_an_iterator_that_did_not_walk(void **state)
{
	struct scene *scene = *state;
	const struct source_report *report;

	write_tree(&scene->tree, "");
	scene_open(scene, scene->tree.root);
	assert_int_equal(source_reports(&scene->capture), 0);
	report = report_of(scene->capture.snapshot, "cmdline");
	assert_int_equal(report->state, SOURCE_OFF);
	assert_string_equal(report->reason, "there was nothing to read");
}

static void what_is_needed_is_not_what_we_have(void **state)
{
	const char *told = source_needs(SOURCE_IO, "Permission denied (12 of 97 reads)");

	(void)state;
	assert_string_equal(source_needs(SOURCE_IO, NULL), sources[SOURCE_IO].needs);
	if (host_has_capability(CAP_SYS_PTRACE) && host_has_capability(CAP_DAC_READ_SEARCH))
		assert_non_null(strstr(told, "security module"));
	else
		assert_string_equal(told, sources[SOURCE_IO].needs);
}

static void another_reason_needs_something_else(void **state)
{
	const char *needs = sources[SOURCE_CMDLINE].needs;

	(void)state;
	assert_non_null(strstr(needs, "hidepid"));
	needs = source_needs(SOURCE_CMDLINE,
			     "deadline passed while another thread held it (1 of 9 reads)");
	assert_null(strstr(needs, "hidepid"));
	assert_non_null(strstr(needs, "another try"));
	needs = source_needs(SOURCE_CMDLINE, "no thread could be started to read it");
	assert_non_null(strstr(needs, "one more thread"));
}

static void interrupts_are_counted_only_where_that_is_known(void **state)
{
	static const struct {
		const char *recorded;
		const char *pressure; /* of interrupts, or NULL */
		const char *reason;   /* NULL: they are */
	} cases[] = {
		{ "", NULL, NOT_RECORDED },
		{ "CONFIG_IRQ_TIME_ACCOUNTING y\n", NULL, NULL },
		{ "CONFIG_IRQ_TIME_ACCOUNTING n\n", NULL,
		  "this kernel was built without CONFIG_IRQ_TIME_ACCOUNTING" },
		{ "", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", NULL },
	};
	struct scene *scene = *state;

	tree_text(&scene->tree, "proc/sys/kernel/task_delayacct", "1\n");
	tree_text(&scene->tree, "proc/pressure/cpu", "some avg10=0.00\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct gate *gate = &scene->capture.gates[GATE_IRQ_DELAY];

		tree_text(&scene->tree, "taskscope-root", cases[i].recorded);
		if (cases[i].pressure)
			tree_text(&scene->tree, "proc/pressure/irq", cases[i].pressure);
		scene_open(scene, scene->tree.root);
		assert_true(scene->capture.gates[GATE_TASK_DELAY_ACCT].open);
		assert_int_equal(gate->open, cases[i].reason == NULL);
		if (cases[i].reason)
			assert_string_equal(gate->reason, cases[i].reason);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

static void an_open_gate_has_no_reason(void **state)
{
	struct scene *scene = *state;

	tree_text(&scene->tree, "proc/sys/kernel/task_delayacct", "1\n");
	scene_open(scene, scene->tree.root);
	for (int gate = 0; gate < GATE_COUNT; gate++)
		assert_true(!scene->capture.gates[gate].open || !scene->capture.gates[gate].reason);
	assert_non_null(scene->capture.gates[GATE_TASK_DELAY_ACCT].lacking);
}

static void cpus_that_no_status_file_tells_are_missing_for_that_reason(void **state)
{
	struct scene *scene = *state;

	write_tree(&scene->tree, "");
	take(scene);
	assert_string_equal(scene->capture.snapshot->columns[METRIC_cpu_affinity].absent,
			    "the status file, which has it, is missing (1 of 1 reads)");
}

/* Its stat file tells that it has ended, where its status file was not recorded. */
static void a_zombie_has_no_descriptors(void **state)
{
	struct scene *scene = *state;

	write_tree(&scene->tree, "open_fds 1 0\n");
	tree_task_text(&scene->tree, 1, 1, "stat",
		       "1 (one) Z 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n");
	take(scene);
	assert_int_equal(cell(scene->capture.snapshot, METRIC_state, 1), 'Z');
	assert_false(has_cell(scene->capture.snapshot, METRIC_open_fds, 1));
}

static void what_was_not_recorded_of_one_process_is_counted(void **state)
{
	struct scene *scene = *state;
	const struct source_report *report;

	write_tree(&scene->tree, "page_size 4096\n");
	tree_task_text(&scene->tree, 2, 2, "stat", STAT);
	tree_task_text(&scene->tree, 2, 0, "stat", STAT);
	tree_task_text(&scene->tree, 2, 0, "cmdline", "two");
	take(scene);
	report = report_of(scene->capture.snapshot, "cmdline");
	assert_int_equal(report->state, SOURCE_PARTIAL);
	assert_int_equal(report->failed, 1);
	assert_string_equal(report->reason, "not in the recorded tree (1 of 2 reads)");
	assert_int_equal(report_of(scene->capture.snapshot, "exe")->failed, 2);
}

/* What is missing of a process that the iterator walked, of which these threads were listed. */
static const char *reason_with_threads(struct scene *scene, bool has_leader)
{
	tree_task_text(&scene->tree, 7, 0, "stat", STAT);
	tree_task_text(&scene->tree, 7, has_leader ? 7 : 8, "stat", STAT);
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	scene_collect(scene);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		scene->capture.tallies[i] = (struct source_tally){ 0 };
	scene->capture.tallies[SOURCE_TASK_ITERATOR].read = 1;
	assert_int_equal(source_absent_reasons(&scene->capture), 0);
	return scene->capture.snapshot->columns[METRIC_rss_bytes].absent;
}

static void a_leader_that_was_not_listed_is_a_reason(void **state)
{
	assert_string_equal(reason_with_threads(*state, false),
			    "the leader of the process was not listed: it is in another cgroup, or "
			    "has ended");
}

static void a_leader_that_was_listed_may_have_no_memory(void **state)
{
	assert_string_equal(reason_with_threads(*state, true),
			    "kernel threads and zombies have no memory of their own");
}

/* The sum over the process and that over its threads do not go together. */
static void a_share_of_dead_threads_that_cannot_be_told_has_a_reason_of_its_own(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_tree(&scene->tree, "page_size 4096\n");
	tree_task_text(&scene->tree, 1, 0, "stat",
		       "1 (one) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 5 0 0\n");
	take(scene);
	snapshot = scene->capture.snapshot;
	assert_false(has_cell(snapshot, METRIC_dead_minflt, 1));
	assert_non_null(strstr(snapshot->columns[METRIC_dead_minflt].absent, "threads were read"));
	assert_non_null(strstr(snapshot->columns[METRIC_dead_rchar].absent, NOT_RECORDED));
}

static void a_source_is_not_both_asked_for_and_switched_off(void **state)
{
	static const struct capture_options pairs[] = {
		{ .lister = LIST_BPF, .without = 1u << SOURCE_TASK_ITERATOR },
		{ .cgroup = "/", .without = 1u << SOURCE_CGROUP },
	};
	struct scene *scene = *state;

	write_tree(&scene->tree, "");
	tree_text(&scene->tree, "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	scene_open(scene, scene->tree.root);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct snapshot *snapshot;
		struct error error = { 0 };

		assert_int_equal(capture_take(scene->host, &pairs[i], &snapshot, &error), -EINVAL);
		assert_non_null(strstr(error.message, "--without"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(sizes_are_absent_when_the_page_size_is_not_known),
		SCENE_TEST(what_a_recording_lacks_its_kernel_may_have),
		SCENE_TEST(a_recording_has_no_kernel_to_ask),
		SCENE_TEST(a_source_that_the_iterator_stands_in_for_is_partial),
		SCENE_TEST(nothing_comes_from_an_iterator_that_did_not_walk),
		cmocka_unit_test(another_reason_needs_something_else),
		cmocka_unit_test(what_is_needed_is_not_what_we_have),
		cmocka_unit_test(another_reason_needs_something_else),
		SCENE_TEST(interrupts_are_counted_only_where_that_is_known),
		SCENE_TEST(an_open_gate_has_no_reason),
		SCENE_TEST(cpus_that_no_status_file_tells_are_missing_for_that_reason),
		SCENE_TEST(a_zombie_has_no_descriptors),
		SCENE_TEST(a_leader_that_was_not_listed_is_a_reason),
		SCENE_TEST(a_leader_that_was_listed_may_have_no_memory),
		SCENE_TEST(what_was_not_recorded_of_one_process_is_counted),
		SCENE_TEST(a_share_of_dead_threads_that_cannot_be_told_has_a_reason_of_its_own),
		SCENE_TEST(a_source_is_not_both_asked_for_and_switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

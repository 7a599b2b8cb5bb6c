#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
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
	assert_string_equal(snapshot->absent[METRIC_rss_bytes],
			    "the recording does not tell the page size");
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
	assert_non_null(strstr(snapshot->absent[METRIC_dead_minflt], "threads were read"));
	assert_non_null(strstr(snapshot->absent[METRIC_dead_rchar], NOT_RECORDED));
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
		SCENE_TEST(a_share_of_dead_threads_that_cannot_be_told_has_a_reason_of_its_own),
		SCENE_TEST(a_source_is_not_both_asked_for_and_switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

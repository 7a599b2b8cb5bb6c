/* SPDX-License-Identifier: MIT */
/*
 * A capture that a test makes itself, of a tree that it wrote or of this host,
 * and what came of it.
 */
#ifndef TESTS_UNIT_SCENE_H
#define TESTS_UNIT_SCENE_H

#include <inttypes.h>

#include "base/error.h"
#include "collect/collector.h"
#include "tree.h"

struct scene {
	struct tree tree;
	struct host *host;
	struct capture_options options;
	struct capture capture;
};

static inline void scene_open(struct scene *scene, const char *root)
{
	struct error error = { 0 };

	if (host_open(&scene->host, root, &error) < 0)
		fail_msg("%s", error.message);
	scene->capture = (struct capture){
		.host = scene->host,
		.options = &scene->options,
		.scale = { scene->host->tick_ns, scene->host->page_bytes },
	};
	gates_read(scene->host, scene->capture.gates);
	assert_int_equal(snapshot_new(&scene->capture.snapshot), 0);
}

static inline void scene_collect(struct scene *scene)
{
	struct error error = { 0 };

	scene->capture.error = &error;
	if (procfs_list(&scene->capture) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(procfs_name_leaders(&scene->capture), 0);
	assert_int_equal(snapshot_finish(scene->capture.snapshot), 0);
	assert_int_equal(process_files_collect(&scene->capture), 0);
}

static inline void scene_close(struct scene *scene)
{
	free(scene->capture.images);
	snapshot_free(scene->capture.snapshot);
	host_close(scene->host);
}

static inline int scene_make(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	tree_make(&scene->tree);
	*state = scene;
	return 0;
}

static inline int scene_remove(void **state)
{
	struct scene *scene = *state;

	scene_close(scene);
	tree_remove(&scene->tree);
	free(scene);
	return 0;
}

/* The row that a thread's or its process's values of a metric are in. */
static inline uint32_t row_of(const struct snapshot *snapshot, enum metric_id id, int32_t tid)
{
	for (uint32_t row = 0; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].tid == tid)
			return metrics[id].scope == METRIC_OF_THREAD ? row :
								       snapshot->tasks[row].process;
	fail_msg("there is no thread %" PRId32, tid);
	return 0;
}

static inline uint64_t cell(const struct snapshot *snapshot, enum metric_id id, int32_t tid)
{
	uint64_t value = 0;

	if (!snapshot_get(snapshot, id, row_of(snapshot, id, tid), &value))
		fail_msg("%s of %" PRId32 " is absent", metrics[id].name, tid);
	return value;
}

static inline bool has_cell(const struct snapshot *snapshot, enum metric_id id, int32_t tid)
{
	uint64_t value;

	return snapshot_get(snapshot, id, row_of(snapshot, id, tid), &value);
}

static inline const struct task *task_of(const struct snapshot *snapshot, int32_t tid)
{
	return &snapshot->tasks[row_of(snapshot, METRIC_state, tid)];
}

#define SCENE_TEST(name) cmocka_unit_test_setup_teardown(name, scene_make, scene_remove)

#endif

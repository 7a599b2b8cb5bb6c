/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/cgroup/cgroup_files.h"
#include "scene.h"

#define V2 "sys/fs/cgroup/"
#define MEGABYTE (1024 * 1024)

static void write_controllers(const struct tree *tree, const char *cgroup, const char *list)
{
	char path[TREE_PATH];

	snprintf(path, sizeof(path), V2 "%scgroup.controllers", cgroup);
	tree_text(tree, path, list);
	snprintf(path, sizeof(path), V2 "%scgroup.procs", cgroup);
	tree_text(tree, path, "");
}

/* A task as a lister would have added it. */
static void add_task(struct scene *scene, int32_t tid, const char *cgroup)
{
	struct snapshot *snapshot = scene->capture.snapshot;
	struct task task = { .tid = tid };
	uint32_t row;

	assert_int_equal(snapshot_process(snapshot, tid, &task.process), 0);
	assert_int_equal(snapshot_intern(snapshot, cgroup, strlen(cgroup), &task.cgroup), 0);
	assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
}

static const struct sheet *collect(struct scene *scene)
{
	struct snapshot *snapshot = scene->capture.snapshot;

	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(cgroup_files_collect(&scene->capture), 0);
	assert_int_equal(snapshot_finish_sheets(snapshot), 0);
	return &snapshot->sheets[SHEET_CGROUPS];
}

static uint32_t find_path(const struct scene *scene, const char *path)
{
	const struct sheet *sheet = &scene->capture.snapshot->sheets[SHEET_CGROUPS];

	for (uint32_t row = 0; row < sheet->row_count; row++)
		if (strcmp(snapshot_text(scene->capture.snapshot, sheet->keys[row]), path) == 0)
			return row;
	fail_msg("there is no cgroup %s", path);
	return 0;
}

static void expect_state(const struct scene *scene, const char *path, const char *name,
			 enum cell_state expected, uint64_t *ret)
{
	const struct sheet *sheet = &scene->capture.snapshot->sheets[SHEET_CGROUPS];
	enum cell_state state = column_get(sheet_find(sheet, name), find_path(scene, path), ret);

	if (state != expected)
		fail_msg("%s of %s is %d, not %d", name, path, state, expected);
}

static void expect_number(const struct scene *scene, const char *path, const char *name,
			  uint64_t expected)
{
	uint64_t number = 0;

	expect_state(scene, path, name, CELL_NUMBER, &number);
	if (number != expected)
		fail_msg("%s of %s is %" PRIu64, name, path, number);
}

static void expect_unlimited(const struct scene *scene, const char *path, const char *name)
{
	uint64_t number;

	expect_state(scene, path, name, CELL_UNLIMITED, &number);
}

static void expect_absent(const struct scene *scene, const char *path, const char *name)
{
	uint64_t number;

	expect_state(scene, path, name, CELL_ABSENT, &number);
}

static void expect_text(const struct scene *scene, const char *path, const char *name,
			const char *expected)
{
	uint64_t number = 0;

	expect_state(scene, path, name, CELL_TEXT, &number);
	assert_string_equal(snapshot_text(scene->capture.snapshot, (uint32_t)number), expected);
}

static void expect_reason(const struct scene *scene, const char *name, const char *reason)
{
	const struct column *column =
		sheet_find(&scene->capture.snapshot->sheets[SHEET_CGROUPS], name);

	if (!column || !column->absent)
		fail_msg("%s has no reason", name);
	assert_string_equal(column->absent, reason);
}

static void expect_origin(const struct scene *scene, const char *name, const char *origin)
{
	const struct column *column =
		sheet_find(&scene->capture.snapshot->sheets[SHEET_CGROUPS], name);

	assert_non_null(column);
	assert_non_null(column->origin);
	assert_string_equal(column->origin, origin);
}

/* A v2 host with all controllers, and one cgroup with all its files. */
static void write_v2(const struct tree *tree)
{
	static const struct {
		const char *name;
		const char *text;
	} files[] = {
		{ "cpu.stat", "usage_usec 9\nnr_periods 4\nnr_throttled 0\nsome_new_key 1\n" },
		{ "cpu.max", "max 100000\n" },
		{ "cpu.weight", "79\n" },
		{ "cpu.weight.nice", "-3\n" },
		{ "memory.current", "4096\n" },
		{ "memory.peak", "8192\n" },
		{ "memory.swap.current", "0\n" },
		{ "memory.max", "1048576\n" },
		{ "memory.high", "max\n" },
		{ "memory.low", "0\n" },
		{ "memory.min", "max\n" },
		{ "memory.swap.max", "max\n" },
		{ "memory.stat", "anon 100\nfile 200\npgfault 3\n" },
		{ "memory.events", "low 0\nmax 2\noom_kill 1\n" },
		{ "memory.events.local", "max 1\n" },
		{ "pids.current", "3\n" },
		{ "pids.max", "max\n" },
		{ "pids.peak", "5\n" },
		{ "io.stat", "8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n" },
		{ "cpuset.cpus", "\n" },
		{ "cpuset.cpus.effective", "0-3\n" },
		{ "cpuset.mems", "\n" },
		{ "cpuset.mems.effective", "0\n" },
		{ "cpu.pressure", "some avg10=1.50 avg60=0.00 avg300=0.00 total=77\n"
				  "full avg10=0.00 avg60=0.00 avg300=0.00 total=8\n" },
		{ "irq.pressure", "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n" },
	};
	char path[TREE_PATH];

	tree_directory(tree, "proc");
	write_controllers(tree, "", "cpuset cpu io memory pids\n");
	tree_text(tree, V2 "cpu.stat", "usage_usec 100\n");
	tree_text(tree, V2 "cpu.pressure",
		  "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"
		  "full avg10=0.00 avg60=0.00 avg300=0.00 total=6\n");
	write_controllers(tree, "a.slice/", "cpuset cpu io memory pids\n");
	write_controllers(tree, "a.slice/b.service/", "cpuset cpu io memory pids\n");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), V2 "a.slice/b.service/%s", files[i].name);
		tree_text(tree, path, files[i].text);
	}
}

static void a_v2_cgroup_tells_all_its_files(void **state)
{
	struct scene *scene = *state;
	static const char path[] = "/a.slice/b.service";

	write_v2(&scene->tree);
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, path);
	collect(scene);
	expect_number(scene, path, "cpu.stat usage_usec", 9);
	expect_number(scene, path, "cpu.stat some_new_key", 1);
	expect_number(scene, path, "cpu.stat nr_throttled", 0);
	expect_unlimited(scene, path, "cpu.max quota_usec");
	expect_number(scene, path, "cpu.max period_usec", 100000);
	expect_number(scene, path, "cpu.weight", 79);
	expect_number(scene, path, "cpu.weight.nice", (uint64_t)-3);
	expect_number(scene, path, "memory.current", 4096);
	expect_number(scene, path, "memory.peak", 8192);
	expect_number(scene, path, "memory.swap.current", 0);
	expect_number(scene, path, "memory.max", MEGABYTE);
	expect_unlimited(scene, path, "memory.high");
	expect_number(scene, path, "memory.low", 0);
	expect_unlimited(scene, path, "memory.min");
	expect_number(scene, path, "memory.stat pgfault", 3);
	expect_number(scene, path, "memory.events oom_kill", 1);
	expect_number(scene, path, "memory.events.local max", 1);
	expect_number(scene, path, "pids.peak", 5);
	expect_unlimited(scene, path, "pids.max");
	expect_number(scene, path, "io.stat 8:0 wbytes", 20);
	expect_text(scene, path, "cpuset.cpus", "");
	expect_text(scene, path, "cpuset.cpus.effective", "0-3");
	expect_number(scene, path, "cpu.pressure some avg10", 150);
	expect_number(scene, path, "cpu.pressure full total", 8);
	expect_number(scene, path, "irq.pressure full total", 5);
	assert_int_equal(scene->capture.tallies[SOURCE_CGROUP_FILES].failed, 0);
	assert_null(
		sheet_find(&scene->capture.snapshot->sheets[SHEET_CGROUPS], "memory.max")->origin);
}

static void parents_have_rows_in_the_order_of_their_paths(void **state)
{
	struct scene *scene = *state;
	static const char *const paths[] = { "/", "/a.slice", "/a.slice/b.service", "/z" };
	const struct sheet *sheet;

	write_v2(&scene->tree);
	write_controllers(&scene->tree, "z/", "\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/z");
	add_task(scene, 11, "/a.slice/b.service");
	add_task(scene, 12, "/a.slice/b.service");
	add_task(scene, 13, "");
	sheet = collect(scene);
	assert_int_equal(sheet->row_count, ARRAY_SIZE(paths));
	for (uint32_t row = 0; row < sheet->row_count; row++)
		assert_string_equal(snapshot_text(scene->capture.snapshot, sheet->keys[row]),
				    paths[row]);
}

static void a_missing_file_has_the_reason_that_fits(void **state)
{
	struct scene *scene = *state;

	write_v2(&scene->tree);
	tree_unlink(&scene->tree, V2 "a.slice/b.service/memory.peak");
	write_controllers(&scene->tree, "z/", "cpu\n");
	write_controllers(&scene->tree, "z/y/", "\n");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	close(scene->host->proc); /* nothing is asked of tasks on a host with one hierarchy */
	scene->host->proc = -1;
	add_task(scene, 10, "/a.slice/b.service");
	add_task(scene, 11, "/z/y");
	collect(scene);
	expect_absent(scene, "/z/y", "memory.max");
	expect_absent(scene, "/", "memory.max");
	expect_reason(scene, "memory.max",
		      "the memory controller is not enabled (2 of 5 cgroups); this kernel has no "
		      "memory.max (1 of 5 cgroups); the root cgroup does not have it");
	expect_reason(scene, "memory.peak",
		      "the memory controller is not enabled (2 of 5 cgroups); this kernel has no "
		      "memory.peak (2 of 5 cgroups); the root cgroup does not have it");
	expect_absent(scene, "/", "cpu.pressure full total");
	expect_number(scene, "/", "cpu.pressure some total", 5);
}

static void a_cgroup_that_was_removed_is_not_the_kernels_fault(void **state)
{
	struct scene *scene = *state;

	write_v2(&scene->tree);
	tree_unlink(&scene->tree, V2 "a.slice/cgroup.procs");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	add_task(scene, 10, "/a.slice");
	collect(scene);
	expect_reason(scene, "memory.max",
		      "the cgroup is gone, or not visible from here (1 of 2 cgroups); the root "
		      "cgroup does not have it");
	assert_int_equal(scene->capture.tallies[SOURCE_CGROUP_FILES].failed, 0);
}

static void without_controllers_nothing_is_zero_or_unlimited(void **state)
{
	struct scene *scene = *state;
	static const char *const names[] = { "memory.current", "memory.max",  "pids.max",
					     "cpu.weight",     "cpuset.cpus", "cpu.max *",
					     "memory.stat *",  "io.stat * *" };
	char reason[64];

	tree_directory(&scene->tree, "proc");
	write_controllers(&scene->tree, "", "hugetlb\n");
	tree_text(&scene->tree, V2 "cpu.stat", "usage_usec 100\n");
	tree_text(&scene->tree, V2 "a/cpu.stat", "usage_usec 30\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/a");
	collect(scene);
	expect_number(scene, "/a", "cpu.stat usage_usec", 30);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		expect_absent(scene, "/a", names[i]);
		snprintf(reason, sizeof(reason), "the host has no %.*s controller",
			 (int)strcspn(names[i], "."), names[i]);
		expect_reason(scene, names[i], reason);
	}
	expect_reason(scene, "cpu.stat nr_periods", "the host has no cpu controller");
}

static void write_memory_v1(const struct tree *tree, const char *directory, int bytes)
{
	char path[TREE_PATH], text[64];

	snprintf(path, sizeof(path), V2 "memory/%smemory.usage_in_bytes", directory);
	snprintf(text, sizeof(text), "%d\n", bytes);
	tree_text(tree, path, text);
	snprintf(path, sizeof(path), V2 "memory/%smemory.limit_in_bytes", directory);
	tree_text(tree, path, "9223372036854771712\n");
	snprintf(path, sizeof(path), V2 "memory/%smemory.stat", directory);
	tree_text(tree, path, "cache 1\ntotal_cache 5\ntotal_swap 7\n");
}

/* Memory on v1, where tasks are in other places than in the cpu hierarchy; pressure on v2. */
static void write_hybrid(const struct tree *tree)
{
	write_controllers(tree, "unified/", "hugetlb\n");
	tree_text(tree, V2 "unified/cpu.stat", "usage_usec 50\n");
	tree_text(tree, V2 "unified/same/cpu.stat", "usage_usec 40\n");
	write_memory_v1(tree, "", 1000);
	write_memory_v1(tree, "same/", 700);
	write_memory_v1(tree, "other/", 300);
	tree_text(tree, V2 "cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	tree_text(tree, V2 "cpu,cpuacct/same/cpu.cfs_quota_us", "5000\n");
	tree_text(tree, V2 "cpu,cpuacct/same/cpu.stat", "nr_periods 3\nthrottled_time 9000\n");
	tree_text(tree, V2 "cpu,cpuacct/same/cpuacct.usage", "77000\n");
	tree_text(tree, V2 "cpu,cpuacct/other/cpu.cfs_quota_us", "1\n");
	tree_task_text(tree, 10, 10, "cgroup", "2:memory:/same\n1:cpu,cpuacct:/same\n0::/same\n");
	tree_task_text(tree, 11, 11, "cgroup", "2:memory:/other\n1:cpu,cpuacct:/\n0::/\n");
}

static void a_hybrid_host_reads_the_files_that_mean_the_same(void **state)
{
	struct scene *scene = *state;

	write_hybrid(&scene->tree);
	scene_open(scene, scene->tree.root);
	assert_string_equal(scene->host->cgroup.name, "v1 memory");
	add_task(scene, 10, "/same");
	add_task(scene, 11, "/other");
	collect(scene);
	expect_number(scene, "/same", "memory.current", 700);
	expect_number(scene, "/other", "memory.current", 300);
	expect_unlimited(scene, "/", "memory.max");
	expect_number(scene, "/same", "memory.stat file", 5);
	expect_number(scene, "/same", "memory.swap.current", 7);
	expect_origin(scene, "memory.current", "v1 memory: memory.usage_in_bytes");
	expect_origin(scene, "memory.stat file", "v1 memory: memory.stat total_cache");
	expect_origin(scene, "memory.swap.current", "v1 memory: memory.stat total_swap");
	expect_reason(
		scene, "memory.high",
		"the memory controller is on cgroup v1, which has no file that means the same");
	/* The v2 tree has no controllers, and tells CPU time all the same. */
	expect_number(scene, "/same", "cpu.stat usage_usec", 40);
	expect_number(scene, "/same", "cpu.stat nr_periods", 3);
	expect_number(scene, "/same", "cpu.stat throttled_usec", 9);
	expect_origin(scene, "cpu.stat throttled_usec", "v1 cpu: cpu.stat throttled_time");
}

static void files_of_other_tasks_are_not_taken_for_a_cgroups_own(void **state)
{
	struct scene *scene = *state;

	write_hybrid(&scene->tree);
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/same");
	add_task(scene, 11, "/other");
	collect(scene);
	expect_number(scene, "/same", "cpu.max quota_usec", 5000);
	expect_unlimited(scene, "/", "cpu.max quota_usec"); /* everything is below the root */
	expect_absent(scene, "/other", "cpu.max quota_usec");
	expect_reason(scene, "cpu.max quota_usec",
		      "in the cpu hierarchy its tasks are elsewhere (1 of 3 cgroups)");
	expect_absent(scene, "/other", "cpu.stat usage_usec");
}

/* Each file of v1 fails for itself, whatever the others tell. */
static void a_missing_file_of_v1_has_a_reason_of_its_own(void **state)
{
	static const struct {
		const char *file;
		const char *reading;
	} cases[] = {
		{ "cpu.cfs_quota_us", "cpu.max quota_usec" },
		{ "cpu.cfs_period_us", "cpu.max period_usec" },
		{ "cpu.stat", "cpu.stat nr_bursts" },
		{ "cpu.stat", "cpu.stat burst_usec" },
		{ "cpu.stat", "cpu.stat nr_periods" },
		{ "memory.oom_control", "memory.events.local oom_kill" },
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is_memory = strncmp(cases[i].file, "memory", 6) == 0;
		char path[TREE_PATH];

		write_memory_v1(&scene->tree, "", 1000);
		tree_text(&scene->tree, V2 "unified/cgroup.controllers", "\n");
		tree_text(&scene->tree, V2 "unified/cpu.stat", "usage_usec 50\n");
		tree_text(&scene->tree, V2 "memory/memory.failcnt", "1\n");
		tree_text(&scene->tree, V2 "memory/memory.oom_control", "oom_kill 1\n");
		tree_text(&scene->tree, V2 "cpu/cpu.cfs_quota_us", "-1\n");
		tree_text(&scene->tree, V2 "cpu/cpu.cfs_period_us", "100\n");
		tree_text(&scene->tree, V2 "cpu/cpu.stat",
			  "nr_periods 1\nnr_throttled 2\nthrottled_time 3\nnr_bursts 4\n"
			  "burst_time 5000\n");
		snprintf(path, sizeof(path), V2 "%s/%s", is_memory ? "memory" : "cpu",
			 cases[i].file);
		tree_unlink(&scene->tree, path);
		tree_directory(&scene->tree, "proc");
		scene_open(scene, scene->tree.root);
		add_task(scene, 10, "/");
		collect(scene);
		expect_absent(scene, "/", cases[i].reading);
		expect_reason(scene, cases[i].reading, NOT_RECORDED);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

/* The v2 tree has no controllers, and its file of CPU time says nothing at all. */
static void an_empty_file_of_keys_makes_no_sense_and_v1_stands_in(void **state)
{
	struct scene *scene = *state;

	write_hybrid(&scene->tree);
	tree_text(&scene->tree, V2 "unified/same/cpu.stat", "");
	tree_text(&scene->tree, V2 "unified/cpu.stat", "usage_usec 50\nnice_usec 3\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/same");
	collect(scene);
	expect_number(scene, "/same", "cpu.stat usage_usec", 77);
	expect_absent(scene, "/same", "cpu.stat nice_usec");
	expect_reason(scene, "cpu.stat nice_usec", "the file makes no sense (1 of 2 cgroups)");
	assert_int_equal(scene->capture.tallies[SOURCE_CGROUP_FILES].failed, 1);
}

static void each_reading_is_missing_for_the_reason_of_its_own_hierarchy(void **state)
{
	struct scene *scene = *state;

	write_hybrid(&scene->tree);
	/* In v2 all tasks are in the root, whose file of CPU time is there. */
	tree_task_text(&scene->tree, 11, 11, "cgroup",
		       "2:memory:/other\n1:cpu,cpuacct:/\n0::/other\n");
	tree_text(&scene->tree, V2 "unified/other/cpu.stat", "usage_usec 5\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/same");
	add_task(scene, 11, "/other");
	collect(scene);
	expect_number(scene, "/other", "cpu.stat usage_usec", 5);
	expect_reason(scene, "cpu.stat nr_periods",
		      "in the cpu hierarchy its tasks are elsewhere (1 of 3 cgroups); not in the "
		      "recorded tree (1 of 3 cgroups)");
}

static void pressure_that_is_missing_has_a_reason_in_all_its_readings(void **state)
{
	static const char *const names[] = { "cpu.pressure some avg10", "io.pressure some total",
					     "memory.pressure full avg300",
					     "irq.pressure full avg10" };
	struct scene *scene = *state;

	write_memory_v1(&scene->tree, "", 1000);
	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/");
	collect(scene);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		expect_reason(scene, names[i],
			      "only cgroup v2 has it, and the host has no v2 tree");
	assert_null(sheet_find(&scene->capture.snapshot->sheets[SHEET_CGROUPS],
			       "irq.pressure some avg10"));
}

static void a_task_that_moved_is_not_asked(void **state)
{
	struct scene *scene = *state;

	write_hybrid(&scene->tree);
	tree_task_text(&scene->tree, 9, 9, "cgroup", "2:memory:/other\n1:cpu,cpuacct:/x\n0::/x\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 8, "/same"); /* has ended */
	add_task(scene, 9, "/same"); /* is elsewhere by now */
	add_task(scene, 10, "/same");
	collect(scene);
	expect_number(scene, "/same", "cpu.max quota_usec", 5000);
}

static void a_parent_is_what_its_children_are(void **state)
{
	struct scene *scene = *state;

	write_hybrid(&scene->tree);
	write_memory_v1(&scene->tree, "same/child/", 70);
	tree_task_text(&scene->tree, 10, 10, "cgroup",
		       "2:memory:/same/child\n1:cpu,cpuacct:/same/child\n0::/\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/same/child");
	collect(scene);
	expect_number(scene, "/same", "cpu.max quota_usec", 5000);
	expect_absent(scene, "/same", "cpu.stat user_usec");
	expect_number(scene, "/same", "cpu.stat usage_usec", 77); /* v2 has it elsewhere */
	expect_number(scene, "/", "cpu.stat usage_usec", 50);
	expect_origin(scene, "cpu.stat usage_usec", "v2, or v1 cpuacct: cpuacct.usage");
}

static void a_v1_host_has_no_pressure(void **state)
{
	struct scene *scene = *state;

	write_memory_v1(&scene->tree, "", 1000);
	tree_text(&scene->tree, V2 "pids/notify_on_release", "0\n");
	tree_text(&scene->tree, V2 "cpuset/cpuset.cpus", "0-1\n");
	tree_text(&scene->tree, V2 "cpuset/cpuset.effective_cpus", "0\n");
	tree_text(&scene->tree, V2 "blkio/blkio.throttle.io_service_bytes_recursive",
		  "8:0 Read 12\nTotal 12\n");
	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/");
	collect(scene);
	expect_number(scene, "/", "memory.current", 1000);
	expect_text(scene, "/", "cpuset.cpus", "0-1");
	expect_text(scene, "/", "cpuset.cpus.effective", "0");
	expect_number(scene, "/", "io.stat 8:0 rbytes", 12);
	expect_absent(scene, "/", "pids.max");
	expect_reason(scene, "pids.max", "the root cgroup does not have it");
	expect_reason(scene, "cpu.weight", "the host has no cpu controller");
	expect_reason(scene, "cpu.pressure full total",
		      "only cgroup v2 has it, and the host has no v2 tree");
}

static void what_is_outside_of_our_namespace_has_a_row_and_no_values(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_v2(&scene->tree);
	tree_text(&scene->tree, "sys/fs/memory.current", "66\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/../memory");
	add_task(scene, 11, "/a.slice/../../..");
	add_task(scene, 12, "/..hidden");
	sheet = collect(scene);
	assert_int_equal(sheet->row_count, 4);
	expect_absent(scene, "/../memory", "memory.current");
	expect_absent(scene, "/a.slice/../../..", "memory.current");
	expect_reason(scene, "cpu.weight",
		      "not in the recorded tree (1 of 4 cgroups); outside of our cgroup namespace "
		      "(2 of 4 cgroups); the root cgroup does not have it");
}

static void lines_that_make_no_sense_are_a_failure_of_the_source(void **state)
{
	struct scene *scene = *state;
	const struct source_tally *tally = &scene->capture.tallies[SOURCE_CGROUP_FILES];

	write_v2(&scene->tree);
	tree_text(&scene->tree, V2 "a.slice/b.service/cpu.stat", "usage_usec 9\nnonsense\n");
	tree_text(&scene->tree, V2 "a.slice/b.service/memory.max", "plenty\n");
	tree_text(&scene->tree, V2 "a.slice/b.service/cpu.pressure", "some\n");
	tree_directory(&scene->tree, V2 "a.slice/b.service/io.pressure");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/a.slice/b.service");
	collect(scene);
	expect_number(scene, "/a.slice/b.service", "cpu.stat usage_usec", 9);
	expect_absent(scene, "/a.slice/b.service", "memory.max");
	assert_int_equal(tally->failed, 4);
	assert_true(tally->read > 15);
	expect_reason(scene, "memory.max",
		      "not in the recorded tree (1 of 3 cgroups); the file makes no sense (1 of 3 "
		      "cgroups); the root cgroup does not have it");
}

static void a_tree_that_was_not_recorded_is_told(void **state)
{
	struct scene *scene = *state;
	const struct source_tally *tally = &scene->capture.tallies[SOURCE_CGROUP_FILES];

	tree_directory(&scene->tree, "proc");
	write_controllers(&scene->tree, "", "cpu memory\n");
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/gone");
	collect(scene);
	assert_int_equal(tally->read + tally->failed, 0);
	assert_string_equal(tally->reason, NOT_RECORDED);
	expect_reason(scene, "memory.stat *", NOT_RECORDED);
}

static void a_path_of_a_thousand_steps_is_not_followed(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;
	char path[2001];

	write_v2(&scene->tree);
	for (size_t i = 0; i < sizeof(path) - 1; i += 2)
		memcpy(path + i, "/x", 2);
	path[sizeof(path) - 1] = '\0';
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, path);
	add_task(scene, 11, "/a.slice");
	sheet = collect(scene);
	assert_int_equal(sheet->row_count, 2);
	assert_int_equal(scene->capture.tallies[SOURCE_CGROUP_FILES].failed, 1);
}

static void without_the_source_nothing_is_read(void **state)
{
	struct scene *scene = *state;

	write_v2(&scene->tree);
	scene->options.without = 1u << SOURCE_CGROUP_FILES;
	scene_open(scene, scene->tree.root);
	add_task(scene, 10, "/a.slice");
	assert_int_equal(collect(scene)->row_count, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_CGROUP_FILES].read, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_v2_cgroup_tells_all_its_files),
		SCENE_TEST(parents_have_rows_in_the_order_of_their_paths),
		SCENE_TEST(a_missing_file_has_the_reason_that_fits),
		SCENE_TEST(a_cgroup_that_was_removed_is_not_the_kernels_fault),
		SCENE_TEST(without_controllers_nothing_is_zero_or_unlimited),
		SCENE_TEST(a_hybrid_host_reads_the_files_that_mean_the_same),
		SCENE_TEST(files_of_other_tasks_are_not_taken_for_a_cgroups_own),
		SCENE_TEST(a_missing_file_of_v1_has_a_reason_of_its_own),
		SCENE_TEST(an_empty_file_of_keys_makes_no_sense_and_v1_stands_in),
		SCENE_TEST(each_reading_is_missing_for_the_reason_of_its_own_hierarchy),
		SCENE_TEST(pressure_that_is_missing_has_a_reason_in_all_its_readings),
		SCENE_TEST(a_task_that_moved_is_not_asked),
		SCENE_TEST(a_parent_is_what_its_children_are),
		SCENE_TEST(a_v1_host_has_no_pressure),
		SCENE_TEST(what_is_outside_of_our_namespace_has_a_row_and_no_values),
		SCENE_TEST(lines_that_make_no_sense_are_a_failure_of_the_source),
		SCENE_TEST(a_tree_that_was_not_recorded_is_told),
		SCENE_TEST(a_path_of_a_thousand_steps_is_not_followed),
		SCENE_TEST(without_the_source_nothing_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

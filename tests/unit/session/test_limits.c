/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/cgroup/cgroup_files.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "session/watch/limits.h"

/* A tree of cgroups in a directory of its own. */
struct scene {
	char path[64];
	struct hierarchies trees;
};

static void make_tree(struct scene *scene, enum hierarchy_id id, const char *name, unsigned version)
{
	struct cgroup_hierarchy *tree = &scene->trees.trees[id];
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scene->path, name);
	assert_int_equal(mkdir(path, 0700), 0);
	tree->version = version;
	tree->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(tree->fd >= 0);
	if (version == 1)
		snprintf(tree->controller, sizeof(tree->controller), "%s", name);
	scene->trees.tops[id] = strdup("");
}

/* With the folders above it. */
static void write_file(const struct scene *scene, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", scene->path, name);
	for (char *slash = path + strlen(scene->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	snprintf(scene->path, sizeof(scene->path), "/tmp/taskscope-cgroups-XXXXXX");
	assert_non_null(mkdtemp(scene->path));
	for (int id = 0; id < HIERARCHY_COUNT; id++)
		scene->trees.trees[id].fd = -1;
	*state = scene;
	return 0;
}

static int set_up_version_2(void **state)
{
	set_up(state);
	make_tree(*state, HIERARCHY_V2, "v2", 2);
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;
	pid_t pid;

	hierarchies_close(&scene->trees);
	pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-r", scene->path, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	free(scene);
	return 0;
}

static struct snapshot *sheets(const struct scene *scene, const char *places)
{
	const struct host host = { .live = true, .tick_ns = 10000000 };
	struct snapshot *snapshot;

	assert_int_equal(snapshot_new(&snapshot), 0);
	assert_int_equal(cgroup_files_read(&host, &scene->trees, places, snapshot), 0);
	return snapshot;
}

/* From a time when nothing had happened. */
static struct snapshot *untouched(const struct scene *scene, const char *places)
{
	struct snapshot *snapshot = sheets(scene, places);
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];

	for (size_t i = 0; i < sheet->columns.count; i++)
		for (size_t row = 0; sheet->columns.data[i].values && row < sheet->row_count; row++)
			sheet->columns.data[i].values[row] = 0;
	return snapshot;
}

static struct run_limits look(const struct scene *scene, const char *places)
{
	struct run_limits found = { 0 };
	struct snapshot *begin = untouched(scene, places), *end = sheets(scene, places);

	limits_between(begin, begin, end, &scene->trees, places, &found);
	snapshot_free(begin);
	snapshot_free(end);
	return found;
}

static void expect(struct run_number number, uint64_t value)
{
	assert_true(number.present);
	assert_int_equal(number.value, value);
}

static void a_cgroup_of_version_2_is_read(void **state)
{
	struct run_limits found;
	struct scene *scene = *state;

	write_file(scene, "v2/job/cpu.max", "30000 100000\n");
	write_file(scene, "v2/job/cpu.stat",
		   "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 7\n");
	write_file(scene, "v2/job/memory.max", "max\n");
	write_file(scene, "v2/job/memory.events",
		   "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 0\n");
	write_file(scene, "v2/job/cpu.pressure",
		   "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\n");
	found = look(scene, "0::/job\n");
	expect(found.cgroup_quota_us, 30000);
	expect(found.cgroup_period_us, 100000);
	expect(found.cgroup_periods, 10);
	expect(found.cgroup_throttled_periods, 4);
	expect(found.cgroup_throttled_ns, 7000);
	expect(found.cgroup_memory_high_hits, 2);
	expect(found.cgroup_memory_max_hits, 3);
	expect(found.cgroup_oom_kills, 5);
	expect(found.cgroup_cpu_some_us, 123);
	assert_false(found.cgroup_memory_limit_bytes.present);
	assert_false(found.cgroup_io_some_us.present);
}

static void the_tightest_quota_above_counts_with_its_own_periods(void **state)
{
	struct run_limits found;
	struct scene *scene = *state;

	write_file(scene, "v2/slice/cpu.max", "50000 100000\n");
	write_file(scene, "v2/slice/cpu.stat", "nr_periods 9\nnr_throttled 8\nthrottled_usec 7\n");
	write_file(scene, "v2/slice/job/cpu.max", "200000 100000\n");
	write_file(scene, "v2/slice/job/cpu.stat", "nr_periods 1\nnr_throttled 0\n");
	found = look(scene, "0::/slice/job\n");
	expect(found.cgroup_quota_us, 50000);
	expect(found.cgroup_periods, 9);
	expect(found.cgroup_throttled_periods, 8);
}

static void the_lowest_memory_limit_above_counts(void **state)
{
	struct run_limits found;
	struct scene *scene = *state;

	write_file(scene, "v2/slice/memory.max", "1048576\n");
	write_file(scene, "v2/slice/memory.events", "high 0\nmax 6\noom_kill 9\n");
	write_file(scene, "v2/slice/job/memory.max", "max\n");
	write_file(scene, "v2/slice/job/memory.events", "high 0\nmax 0\noom_kill 1\n");
	found = look(scene, "0::/slice/job\n");
	expect(found.cgroup_memory_limit_bytes, 1048576);
	expect(found.cgroup_memory_max_hits, 6);
	/* Kills of neighbours are none of ours. */
	expect(found.cgroup_oom_kills, 1);
}

static void each_controller_of_version_1_has_a_place_of_its_own(void **state)
{
	struct run_limits found;
	struct scene *scene = *state;

	make_tree(scene, HIERARCHY_CPU, "cpu", 1);
	make_tree(scene, HIERARCHY_MEMORY, "memory", 1);
	write_file(scene, "cpu/cpu.cfs_quota_us", "-1\n");
	write_file(scene, "cpu/cpu.cfs_period_us", "100000\n");
	write_file(scene, "cpu/a/cpu.cfs_quota_us", "20000\n");
	write_file(scene, "cpu/a/cpu.cfs_period_us", "100000\n");
	write_file(scene, "cpu/a/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 1000\n");
	write_file(scene, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	write_file(scene, "memory/b/memory.limit_in_bytes", "67108864\n");
	write_file(scene, "memory/b/memory.failcnt", "77\n");
	write_file(scene, "memory/b/memory.oom_control",
		   "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	found = look(scene, "4:memory:/b\n1:cpu:/a\n0::/\n");
	expect(found.cgroup_quota_us, 20000);
	expect(found.cgroup_period_us, 100000);
	expect(found.cgroup_throttled_ns, 1000);
	expect(found.cgroup_memory_limit_bytes, 67108864);
	expect(found.cgroup_memory_max_hits, 77);
	expect(found.cgroup_oom_kills, 1);
}

static void expect_nothing(const struct scene *scene, const char *places)
{
	struct run_limits nothing = { 0 }, found = look(scene, places);

	assert_memory_equal(&found, &nothing, sizeof(found));
}

static void what_is_not_there_is_absent(void **state)
{
	struct scene *scene = *state;

	expect_nothing(scene, "0::/\n");
	make_tree(scene, HIERARCHY_V2, "v2", 2);
	expect_nothing(scene, "");
	expect_nothing(scene, "0::/gone\n");
	expect_nothing(scene, "0::/../outside\n");
	write_file(scene, "v2/job/cpu.max", "max 100000\n");
	write_file(scene, "v2/job/cpu.stat", "nonsense\n");
	write_file(scene, "v2/job/memory.max", "\n");
	expect_nothing(scene, "0::/job\n");
}

static void counters_are_told_by_how_much_they_grew(void **state)
{
	struct scene *scene = *state;
	struct run_limits found = { 0 };
	struct snapshot *begin, *end;

	write_file(scene, "v2/job/memory.events", "max 3\noom_kill 5\n");
	begin = sheets(scene, "0::/job\n");
	write_file(scene, "v2/job/memory.events", "max 10\noom_kill 4\n");
	end = sheets(scene, "0::/job\n");
	limits_between(begin, begin, end, &scene->trees, "0::/job\n", &found);
	expect(found.cgroup_memory_max_hits, 7);
	/* One that fell is of another cgroup of the same name. */
	assert_false(found.cgroup_oom_kills.present);
	snapshot_free(begin);
	snapshot_free(end);
}

static void the_lowest_limit_of_io_above_counts(void **state)
{
	struct scene *scene = *state;
	struct run_limits found;

	write_file(scene, "v2/job/io.max", "8:0 rbps=max wbps=4194304 riops=100 wiops=max\n");
	write_file(scene, "v2/job/part/io.max", "8:0 rbps=8388608 wbps=max\n8:16 rbps=max\n");
	found = look(scene, "0::/job/part\n");
	expect(found.cgroup_io_limit_bytes, 4194304);
	write_file(scene, "v2/job/part/io.max", "8:0 rbps=max wbps=max\n8:16 rbps=1024 wbps=max\n");
	found = look(scene, "0::/job/part\n");
	expect(found.cgroup_io_limit_bytes, 1024);
}

static void a_limit_of_io_of_version_1_is_read(void **state)
{
	struct scene *scene = *state;
	struct run_limits found;

	make_tree(scene, HIERARCHY_BLKIO, "blkio", 1);
	write_file(scene, "blkio/job/blkio.throttle.read_bps_device", "");
	write_file(scene, "blkio/job/blkio.throttle.write_bps_device", "8:0 4096\n8:16 2048\n");
	found = look(scene, "5:blkio:/job\n");
	expect(found.cgroup_io_limit_bytes, 2048);
}

static void pages_that_came_back_are_counted(void **state)
{
	struct scene *scene = *state;
	struct run_limits found = { 0 };
	struct snapshot *begin, *end;

	write_file(scene, "v2/job/memory.max", "1048576\n");
	write_file(scene, "v2/job/memory.stat", "workingset_refault_file 3\n");
	begin = sheets(scene, "0::/job\n");
	write_file(scene, "v2/job/memory.stat", "workingset_refault_file 13\n");
	end = sheets(scene, "0::/job\n");
	limits_between(begin, begin, end, &scene->trees, "0::/job\n", &found);
	expect(found.cgroup_refaults, 10);
	snapshot_free(begin);
	snapshot_free(end);
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define WITH_VERSION_2(test) cmocka_unit_test_setup_teardown(test, set_up_version_2, tear_down)

/* The manifest says which of the host's counters there are. */
static void pressure_is_there_in_part_or_not_at_all(void **state)
{
	static const char *const names[] = { "pressure cpu some total",
					     "pressure memory some total",
					     "pressure memory full total", "pressure io some total",
					     "pressure io full total" };

	(void)state;
	for (size_t known = 0; known <= ARRAY_SIZE(names); known++) {
		struct limits limits = { 0 };
		const struct source_report *source;
		struct run *run;

		assert_int_equal(run_new(&run), 0);
		assert_int_equal(snapshot_new(&limits.begin), 0);
		for (size_t i = 0; i < known; i++)
			assert_int_equal(
				snapshot_note_number(limits.begin, SHEET_HOST, names[i], 5), 0);
		assert_int_equal(limits_report(&limits, run), 0);
		source = run_source(run, "pressure");
		assert_non_null(source);
		assert_int_equal(source->state, known == 0		  ? SOURCE_UNAVAILABLE :
						known < ARRAY_SIZE(names) ? SOURCE_PARTIAL :
									    SOURCE_OK);
		assert_int_equal(source->reason == NULL, known == ARRAY_SIZE(names));
		assert_int_equal(run_source(run, "cgroup")->state, SOURCE_UNAVAILABLE);
		snapshot_free(limits.begin);
		run_free(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pressure_is_there_in_part_or_not_at_all),
		WITH_VERSION_2(a_cgroup_of_version_2_is_read),
		WITH_VERSION_2(the_tightest_quota_above_counts_with_its_own_periods),
		WITH_VERSION_2(the_lowest_memory_limit_above_counts),
		WITH_VERSION_2(counters_are_told_by_how_much_they_grew),
		WITH_VERSION_2(the_lowest_limit_of_io_above_counts),
		WITH_VERSION_2(pages_that_came_back_are_counted),
		WITH_SCENE(a_limit_of_io_of_version_1_is_read),
		WITH_SCENE(each_controller_of_version_1_has_a_place_of_its_own),
		WITH_SCENE(what_is_not_there_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

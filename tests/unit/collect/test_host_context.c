/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "collect/host/host_context.h"
#include "scene.h"

#define MACHINE_ID "0123456789abcdef0123456789abcdef"

struct file {
	const char *path;
	const char *text;
};

static const struct file tree_files[] = {
	{ "proc/sys/kernel/ostype", "Linux\n" },
	{ "proc/sys/kernel/osrelease", "6.12.1-test\n" },
	{ "proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n" },
	{ "proc/cmdline", "ro quiet psi=1\n" },
	{ "proc/loadavg", "0.52 0.58 10.59 3/467 12345\n" },
	{ "proc/uptime", "12345.67 890.12\n" },
	{ "proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineTest\nmodel\t\t: 1\n"
			  "model name\t: Test CPU @ 1.00GHz\n\nprocessor\t: 1\n" },
	{ "proc/meminfo",
	  "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n"
	  "SwapTotal:         1024 kB\nSwapFree:             0 kB\n"
	  "HugePages_Total:       8\nHugePages_Free:        5\n"
	  "Hugepagesize:       2048 kB\n" },
	{ "proc/sys/kernel/task_delayacct", "0\n" },
	{ "proc/sys/kernel/sched_rt_runtime_us", "-1\n" },
	{ "proc/sys/kernel/sched_odd", "\033[1m\n" },
	{ "proc/sys/kernel/sched_domain/cpu0", "1\n" },
	{ "proc/sys/kernel/pid_max", "32768\n" },
	{ "sys/devices/system/cpu/online", "0-1\n" },
	{ "sys/devices/system/cpu/smt/control", "on\n" },
	{ "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n" },
	{ "sys/devices/system/cpu/cpu9/cpufreq/scaling_governor", "ondemand\n" },
	{ "sys/devices/system/cpu/cpu10/cpufreq/scaling_governor", "performance\n" },
	{ "sys/devices/system/cpu/cpuidle/current_driver", "none\n" },
	{ "sys/devices/system/node/has_cpu", "0-1,3\n" },
	{ "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n" },
	{ "sys/kernel/mm/transparent_hugepage/defrag", "[always] never\n" },
	{ "sys/kernel/debug/sched/base_slice_ns", "3000000\n" },
	{ "sys/kernel/debug/sched/features", "PLACE_LAG NO_HRTICK \n" },
	{ "etc/machine-id", MACHINE_ID "\n" },
	{ "sys/fs/cgroup/cgroup.controllers", "cpu\n" },
	{ "taskscope-root",
	  "CONFIG_TASK_XACCT y\narch test\npage_size 4096\nclock_ticks 100\n"
	  "captured_at_unix_ns 1\nmonotonic_ns 2\nboottime_ns 3\npid_namespace 4\n"
	  "cgroup_namespace 5\n" },
};

struct fact_case {
	enum fact_id id;
	const char *path; /* the file that it is from */
	const char *text;
	uint64_t number;
};

static const struct fact_case fact_cases[] = {
	{ FACT_kernel_name, "proc/sys/kernel/ostype", "Linux", 0 },
	{ FACT_kernel_release, "proc/sys/kernel/osrelease", "6.12.1-test", 0 },
	{ FACT_boot_id, "proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef",
	  0 },
	{ FACT_online_cpus, "sys/devices/system/cpu/online", "0-1", 0 },
	{ FACT_kernel_cmdline, "proc/cmdline", "ro quiet psi=1", 0 },
	{ FACT_loadavg, "proc/loadavg", "0.52 0.58 10.59", 0 },
	{ FACT_uptime_ns, "proc/uptime", NULL, 12345670000000 },
	{ FACT_cpu_model, "proc/cpuinfo", "Test CPU @ 1.00GHz", 0 },
	{ FACT_cpu_vendor, "proc/cpuinfo", "GenuineTest", 0 },
	{ FACT_smt, "sys/devices/system/cpu/smt/control", "on", 0 },
	{ FACT_numa_nodes, "sys/devices/system/node/has_cpu", NULL, 3 },
	{ FACT_total_memory_bytes, "proc/meminfo", NULL, 24000000ull * 1024 },
	{ FACT_available_memory_bytes, "proc/meminfo", NULL, 20000000ull * 1024 },
	{ FACT_swap_total_bytes, "proc/meminfo", NULL, 1024 * 1024 },
	{ FACT_swap_free_bytes, "proc/meminfo", NULL, 0 },
	{ FACT_hugepages_total, "proc/meminfo", NULL, 8 },
	{ FACT_hugepages_free, "proc/meminfo", NULL, 5 },
	{ FACT_hugepage_size_bytes, "proc/meminfo", NULL, 2048 * 1024 },
	{ FACT_thp_enabled, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never",
	  0 },
	{ FACT_thp_defrag, "sys/kernel/mm/transparent_hugepage/defrag", "[always] never", 0 },
	{ FACT_task_delayacct, "proc/sys/kernel/task_delayacct", "runtime-off", 0 },
};

static void write_files(const struct tree *tree)
{
	for (size_t i = 0; i < ARRAY_SIZE(tree_files); i++)
		tree_text(tree, tree_files[i].path, tree_files[i].text);
}

static const struct snapshot *collect(struct scene *scene)
{
	scene_open(scene, scene->tree.root);
	scene->capture.has_clock = host_clock(scene->host, &scene->capture.clock);
	host_facts_identify(&scene->capture);
	assert_int_equal(host_context_collect(&scene->capture), 0);
	return scene->capture.snapshot;
}

static const char *reading(const struct snapshot *snapshot, const char *name)
{
	uint64_t text;

	if (column_get(sheet_find(&snapshot->sheets[SHEET_HOST], name), 0, &text) != CELL_TEXT)
		return NULL;
	return snapshot_text(snapshot, (uint32_t)text);
}

static void facts_are_what_the_files_say(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_files(&scene->tree);
	snapshot = collect(scene);
	for (size_t i = 0; i < ARRAY_SIZE(fact_cases); i++) {
		const struct fact *fact = &snapshot->facts[fact_cases[i].id];

		assert_true(fact->present);
		if (fact_cases[i].text)
			assert_string_equal(fact->text, fact_cases[i].text);
		else
			assert_int_equal(fact->number, fact_cases[i].number);
	}
	assert_string_equal(snapshot->facts[FACT_config_task_xacct].text, "on");
}

static void expect_fact_reason(const struct snapshot *snapshot, enum fact_id id, const char *reason)
{
	const struct column *column = sheet_find(&snapshot->sheets[SHEET_HOST], facts[id].name);

	if (!reason) {
		assert_null(column);
		return;
	}
	if (!column || !column->absent)
		fail_msg("%s has no reason", facts[id].name);
	assert_string_equal(column->absent, reason);
}

/* The source is not all there, and says what is not. */
static void expect_lost(const struct capture *capture, enum fact_id id)
{
	const struct source_tally *tally = &capture->tallies[SOURCE_HOST_CONTEXT];

	assert_true(tally->is_partial);
	assert_non_null(strstr(tally->reason, facts[id].name));
}

static void a_missing_file_takes_its_facts_along_and_no_others(void **state)
{
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(fact_cases); i++) {
		const struct snapshot *snapshot;

		write_files(&scene->tree);
		tree_unlink(&scene->tree, fact_cases[i].path);
		snapshot = collect(scene);
		for (size_t k = 0; k < ARRAY_SIZE(fact_cases); k++) {
			bool is_there = strcmp(fact_cases[k].path, fact_cases[i].path) != 0;

			assert_int_equal(snapshot->facts[fact_cases[k].id].present, is_there);
			expect_fact_reason(snapshot, fact_cases[k].id,
					   is_there ? NULL : NOT_RECORDED);
		}
		expect_lost(&scene->capture, fact_cases[i].id);
		assert_int_equal(scene->capture.tallies[SOURCE_HOST_CONTEXT].failed, 0);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

static void an_empty_tree_tells_nothing(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	tree_directory(&scene->tree, "proc");
	snapshot = collect(scene);
	for (size_t i = 0; i < ARRAY_SIZE(fact_cases); i++)
		assert_false(snapshot->facts[fact_cases[i].id].present);
	assert_false(snapshot->facts[FACT_machine_id_hash].present);
	assert_string_equal(snapshot->facts[FACT_config_task_xacct].text, "unknown");
	assert_string_equal(
		sheet_find(&snapshot->sheets[SHEET_HOST], "sched_debug features")->absent,
		NOT_RECORDED);
	assert_string_equal(sheet_find(&snapshot->sheets[SHEET_HOST], "cpufreq_governor 0")->absent,
			    NOT_RECORDED);
}

/* What a live kernel does not have is no loss. */
static void a_file_that_a_live_host_lacks_is_named(void **state)
{
	struct scene *scene = *state;
	struct capture *capture = &scene->capture;

	write_files(&scene->tree);
	tree_unlink(&scene->tree, "sys/devices/system/cpu/smt/control");
	tree_text(&scene->tree, "proc/cpuinfo", "processor : 0\nmodel name : x\n");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	host_facts_identify(capture);
	assert_int_equal(host_context_collect(capture), 0);
	expect_fact_reason(capture->snapshot, FACT_smt,
			   "there is no sys/devices/system/cpu/smt/control here");
	expect_fact_reason(capture->snapshot, FACT_cpu_vendor, "proc/cpuinfo does not have it");
	assert_int_equal(capture->lost_facts & (1ull << FACT_smt | 1ull << FACT_cpu_vendor), 0);
}

static void nonsense_is_no_fact(void **state)
{
	static const struct {
		enum fact_id id;
		const char *path;
		const char *text;
	} cases[] = {
		{ FACT_boot_id, "proc/sys/kernel/random/boot_id", "rubbish\n" },
		{ FACT_boot_id, "proc/sys/kernel/random/boot_id",
		  "01234567-89ab-cdef-0123-456789abcde\n" },
		{ FACT_boot_id, "proc/sys/kernel/random/boot_id",
		  "01234567089ab-cdef-0123-456789abcdef\n" },
		{ FACT_online_cpus, "sys/devices/system/cpu/online", "0-\n" },
		{ FACT_online_cpus, "sys/devices/system/cpu/online", "0-1 and more\n" },
		{ FACT_loadavg, "proc/loadavg", "0.52 0.58\n" },
		{ FACT_loadavg, "proc/loadavg", "0.52 x 0.58 3/4 5\n" },
		{ FACT_loadavg, "proc/loadavg", "0.52 0.58 1.\n" },
		{ FACT_smt, "sys/devices/system/cpu/smt/control", "perhaps\n" },
		{ FACT_uptime_ns, "proc/uptime", "long\n" },
		{ FACT_machine_id_hash, "etc/machine-id", "uninitialized\n" },
		{ FACT_total_memory_bytes, "proc/meminfo", "MemTotal: many kB\n" },
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct snapshot *snapshot;

		write_files(&scene->tree);
		tree_text(&scene->tree, cases[i].path, cases[i].text);
		snapshot = collect(scene);
		if (snapshot->facts[cases[i].id].present)
			fail_msg("%s is taken for a fact", cases[i].text);
		expect_fact_reason(snapshot, cases[i].id, "its file makes no sense");
		expect_lost(&scene->capture, cases[i].id);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

static void accounting_that_was_not_built_in_is_told_by_the_kernels_options(void **state)
{
	struct scene *scene = *state;
	const struct fact *fact;

	tree_directory(&scene->tree, "proc");
	tree_text(&scene->tree, "taskscope-root",
		  "CONFIG_TASK_DELAY_ACCT n\nCONFIG_TASK_XACCT n\n");
	fact = collect(scene)->facts;
	assert_string_equal(fact[FACT_task_delayacct].text, "config-off");
	assert_string_equal(fact[FACT_config_task_xacct].text, "off");
	scene_close(scene);
	tree_text(&scene->tree, "taskscope-root", "CONFIG_TASK_DELAY_ACCT y\n");
	assert_false(collect(scene)->facts[FACT_task_delayacct].present);
}

static void a_machine_is_known_by_a_hash_of_its_id(void **state)
{
	struct scene *scene = *state;
	const struct fact *hash;

	write_files(&scene->tree);
	hash = &collect(scene)->facts[FACT_machine_id_hash];
	assert_true(hash->present);
	assert_int_equal(strlen(hash->text), 16);
	assert_null(strstr(MACHINE_ID, hash->text));
	/* Never changes: snapshots of years ago must still be of the same host. */
	assert_string_equal(hash->text, "a3dccd32d3776e6f");
}

static void what_is_no_machine_id_has_no_hash(void **state)
{
	static const char *const others[] = { "uninitialized\n", "\n", "0123\n",
					      "0123456789ABCDEF0123456789abcdef\n",
					      MACHINE_ID "0\n" };
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		tree_text(&scene->tree, "etc/machine-id", others[i]);
		tree_directory(&scene->tree, "proc");
		assert_false(collect(scene)->facts[FACT_machine_id_hash].present);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

static void settings_of_the_scheduler_are_readings(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_files(&scene->tree);
	snapshot = collect(scene);
	assert_string_equal(reading(snapshot, "cpufreq_governor 0"), "powersave");
	assert_string_equal(reading(snapshot, "cpufreq_governor 10"), "performance");
	assert_string_equal(reading(snapshot, "sched_tunables sched_rt_runtime_us"), "-1");
	assert_string_equal(reading(snapshot, "sched_tunables sched_odd"), "\033[1m");
	assert_string_equal(reading(snapshot, "sched_debug base_slice_ns"), "3000000");
	assert_string_equal(reading(snapshot, "sched_debug features"), "PLACE_LAG NO_HRTICK");
	assert_null(reading(snapshot, "sched_debug preempt"));
	assert_int_equal(snapshot->sheets[SHEET_HOST].columns.count, 7);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_CONTEXT].failed, 0);
	assert_false(scene->capture.tallies[SOURCE_HOST_CONTEXT].is_partial);
}

/* Also where a directory has none. */
static void settings_are_in_order(void **state)
{
	static const char *const names[] = { "sched_tunables sched_odd",
					     "sched_tunables sched_rt_runtime_us",
					     "cpufreq_governor 0", "cpufreq_governor 9",
					     "cpufreq_governor 10" };
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	sheet = &collect(scene)->sheets[SHEET_HOST];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(sheet->columns.data[i].metric->name, names[i]);
}

/* A tree may come from anyone. */
static void tunables_without_end_are_cut_and_counted(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;
	char path[256];

	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "proc/sys/kernel/sched_%d", i);
		tree_text(&scene->tree, path, "1\n");
	}
	snapshot = collect(scene);
	assert_true(snapshot->sheets[SHEET_HOST].columns.count < 300);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_CONTEXT].failed, 1);
}

static void a_name_or_a_line_that_is_too_long_is_left_out_and_counted(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;
	char path[256];
	char line[10000];

	snprintf(path, sizeof(path), "proc/sys/kernel/sched_%0150d", 1);
	tree_text(&scene->tree, path, "1\n");
	memset(line, 'x', sizeof(line));
	tree_bytes(&scene->tree, "proc/sys/kernel/sched_long", line, sizeof(line));
	snapshot = collect(scene);
	assert_null(reading(snapshot, "sched_tunables sched_long"));
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_CONTEXT].failed, 2);
}

/* Who a snapshot is of is no matter of taste. */
static void without_the_source_the_host_is_still_identified(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_files(&scene->tree);
	scene->options.without = 1u << SOURCE_HOST_CONTEXT;
	snapshot = collect(scene);
	assert_string_equal(snapshot->facts[FACT_kernel_release].text, "6.12.1-test");
	assert_string_equal(snapshot->facts[FACT_online_cpus].text, "0-1");
	assert_false(snapshot->facts[FACT_cpu_model].present);
	assert_int_equal(snapshot->sheets[SHEET_HOST].columns.count, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_CONTEXT].read, 0);
}

static void numbers_that_are_none_are_absent(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_files(&scene->tree);
	tree_text(&scene->tree, "proc/uptime", "99999999999999.00 1.00\n");
	tree_text(&scene->tree, "proc/meminfo",
		  "MemTotal: many kB\nSwapTotal: 18446744073709551615 kB\n");
	tree_text(&scene->tree, "sys/devices/system/node/has_cpu", "x\n");
	tree_text(&scene->tree, "proc/cpuinfo", "processor : 0\n\nvendor_id : Second\n");
	snapshot = collect(scene);
	assert_false(snapshot->facts[FACT_uptime_ns].present);
	assert_false(snapshot->facts[FACT_total_memory_bytes].present);
	assert_false(snapshot->facts[FACT_swap_total_bytes].present);
	assert_false(snapshot->facts[FACT_numa_nodes].present);
	assert_false(snapshot->facts[FACT_cpu_vendor].present);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(facts_are_what_the_files_say),
		SCENE_TEST(a_missing_file_takes_its_facts_along_and_no_others),
		SCENE_TEST(a_file_that_a_live_host_lacks_is_named),
		SCENE_TEST(nonsense_is_no_fact),
		SCENE_TEST(an_empty_tree_tells_nothing),
		SCENE_TEST(accounting_that_was_not_built_in_is_told_by_the_kernels_options),
		SCENE_TEST(a_machine_is_known_by_a_hash_of_its_id),
		SCENE_TEST(what_is_no_machine_id_has_no_hash),
		SCENE_TEST(settings_of_the_scheduler_are_readings),
		SCENE_TEST(settings_are_in_order),
		SCENE_TEST(tunables_without_end_are_cut_and_counted),
		SCENE_TEST(a_name_or_a_line_that_is_too_long_is_left_out_and_counted),
		SCENE_TEST(without_the_source_the_host_is_still_identified),
		SCENE_TEST(numbers_that_are_none_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

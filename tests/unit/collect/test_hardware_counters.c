/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/hardware/hardware_counters.h"
#include "host/host.h"
#include "model/tree/run_numbers.h"
#include "scene.h"

#define PAGES 300
#define PAGE 4096

static void a_group_that_always_counted_is_not_scaled(void **state)
{
	/* perf stat -e cycles,instructions -- true */
	static const uint64_t words[] = { 2, 412683, 412683, 1081462, 993815 };
	struct hardware_reading reading;
	uint64_t value;

	(void)state;
	assert_true(hardware_parse(words, sizeof(words), 2, &reading));
	assert_true(hardware_scale(&reading, 1, 0, &value));
	assert_int_equal(value, 1081462);
	assert_true(hardware_scale(&reading, 1, 1, &value));
	assert_int_equal(value, 993815);
}

static void a_group_that_took_turns_is_scaled(void **state)
{
	/* Two groups of four took turns for 2 s. */
	static const uint64_t words[] = { 4,	      2000451000, 1000225500, 3000676500,
					  4500000000, 12000000,	  300001 };
	struct hardware_reading reading;
	uint64_t value;

	(void)state;
	assert_true(hardware_parse(words, sizeof(words), 4, &reading));
	assert_true(hardware_scale(&reading, 1, 0, &value));
	assert_int_equal(value, 6001353000);
	assert_true(hardware_scale(&reading, 1, 3, &value));
	assert_int_equal(value, 600002);
}

static void large_values_do_not_overflow(void **state)
{
	struct hardware_reading reading = { .enabled_ns = 86400000000000,
					    .running_ns = 43200000000000,
					    .values = { 1ull << 62, UINT64_MAX } };
	uint64_t value;

	(void)state;
	assert_true(hardware_scale(&reading, 1, 0, &value));
	assert_int_equal(value, 1ull << 63);
	assert_true(hardware_scale(&reading, 1, 1, &value));
	assert_int_equal(value, UINT64_MAX);
}

static void a_group_that_never_counted_has_no_value(void **state)
{
	struct hardware_reading never = { .enabled_ns = 5000 }, unused = { 0 };
	uint64_t value = 7;

	(void)state;
	assert_false(hardware_scale(&never, 1, 0, &value));
	assert_true(hardware_scale(&unused, 1, 0, &value));
	assert_int_equal(value, 0);
}

/* A third of the time on large cores, the rest on small ones: each PMU counts on its own only. */
static void two_kinds_of_cores_add_up(void **state)
{
	const struct hardware_reading pmus[] = {
		{ .enabled_ns = 3000000, .running_ns = 1000000, .values = { 4000000 } },
		{ .enabled_ns = 3000000, .running_ns = 2000000, .values = { 5000000 } },
	};
	const struct hardware_reading in_turns[] = {
		{ .enabled_ns = 3000000, .running_ns = 500000, .values = { 2000000 } },
		{ .enabled_ns = 3000000, .running_ns = 1000000, .values = { 2500000 } },
	};
	uint64_t value;

	(void)state;
	assert_true(hardware_scale(pmus, 2, 0, &value));
	assert_int_equal(value, 9000000);
	assert_true(hardware_scale(in_turns, 2, 0, &value));
	assert_int_equal(value, 9000000);
}

static void a_reading_of_another_size_is_refused(void **state)
{
	static const uint64_t words[] = { 2, 10, 10, 1, 2 };
	struct hardware_reading reading;

	(void)state;
	assert_false(hardware_parse(words, sizeof(words), 1, &reading));
	assert_false(hardware_parse(words, sizeof(words) - 8, 1, &reading));
	assert_false(hardware_parse(words, sizeof(words) - 1, 2, &reading));
	assert_false(hardware_parse(words, sizeof(words), 5, &reading));
}

/* Events that every kernel has, in place of those of the hardware. */
static const struct hardware_kind software[HARDWARE_EVENT_COUNT] = {
	[HARDWARE_CYCLES] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 0 },
	[HARDWARE_INSTRUCTIONS] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0 },
	[HARDWARE_CACHE_REFERENCES] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1 },
	[HARDWARE_CACHE_MISSES] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 1 },
	[HARDWARE_BRANCH_MISSES] = { PERF_TYPE_SOFTWARE, 9999, 1 },
	[HARDWARE_STALLED_FRONTEND] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0 },
	[HARDWARE_STALLED_BACKEND] = { PERF_TYPE_SOFTWARE, 9999, 0 },
};

static void touch_pages(void)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	for (size_t i = 0; memory != MAP_FAILED && i < PAGES; i++)
		*(volatile char *)(memory + i * PAGE) = 1;
}

/* A process that waits for a byte, touches pages, and lets a child do the same. */
static pid_t start(int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		touch_pages();
		pid = fork();
		if (pid == 0) {
			touch_pages();
			_exit(0);
		}
		_exit(waitpid(pid, NULL, 0) != pid);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void count(bool own_only, struct run_hardware *ret)
{
	struct hardware_counters counters;
	struct host *host = NULL;
	struct error error = { 0 };
	int go, status;
	pid_t pid = start(&go);

	*ret = (struct run_hardware){ 0 };
	assert_int_equal(host_open(&host, NULL, &error), 0);
	hardware_open(&counters, host, software, own_only);
	counters.pmu_count = 1;
	counters.pmus[0] = 0;
	assert_int_equal(hardware_add(&counters, pid, false), 0);
	assert_int_equal(write(go, "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	hardware_result(&counters, ret);
	hardware_close(&counters);
	host_close(host);
	close(go);
}

static bool may_count(void)
{
	struct run_hardware result;

	count(false, &result);
	return result.cycles.present;
}

/* Where the kernel refuses even software events, their absence is what is tested. */
static void a_process_and_its_children_are_counted(void **state)
{
	struct run_hardware result;

	(void)state;
	count(false, &result);
	assert_false(result.stalled_backend.present);
	assert_false(result.branch_misses.present);
	if (!may_count()) {
		assert_false(result.instructions.present);
		return;
	}
	assert_true(result.cycles.value >= 2 * PAGES);
	/* All faults, and those without I/O.  The kernel adds up a child's counters one after the other. */
	assert_true(10 * result.cache_references.value >= 9 * result.cycles.value);
	assert_true(result.instructions.present && result.instructions.value > 0);
	assert_true(result.stalled_frontend.present);
	assert_int_equal(result.stalled_frontend.value, 0);
	assert_true(result.running_ns.value > 0);
	assert_int_equal(result.running_ns.value, result.enabled_ns.value);
}

static void children_can_be_left_out(void **state)
{
	struct run_hardware result;

	(void)state;
	count(true, &result);
	if (!result.cycles.present)
		return;
	assert_true(result.cycles.value >= PAGES);
	assert_true(result.cycles.value < 2 * PAGES);
}

static void why_there_are_none(void **state)
{
	struct scene *scene = *state;
	struct hardware_counters counters = { 0 };
	char buffer[160];

	tree_text(&scene->tree, "proc/sys/kernel/perf_event_paranoid", "3\n");
	scene_open(scene, scene->tree.root);
	counters.errors[HARDWARE_CYCLES] = -ENOENT;
	assert_non_null(
		strstr(hardware_reason(&counters, scene->capture.host, buffer, sizeof(buffer)),
		       "hypervisor"));
	assert_false(hardware_counts_any(&counters));
	counters.errors[HARDWARE_CYCLES] = -EACCES;
	assert_string_equal(hardware_reason(&counters, scene->capture.host, buffer, sizeof(buffer)),
			    "it needs CAP_PERFMON (kernel.perf_event_paranoid is 3)");
	counters.errors[HARDWARE_CYCLES] = -EMFILE;
	assert_non_null(
		strstr(hardware_reason(&counters, scene->capture.host, buffer, sizeof(buffer)),
		       "Too many open files"));
	counters.has_more_tasks = true;
	assert_non_null(
		strstr(hardware_reason(&counters, scene->capture.host, buffer, sizeof(buffer)),
		       "too many threads"));
}

static void two_kinds_of_cores_have_two_pmus(void **state)
{
	struct scene *scene = *state;
	struct hardware_counters counters;

	tree_text(&scene->tree, "sys/bus/event_source/devices/cpu_core/type", "4\n");
	tree_text(&scene->tree, "sys/bus/event_source/devices/cpu_atom/type", "10\n");
	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
	hardware_open(&counters, scene->capture.host, hardware_kinds, false);
	assert_int_equal(counters.pmu_count, 2);
	assert_int_equal(counters.pmus[0], 4);
	assert_int_equal(counters.pmus[1], 10);
	hardware_close(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_that_always_counted_is_not_scaled),
		cmocka_unit_test(a_group_that_took_turns_is_scaled),
		cmocka_unit_test(large_values_do_not_overflow),
		cmocka_unit_test(a_group_that_never_counted_has_no_value),
		cmocka_unit_test(two_kinds_of_cores_add_up),
		cmocka_unit_test(a_reading_of_another_size_is_refused),
		cmocka_unit_test(a_process_and_its_children_are_counted),
		cmocka_unit_test(children_can_be_left_out),
		SCENE_TEST(why_there_are_none),
		SCENE_TEST(two_kinds_of_cores_have_two_pmus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

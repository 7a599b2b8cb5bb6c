/* SPDX-License-Identifier: MIT */
/* GPUs with a driver of the kernel: on a recorded tree to which their files are added. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/capture.h"
#include "collect/collector.h"
#include "host/gpu/drm_fdinfo.h"
#include "tree.h"

#define MIB (UINT64_C(1) << 20)

/* Two processes of the recorded tree. */
enum { ONE = 150, OTHER = 151 };

struct setting {
	struct tree tree;
	struct host *host;
	struct sampling *sampling;
	struct snapshot *snapshot;
};

static int make(void **state)
{
	struct setting *setting = calloc(1, sizeof(*setting));
	char from[PATH_MAX];
	int status;
	pid_t pid;

	assert_non_null(setting);
	tree_make(&setting->tree);
	snprintf(from, sizeof(from), "%s/roots/debian-6.12/.", getenv("TASKSCOPE_TEST_DATA"));
	pid = fork();
	if (pid == 0) {
		execlp("cp", "cp", "-R", from, setting->tree.root, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	*state = setting;
	return 0;
}

static int forget(void **state)
{
	struct setting *setting = *state;

	snapshot_free(setting->snapshot);
	sampling_close(setting->sampling);
	host_close(setting->host);
	tree_remove(&setting->tree);
	free(setting);
	return 0;
}

static void add_device(struct setting *setting, const char *node, const char *slot,
		       const char *driver)
{
	char path[PATH_MAX], text[256], full[TREE_PATH];

	snprintf(path, sizeof(path), "sys/devices/%s/uevent", slot);
	snprintf(text, sizeof(text), "DRIVER=%s\nPCI_CLASS=30000\nPCI_SLOT_NAME=%s\n", driver,
		 slot);
	tree_text(&setting->tree, path, text);
	/* As in sys: links that stay below it. */
	snprintf(path, sizeof(path), "sys/devices/%s/drm/%s", slot, node);
	tree_directory(&setting->tree, path);
	tree_directory(&setting->tree, "sys/class/drm");
	snprintf(path, sizeof(path), "sys/devices/%s/drm/%s/device", slot, node);
	tree_path(&setting->tree, path, full);
	assert_int_equal(symlink("../..", full), 0);
	snprintf(path, sizeof(path), "sys/class/drm/%s", node);
	tree_path(&setting->tree, path, full);
	snprintf(text, sizeof(text), "../../devices/%s/drm/%s", slot, node);
	assert_int_equal(symlink(text, full), 0);
}

static void write_client(struct setting *setting, int pid, int fd, unsigned id, uint64_t render_ns,
			 unsigned vram_kib)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", pid, fd);
	snprintf(text, sizeof(text),
		 "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t430\ndrm-driver:\tamdgpu\n"
		 "drm-client-id:\t%u\ndrm-pdev:\t0000:03:00.0\npasid:\t32770\n"
		 "drm-memory-vram:\t%u KiB\ndrm-memory-gtt: \t1024 KiB\ndrm-memory-cpu: \t0 KiB\n"
		 "drm-engine-gfx:\t%llu ns\ndrm-engine-capacity-gfx:\t2\ndrm-engine-enc:\t5 ns\n",
		 id, vram_kib, (unsigned long long)render_ns);
	tree_text(&setting->tree, path, text);
}

static void take(struct setting *setting)
{
	const struct capture_options options = { .lister = LIST_PROCFS, .gpu = true };
	struct error error = { 0 };

	if (!setting->sampling) {
		assert_int_equal(host_open(&setting->host, setting->tree.root, &error), 0);
		assert_int_equal(sampling_open(setting->host, &options, &setting->sampling, &error),
				 0);
	}
	snapshot_free(setting->snapshot);
	setting->snapshot = NULL;
	assert_int_equal(sampling_take(setting->sampling, &setting->snapshot, &error), 0);
}

static bool cell(const struct setting *setting, enum metric_id id, int pid, uint64_t *ret)
{
	int64_t row = snapshot_find_process(setting->snapshot, pid);

	assert_true(row >= 0);
	return snapshot_get(setting->snapshot, id, (uint32_t)row, ret);
}

static void assert_cell(const struct setting *setting, enum metric_id id, int pid,
			uint64_t expected)
{
	uint64_t value = 0;

	assert_true(cell(setting, id, pid, &value));
	assert_int_equal(value, expected);
}

static const struct source_report *source(const struct setting *setting)
{
	for (size_t i = 0; i < setting->snapshot->source_count; i++)
		if (strcmp(setting->snapshot->sources[i].name, "gpu") == 0)
			return &setting->snapshot->sources[i];
	fail();
	return NULL;
}

static void a_client_counts_once_and_processes_add_up(void **state)
{
	struct setting *setting = *state;
	uint64_t value;

	add_device(setting, "renderD128", "0000:03:00.0", "amdgpu");
	write_client(setting, ONE, 3, 7, 1000, 2048);
	write_client(setting, ONE, 4, 7, 1000, 2048); /* a copy of the descriptor */
	write_client(setting, ONE, 5, 8, 100, 1024);
	write_client(setting, OTHER, 3, 7, 1000, 2048); /* inherited from the other */
	write_client(setting, OTHER, 9, 10, 30, 0);
	tree_text(&setting->tree, "proc/150/fdinfo/0", "pos:\t0\nflags:\t0100000\n");
	take(setting);
	assert_cell(setting, METRIC_gpu_memory_bytes, ONE, 5 * MIB);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1110);
	assert_cell(setting, METRIC_gpu_memory_bytes, OTHER, 1 * MIB);
	assert_cell(setting, METRIC_gpu_time_ns, OTHER, 35);
	assert_false(cell(setting, METRIC_gpu_memory_bytes, 1, &value));
	assert_string_equal(setting->snapshot->columns[METRIC_gpu_memory_bytes].absent,
			    "processes that use no GPU have none");
	assert_string_equal(setting->snapshot->columns[METRIC_gpu_busy_percent].absent,
			    "only NVIDIA's driver tells it: see gpu_time_ns");
	assert_string_equal(source(setting)->reason, "sys and fdinfo tell of 1 GPU");
}

static void what_a_closed_client_did_stays_with_its_process(void **state)
{
	struct setting *setting = *state;

	add_device(setting, "renderD128", "0000:03:00.0", "amdgpu");
	write_client(setting, ONE, 3, 7, 1000, 2048);
	write_client(setting, ONE, 5, 8, 100, 1024);
	take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1110);
	tree_unlink(&setting->tree, "proc/150/fdinfo/3");
	write_client(setting, ONE, 5, 8, 150, 1024);
	take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1160);
	assert_cell(setting, METRIC_gpu_memory_bytes, ONE, 2 * MIB);
	tree_unlink(&setting->tree, "proc/150/fdinfo/5");
	for (int i = 0; i < 10; i++)
		take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1160);
	/* A process that opens a GPU later is found, at the latest when it is its turn. */
	write_client(setting, OTHER, 3, 9, 70, 0);
	for (int i = 0; i < 8; i++)
		take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, OTHER, 75);
}

static void a_client_that_cannot_be_read_for_once_counts_once(void **state)
{
	struct setting *setting = *state;
	char path[TREE_PATH];

	add_device(setting, "renderD128", "0000:03:00.0", "amdgpu");
	write_client(setting, ONE, 3, 7, 1000, 2048);
	take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1005);
	tree_unlink(&setting->tree, "proc/150/fdinfo/3");
	tree_directory(&setting->tree, "proc/150/fdinfo/3");
	take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1005);
	tree_path(&setting->tree, "proc/150/fdinfo/3", path);
	assert_int_equal(rmdir(path), 0);
	write_client(setting, ONE, 3, 7, 1200, 2048);
	take(setting);
	assert_cell(setting, METRIC_gpu_time_ns, ONE, 1205);
}

static void sys_tells_of_the_device(void **state)
{
	struct setting *setting = *state;
	const struct sheet *sheet;
	uint64_t value;

	add_device(setting, "renderD128", "0000:03:00.0", "amdgpu");
	add_device(setting, "renderD129", "0000:00:02.0", "i915");
	add_device(setting, "renderD130", "0000:09:00.0", "nvidia");
	tree_text(&setting->tree, "sys/devices/0000:03:00.0/gpu_busy_percent", "41\n");
	tree_text(&setting->tree, "sys/devices/0000:03:00.0/mem_info_vram_used", "1048576\n");
	tree_text(&setting->tree, "sys/devices/0000:03:00.0/mem_info_vram_total", "8589934592\n");
	tree_text(&setting->tree, "sys/devices/0000:03:00.0/hwmon/hwmon3/temp1_input", "52000\n");
	tree_text(&setting->tree, "sys/devices/0000:03:00.0/hwmon/hwmon3/power1_average",
		  "33000000\n");
	take(setting);
	sheet = &setting->snapshot->sheets[SHEET_HOST];
	assert_int_equal(column_get(sheet_find(sheet, "gpu 0000:03:00.0 busy"), 0, &value),
			 CELL_NUMBER);
	assert_int_equal(value, 4100);
	column_get(sheet_find(sheet, "gpu 0000:03:00.0 memory_used_bytes"), 0, &value);
	assert_int_equal(value, 1048576);
	column_get(sheet_find(sheet, "gpu 0000:03:00.0 temperature_celsius"), 0, &value);
	assert_int_equal(value, 52);
	column_get(sheet_find(sheet, "gpu 0000:03:00.0 power_milliwatts"), 0, &value);
	assert_int_equal(value, 33000);
	assert_string_equal(sheet_find(sheet, "gpu 0000:00:02.0 busy")->absent,
			    "this driver does not report it");
	assert_null(sheet_find(sheet, "gpu 0000:09:00.0 name"));
	assert_string_equal(source(setting)->reason, "sys and fdinfo tell of 2 GPUs");
}

static void without_a_gpu_nothing_is_searched(void **state)
{
	struct setting *setting = *state;

	write_client(setting, ONE, 3, 7, 1000, 2048);
	take(setting);
	assert_string_equal(setting->snapshot->columns[METRIC_gpu_memory_bytes].absent,
			    "not in the recorded tree");
	assert_int_equal(source(setting)->state, SOURCE_UNAVAILABLE);
}

static void the_best_word_for_memory_counts(void **state)
{
	struct drm_client client;

	(void)state;
	assert_true(drm_fdinfo_parse("drm-driver: i915\ndrm-client-id: 5\n"
				     "drm-total-system0: 100 KiB\ndrm-resident-system0: 40 KiB\n"
				     "drm-shared-system0: 9 KiB\ndrm-total-local0: 2 MiB\n"
				     "drm-engine-render: 18446744073709551615 ns\n"
				     "drm-engine-copy: 18446744073709551615 ns\n",
				     &client));
	assert_int_equal(client.memory_bytes, 2 * MIB + 40 * 1024);
	assert_true(client.time_ns == UINT64_MAX);
	assert_string_equal(client.device, "i915"); /* on no bus */
	assert_true(drm_fdinfo_parse("drm-driver:\txe\ndrm-client-id:\t5\ndrm-pdev:\t0000:00:02.0\n"
				     "drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t200\n",
				     &client));
	assert_false(client.has_time);
	assert_false(client.has_memory);
	assert_false(drm_fdinfo_parse("drm-driver: i915\n", &client));
	assert_false(drm_fdinfo_parse("drm-client-id: 4\n", &client));
	assert_false(drm_fdinfo_parse("drm-driver: i915\ndrm-client-id: x\n", &client));
	assert_false(drm_fdinfo_parse("", &client));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_client_counts_once_and_processes_add_up, make,
						forget),
		cmocka_unit_test_setup_teardown(what_a_closed_client_did_stays_with_its_process,
						make, forget),
		cmocka_unit_test_setup_teardown(a_client_that_cannot_be_read_for_once_counts_once,
						make, forget),
		cmocka_unit_test_setup_teardown(sys_tells_of_the_device, make, forget),
		cmocka_unit_test_setup_teardown(without_a_gpu_nothing_is_searched, make, forget),
		cmocka_unit_test(the_best_word_for_memory_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

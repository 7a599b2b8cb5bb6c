/* SPDX-License-Identifier: MIT */
/* GPUs, as stand-ins for NVIDIA's library and nvidia-smi tell of them (tests/unit/gpu), and as they fail to. */
#include <errno.h>
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
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/gpu/gpu.h"
#include "host/gpu/gpu_error.h"
#include "host/gpu/nvidia_smi.h"
#include "host/gpu/nvml.h"
#include "host/confine/trusted_file.h"
#include "patience.h"

#define GIB (UINT64_C(1) << 30)

static char place[PATH_MAX]; /* of the stand-ins, where nobody else can write to */
static time_t later;	     /* seconds that have passed for taskscope alone */

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int status = __real_clock_gettime(clock, ret);

	ret->tv_sec += later;
	return status;
}

static void run_program(char *const *arguments)
{
	pid_t pid = fork();
	int state;

	if (pid == 0) {
		execvp(arguments[0], arguments);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &state, 0), pid);
	assert_int_equal(state, 0);
}

static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
}

static struct gpu *open_gpu(const char *name)
{
	char path[2 * PATH_MAX];
	struct gpu *gpu;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	setenv("TASKSCOPE_GPU_PATH", path, 1);
	assert_int_equal(gpu_open(&gpu), 0);
	return gpu;
}

static void close_gpu(struct gpu *gpu)
{
	gpu_close(gpu);
	assert_no_children();
}

static const struct gpu_report *ask(struct gpu *gpu)
{
	gpu_ask(gpu);
	return gpu_take(gpu, HANG_MS);
}

/* What the stand-in says about processes of the first GPU. */
static void write_processes(const char *name, const char *lines)
{
	char path[2 * PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s/processes", place, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(lines, out);
	fclose(out);
}

static void assert_value(const struct gpu_device *device, enum gpu_value id, uint64_t expected)
{
	assert_int_equal(device->values[id].error, 0);
	assert_int_equal(device->values[id].value, expected);
}

static void two_gpus_are_asked_again_and_again_by_one_helper(void **state)
{
	struct gpu *gpu = open_gpu("two");
	const struct gpu_report *report;

	(void)state;
	write_processes("two", "4242 1073741824 30\n4243 5 0\n");
	for (int i = 0; i < 3; i++) {
		report = ask(gpu);
		assert_non_null(report);
		assert_int_equal(report->device_count, 2);
		assert_string_equal(report->devices[1].name, "Pretend 1");
		/* Initialised once. */
		assert_string_equal(report->devices[1].uuid, "GPU-1-of-1");
		assert_value(&report->devices[0], GPU_busy, 4000);
		assert_value(&report->devices[1], GPU_busy, 9000);
		assert_value(&report->devices[1], GPU_memory_busy, 700);
		assert_value(&report->devices[1], GPU_memory_used_bytes, 4 * GIB + 1);
		assert_value(&report->devices[1], GPU_memory_total_bytes, 16 * GIB);
		assert_value(&report->devices[1], GPU_temperature_celsius, 51);
		assert_value(&report->devices[1], GPU_power_milliwatts, 61001);
		assert_value(&report->devices[1], GPU_sm_clock_mhz, 1401);
		assert_value(&report->devices[1], GPU_memory_clock_mhz, 1201);
		assert_int_equal(report->process_count, 2);
		assert_int_equal(report->processes[0].pid, 4242);
		assert_int_equal(report->processes[0].memory_bytes.value, GIB);
		assert_int_equal(report->processes[0].busy_percent.value, 30);
		/* It has memory, and did not compute: that was measured. */
		assert_int_equal(report->processes[1].busy_percent.error, 0);
		assert_int_equal(report->processes[1].busy_percent.value, 0);
		assert_null(gpu_take(gpu, 0)); /* each answer is given once */
	}
	assert_string_equal(gpu_way(gpu), "NVML");
	close_gpu(gpu);
}

static void without_either_there_is_a_reason(void **state)
{
	struct gpu *gpu = open_gpu("empty");

	(void)state;
	assert_null(ask(gpu));
	assert_null(gpu_way(gpu));
	assert_string_equal(gpu_reason(gpu), "NVML is not installed (libnvidia-ml.so.1); "
					     "nvidia-smi is not installed");
	close_gpu(gpu);
}

static void assert_reason(const char *name, const char *expected)
{
	struct gpu *gpu = open_gpu(name);

	assert_null(ask(gpu));
	if (!strstr(gpu_reason(gpu), expected))
		fail_msg("%s: %s", name, gpu_reason(gpu));
	close_gpu(gpu);
}

static void what_keeps_a_library_from_answering_is_said(void **state)
{
	(void)state;
	assert_reason("init-error", "NVML: the NVIDIA driver is not loaded");
	assert_reason("all-lost", "NVML: the GPU is lost: it has fallen off the bus");
	assert_reason("missing-init", "NVML: this version of NVML does not have it");
	assert_reason("no-library", "NVML: the library could not be loaded");
}

static void a_library_that_ends_its_helper_is_tried_a_few_times(void **state)
{
	struct gpu *gpu = open_gpu("ends");

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_null(ask(gpu));
	assert_non_null(strstr(gpu_reason(gpu), "the NVML helper crashed, 3 times"));
	assert_null(gpu_way(gpu));
	close_gpu(gpu);
}

static void a_crash_costs_one_answer(void **state)
{
	struct gpu *gpu = open_gpu("crashes");

	(void)state;
	assert_non_null(ask(gpu));
	assert_null(ask(gpu));
	assert_string_equal(gpu_reason(gpu), "the NVML helper crashed");
	assert_non_null(ask(gpu));
	close_gpu(gpu);
}

static void a_value_that_there_is_not_has_a_reason(void **state)
{
	struct gpu *gpu = open_gpu("unsupported");
	const struct gpu_report *report;

	(void)state;
	write_processes("unsupported", "4242 5 30\n");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->devices[0].values[GPU_power_milliwatts].error,
			 GPU_ERROR_NOT_SUPPORTED);
	assert_value(&report->devices[0], GPU_temperature_celsius, 50);
	assert_int_equal(report->devices[0].busy_error, GPU_ERROR_NOT_SUPPORTED);
	assert_int_equal(report->processes[0].memory_bytes.value, 5);
	assert_int_not_equal(report->processes[0].busy_percent.error, 0);
	close_gpu(gpu);
	gpu = open_gpu("missing-symbols");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->devices[0].values[GPU_power_milliwatts].error,
			 GPU_ERROR_FUNCTION_NOT_FOUND);
	assert_int_equal(report->devices[0].busy_error, GPU_ERROR_FUNCTION_NOT_FOUND);
	close_gpu(gpu);
}

static void a_lost_device_costs_its_own_values(void **state)
{
	struct gpu *gpu = open_gpu("lost");
	const struct gpu_report *report = ask(gpu);

	(void)state;
	assert_non_null(report);
	assert_int_equal(report->device_count, 2);
	assert_value(&report->devices[0], GPU_busy, 4000);
	for (int id = 0; id < GPU_VALUE_COUNT; id++)
		assert_int_equal(report->devices[1].values[id].error, GPU_ERROR_IS_LOST);
	close_gpu(gpu);
}

static void lists_of_other_versions_and_sizes(void **state)
{
	struct gpu *gpu = open_gpu("first-version");
	const struct gpu_report *report;

	(void)state;
	write_processes("first-version", "4242 5 30\n4243 6 0\n");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->process_count, 2);
	assert_int_equal(report->processes[1].pid, 4243);
	assert_int_equal(report->processes[1].memory_bytes.value, 6);
	close_gpu(gpu);
	/* Records of another size than the function's name says. */
	gpu = open_gpu("wrong-size");
	write_processes("wrong-size", "4242 5 0\n4243 6 0\n4244 7 0\n");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->devices[0].processes_error, GPU_ERROR_NONSENSE);
	assert_int_equal(report->process_count, 0);
	close_gpu(gpu);
	gpu = open_gpu("too-small");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->devices[0].processes_error, GPU_ERROR_INSUFFICIENT_SIZE);
	assert_value(&report->devices[0], GPU_busy, 4000);
	close_gpu(gpu);
}

static void numbers_that_cannot_be_true_are_absent(void **state)
{
	struct gpu *gpu = open_gpu("wild");
	const struct gpu_report *report = ask(gpu);

	(void)state;
	assert_non_null(report);
	assert_int_equal(report->devices[0].values[GPU_busy].error, GPU_ERROR_NONSENSE);
	assert_int_equal(report->devices[0].values[GPU_memory_used_bytes].error,
			 GPU_ERROR_NONSENSE);
	assert_value(&report->devices[0], GPU_memory_total_bytes, 16 * GIB);
	close_gpu(gpu);
	gpu = open_gpu("wrong-count");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->device_count, GPU_DEVICES_MAX);
	assert_int_equal(report->devices_left_out, 4000000000u - GPU_DEVICES_MAX);
	close_gpu(gpu);
	gpu = open_gpu("long-list");
	report = ask(gpu);
	assert_non_null(report);
	assert_int_equal(report->devices[0].processes_error, GPU_ERROR_NONSENSE);
	assert_int_equal(report->process_count, 0);
	close_gpu(gpu);
}

static void a_report_that_was_made_up_is_refused(void **state)
{
	static struct gpu_report report;

	(void)state;
	report = (struct gpu_report){ .device_count = GPU_DEVICES_MAX + 1 };
	assert_false(gpu_report_check(&report));
	report = (struct gpu_report){ .process_count = GPU_PROCESSES_MAX + 1 };
	assert_false(gpu_report_check(&report));
	report = (struct gpu_report){ .device_count = 1, .process_count = 1 };
	report.processes[0] = (struct gpu_process){ .pid = 1, .device = 1 };
	assert_false(gpu_report_check(&report));
	report.processes[0].device = 0;
	report.processes[0].busy_percent.value = 101;
	memset(report.devices[0].name, 'x', GPU_TEXT_SIZE);
	assert_true(gpu_report_check(&report));
	assert_int_equal(report.processes[0].busy_percent.error, GPU_ERROR_NONSENSE);
	assert_int_equal(strlen(report.devices[0].name), GPU_TEXT_SIZE - 1);
}

static void a_driver_that_hangs_is_waited_for_once(void **state)
{
	struct gpu *gpu = open_gpu("hangs");

	(void)state;
	gpu_ask(gpu);
	assert_null(gpu_take(gpu, 1));
	assert_string_equal(gpu_reason(gpu), "the driver has not answered yet");
	gpu_ask(gpu);
	assert_null(gpu_take(gpu, HANG_MS)); /* returns at once, or else it would be given up */
	assert_string_equal(gpu_reason(gpu), "the driver has not answered yet");
	for (int i = 0; i < 3; i++) {
		later += 20;
		gpu_ask(gpu);
		assert_null(gpu_take(gpu, 0));
	}
	assert_non_null(strstr(gpu_reason(gpu), "the driver did not answer within 10 s, 3 times"));
	assert_no_children();
	close_gpu(gpu);
}

static void a_slow_answer_is_taken_at_a_later_question(void **state)
{
	struct gpu *gpu = open_gpu("slow");
	const struct gpu_report *report;

	(void)state;
	gpu_ask(gpu);
	assert_null(gpu_take(gpu, 1));
	WAIT_UNTIL((gpu_ask(gpu), report = gpu_take(gpu, HANG_MS)));
	assert_int_equal(report->device_count, 2);
	close_gpu(gpu);
}

static void the_library_sees_nothing_of_ours(void **state)
{
	struct gpu *gpu = open_gpu("nosy");
	const struct gpu_report *report;
	char expected[128];

	(void)state;
	setenv("LD_LIBRARY_PATH", "/tmp", 1);
	report = ask(gpu);
	assert_non_null(report);
	/* The standard streams, the socket, the library. */
	snprintf(expected, sizeof(expected), "nothing files 5 in / as %u", (unsigned)geteuid());
	assert_string_equal(report->devices[0].name, expected);
	close_gpu(gpu);
	unsetenv("LD_LIBRARY_PATH");
}

static void what_others_can_change_is_not_run(void **state)
{
	char path[2 * PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/two/libnvidia-ml.so.1.0", place);
	assert_int_equal(chmod(path, 0775), 0);
	assert_reason("two", "NVML is not used: others can change libnvidia-ml.so.1");
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/two", place);
	assert_int_equal(chmod(path, 01777), 0);
	assert_reason("two", "NVML is not used: others can change libnvidia-ml.so.1");
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/smi/nvidia-smi", place);
	assert_int_equal(chmod(path, 0777), 0);
	assert_reason("smi", "nvidia-smi is not used: others can change it");
	assert_int_equal(chmod(path, 0755), 0);
}

static void nvidia_smi_is_asked_where_nvml_does_not_work(void **state)
{
	static const char *const names[] = { "smi", "init-error-and-smi" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct gpu *gpu = open_gpu(names[i]);
		const struct gpu_report *report = ask(gpu);

		assert_non_null(report);
		assert_string_equal(gpu_way(gpu), "nvidia-smi");
		assert_int_equal(report->device_count, 2);
		assert_string_equal(report->devices[0].name, "Pretend 0");
		assert_value(&report->devices[0], GPU_busy, 4100);
		assert_value(&report->devices[0], GPU_memory_used_bytes, 4 * GIB);
		assert_value(&report->devices[0], GPU_power_milliwatts, 61250);
		assert_int_equal(report->devices[1].values[GPU_memory_busy].error,
				 GPU_ERROR_NOT_SUPPORTED);
		assert_int_equal(report->devices[1].values[GPU_power_milliwatts].error,
				 GPU_ERROR_UNKNOWN);
		assert_int_equal(report->process_count, 1);
		assert_int_equal(report->processes[0].pid, getpid());
		assert_int_equal(report->processes[0].memory_bytes.value, GIB);
		assert_int_equal(report->processes[0].busy_percent.error, GPU_ERROR_NOT_ASKED);
		assert_non_null(ask(gpu));
		close_gpu(gpu);
	}
}

static void nvidia_smi_that_fails_says_why(void **state)
{
	struct gpu *gpu;

	(void)state;
	assert_reason("smi-fails", "nvidia-smi: the NVIDIA driver is not loaded");
	assert_reason("smi-garbage", "nvidia-smi: the driver's answer cannot be true");
	gpu = open_gpu("smi-lost");
	assert_int_equal(ask(gpu)->device_count, 1);
	gpu_ask(gpu);
	assert_int_equal(gpu_take(gpu, HANG_MS)->left_out_error, GPU_ERROR_IS_LOST);
	close_gpu(gpu);
}

static void nvidia_smi_that_does_not_end_is_ended(void **state)
{
	static const char *const names[] = { "smi-hangs", "smi-endless" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct gpu *gpu = open_gpu(names[i]);

		gpu_ask(gpu);
		assert_null(gpu_take(gpu, 1));
		later += 20;
		gpu_ask(gpu);
		assert_null(gpu_way(gpu));
		assert_no_children();
		close_gpu(gpu);
	}
}

static void lines_of_nvidia_smi(void **state)
{
	static struct gpu_report report;
	char devices[] = "A B, GPU-a, 1, 2, 3, 4, 5, 6.5, 7, 8\r\n\n"
			 "C, GPU-c, -1, 101, 18446744073709551615, x, 5, 6.5678, 7, 1e9\n"
			 "too, few, 1\n"
			 "a, b, 1, 2, 3, 4, 5, 6, 7, 8, 9\n";
	char processes[] = "GPU-a, 7, 2\nGPU-b, 7, 2\nGPU-c, 0, 2\nGPU-c, 9, [N/A]\nnothing\n";

	(void)state;
	assert_int_equal(nvidia_smi_parse_devices(devices, &report), 2);
	assert_int_equal(report.device_count, 2);
	assert_string_equal(report.devices[0].name, "A B");
	assert_value(&report.devices[0], GPU_power_milliwatts, 6500);
	assert_value(&report.devices[0], GPU_memory_clock_mhz, 8);
	assert_value(&report.devices[1], GPU_power_milliwatts, 6567);
	assert_int_equal(report.devices[1].values[GPU_busy].error, GPU_ERROR_NONSENSE);
	assert_int_equal(report.devices[1].values[GPU_memory_busy].error, GPU_ERROR_NONSENSE);
	assert_int_equal(report.devices[1].values[GPU_memory_used_bytes].error, GPU_ERROR_NONSENSE);
	assert_int_equal(report.devices[1].values[GPU_memory_clock_mhz].error, GPU_ERROR_NONSENSE);
	assert_int_equal(nvidia_smi_parse_processes(processes, &report), 3);
	assert_int_equal(report.process_count, 2);
	assert_int_equal(report.processes[0].memory_bytes.value, 2 << 20);
	assert_int_equal(report.processes[1].device, 1);
	assert_int_equal(report.processes[1].memory_bytes.error, GPU_ERROR_NOT_SUPPORTED);
}

static void every_error_has_words(void **state)
{
	(void)state;
	for (uint32_t error = 1; error < 30; error++)
		assert_true(strlen(gpu_error_words(error)) > 10);
	assert_string_equal(gpu_error_words(12345), "the driver reports an unknown error");
}

static bool is_trusted(const char *directory)
{
	char path[2 * PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/two/libnvidia-ml.so.1.0", directory);
	fd = trusted_file_open(path, NULL);
	close(fd);
	return fd >= 0;
}

/* Others can write to a directory above some builds: what is to be run has a place of its own. */
static int find_place(void **state)
{
	(void)state;
	snprintf(place, sizeof(place), "%s",
		 geteuid() ? getenv("TASKSCOPE_TEST_GPU") : "/var/lib/taskscope-test-gpu.XXXXXX");
	if (geteuid())
		return 0;
	assert_non_null(mkdtemp(place));
	assert_int_equal(chmod(place, 0755), 0);
	run_program((char *[]){ "cp", "-RT", getenv("TASKSCOPE_TEST_GPU"), place, NULL });
	run_program((char *[]){ "chmod", "-R", "go-w", place, NULL });
	return 0;
}

static int leave_place(void **state)
{
	(void)state;
	if (!geteuid())
		run_program((char *[]){ "rm", "-r", place, NULL });
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_gpus_are_asked_again_and_again_by_one_helper),
		cmocka_unit_test(without_either_there_is_a_reason),
		cmocka_unit_test(what_keeps_a_library_from_answering_is_said),
		cmocka_unit_test(a_library_that_ends_its_helper_is_tried_a_few_times),
		cmocka_unit_test(a_crash_costs_one_answer),
		cmocka_unit_test(a_value_that_there_is_not_has_a_reason),
		cmocka_unit_test(a_lost_device_costs_its_own_values),
		cmocka_unit_test(lists_of_other_versions_and_sizes),
		cmocka_unit_test(numbers_that_cannot_be_true_are_absent),
		cmocka_unit_test(a_report_that_was_made_up_is_refused),
		cmocka_unit_test(a_driver_that_hangs_is_waited_for_once),
		cmocka_unit_test(a_slow_answer_is_taken_at_a_later_question),
		cmocka_unit_test(the_library_sees_nothing_of_ours),
		cmocka_unit_test(what_others_can_change_is_not_run),
		cmocka_unit_test(nvidia_smi_is_asked_where_nvml_does_not_work),
		cmocka_unit_test(nvidia_smi_that_fails_says_why),
		cmocka_unit_test(nvidia_smi_that_does_not_end_is_ended),
		cmocka_unit_test(lines_of_nvidia_smi),
		cmocka_unit_test(every_error_has_words),
	};

	if (geteuid() != 0 && !is_trusted(getenv("TASKSCOPE_TEST_GPU"))) {
		printf("1..0 # SKIP others can write to a directory above the build\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, find_place, leave_place);
}

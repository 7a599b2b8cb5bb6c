/* SPDX-License-Identifier: MIT */
#include "hand_run.h"

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"

#define RUN(ms) CLEANUP(run_free_pointer) struct run *run = hand_run(ms)
#define THREAD(...) hand_thread(run, &(struct hand_thread){ __VA_ARGS__ })

static struct syscall_analysis analyze(struct run *run)
{
	struct diagnosis diagnosis;

	hand_sum_up(run);
	diagnose(run, &diagnosis);
	return diagnosis.syscalls;
}

static bool indicates(const struct syscall_analysis *analysis, const char *name)
{
	for (size_t i = 0; i < analysis->indicator_count; i++)
		if (strcmp(analysis->indicators[i], name) == 0)
			return true;
	return false;
}

static void time_in_file_calls_makes_it_io_bound(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 300, .kernel = 200, .waits = { { WAIT_DISK, 600, 9, 0 } },
	       .calls = { { "read", 5000, 700, 0, 0 }, { "mmap", 5000, 100, 0, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.basis, BASIS_LATENCY);
	assert_int_equal(analysis.behavior, CLASS_IO_BOUND);
	assert_float_equal(analysis.io_intensity, 0.875, 0.001);
	assert_float_equal(analysis.memory_intensity, 0.125, 0.001);
	assert_float_equal(analysis.syscall_rate_per_sec, 10000, 0.1);
	assert_string_equal(analysis.workload_type, "file_io_intensive");
	assert_float_equal(analysis.bottleneck_likelihood, 0.8, 0.001);
	assert_int_equal(analysis.hint_count, 3);
	assert_true(indicates(&analysis, "high_file_io"));
	assert_true(indicates(&analysis, "very_high_syscall_rate"));
	assert_true(indicates(&analysis, "frequent_memory_management"));
	assert_true(indicates(&analysis, "io_memory_contention"));
	assert_false(indicates(&analysis, "cpu_intensive"));
}

static void time_that_waits_for_work_is_no_intensity(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 300, .kernel = 200, .waits = { { WAIT_POLL, 600, 9, 0 } },
	       .calls = { { "epoll_wait", 100, 610, 0, 0 },
			  { "recvfrom", 5000, 90, 0, 0 },
			  { "accept4", 10, 300, 0, 0 },
			  { "read", 5000, 10, 0, 0 } });
	analysis = analyze(run);
	assert_float_equal(analysis.network_intensity, 0.9, 0.001);
	assert_true(indicates(&analysis, "high_network_activity"));
}

static void memory_calls_make_it_memory_bound(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 990, .kernel = 800,
	       .calls = { { "mmap", 90000, 600, 0, 0 }, { "read", 9000, 20, 0, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.behavior, CLASS_MEMORY_BOUND);
	assert_string_equal(analysis.workload_type, "memory_intensive");
	assert_float_equal(analysis.bottleneck_likelihood, 0.75, 0.001);
}

static void a_few_calls_beside_much_computing_are_cpu_bound(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 990, .kernel = 10, .calls = { { "read", 90, 5, 0, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.behavior, CLASS_CPU_BOUND);
	assert_string_equal(analysis.workload_type, "cpu_intensive");
	assert_float_equal(analysis.bottleneck_likelihood, 0.7, 0.001);
	assert_float_equal(analysis.cpu_intensity, 0.99, 0.001);
	assert_true(indicates(&analysis, "cpu_intensive"));
}

static void the_behaviour_is_what_the_verdict_says(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 100, .kernel = 80, .waits = { { WAIT_LOCK, 880, 90, 0 } },
	       .calls = { { "read", 900, 70, 0, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.behavior, CLASS_MIXED);
	assert_float_equal(analysis.bottleneck_likelihood, 0.5, 0.001);
}

static void an_idle_program_is_unknown(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 2, .kernel = 1, .waits = { { WAIT_TIMER, 990, 9, 0 } },
	       .calls = { { "nanosleep", 9, 991, 0, 0 }, { "read", 200, 1, 0, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.behavior, CLASS_UNKNOWN);
	assert_string_equal(analysis.workload_type, "unknown");
	assert_float_equal(analysis.bottleneck_likelihood, 0, 0.001);
	assert_int_equal(analysis.hint_count, 0);
}

static void counts_stand_in_where_time_is_not_known(void **state)
{
	struct syscall_analysis analysis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 300,
	       .calls = { { "read", 700, 0, 0, 0 },
			  { "mmap", 200, 0, 0, 0 },
			  { "getpid", 100, 0, 0, 0 } });
	analysis = analyze(run);
	assert_int_equal(analysis.basis, BASIS_COUNTS);
	assert_float_equal(analysis.io_intensity, 0.7, 0.001);
	assert_int_equal(analysis.behavior, CLASS_IO_BOUND);
}

static void assert_insufficient(struct run *run)
{
	struct syscall_analysis analysis = analyze(run);

	assert_int_equal(analysis.basis, BASIS_NONE);
	assert_int_equal(analysis.behavior, CLASS_UNKNOWN);
	assert_string_equal(analysis.workload_type, "insufficient_data");
	assert_int_equal(analysis.indicator_count, 0);
	assert_float_equal(analysis.syscall_rate_per_sec, 0, 0.001);
}

static void without_calls_the_data_is_insufficient(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 300);
	assert_insufficient(run);
}

static void in_less_than_a_tenth_of_a_second_the_data_is_insufficient(void **state)
{
	RUN(99);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 90, .calls = { { "read", 7000, 80, 0, 0 } });
	assert_insufficient(run);
}

static enum run_class class_of(const char *name, uint64_t count, uint64_t others)
{
	RUN(1000);

	THREAD(.pid = 10, .on_cpu = 300,
	       .calls = { { name, count, 0, 0, 0 }, { "getpid", others, 0, 0, 0 } });
	return analyze(run).behavior;
}

static void exactly_as_much_is_not_more(void **state)
{
	(void)state;
	assert_int_equal(class_of("read", 70, 31), CLASS_IO_BOUND);
	assert_int_not_equal(class_of("read", 70, 30), CLASS_IO_BOUND);
	assert_int_equal(class_of("read", 601, 399), CLASS_IO_BOUND);
	assert_int_not_equal(class_of("read", 600, 400), CLASS_IO_BOUND);
	assert_int_equal(class_of("recvfrom", 401, 599), CLASS_NETWORK_BOUND);
	assert_int_not_equal(class_of("recvfrom", 400, 600), CLASS_NETWORK_BOUND);
	assert_int_equal(class_of("mmap", 301, 699), CLASS_MEMORY_BOUND);
	assert_int_not_equal(class_of("mmap", 300, 700), CLASS_MEMORY_BOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_in_file_calls_makes_it_io_bound),
		cmocka_unit_test(time_that_waits_for_work_is_no_intensity),
		cmocka_unit_test(memory_calls_make_it_memory_bound),
		cmocka_unit_test(a_few_calls_beside_much_computing_are_cpu_bound),
		cmocka_unit_test(the_behaviour_is_what_the_verdict_says),
		cmocka_unit_test(an_idle_program_is_unknown),
		cmocka_unit_test(counts_stand_in_where_time_is_not_known),
		cmocka_unit_test(without_calls_the_data_is_insufficient),
		cmocka_unit_test(in_less_than_a_tenth_of_a_second_the_data_is_insufficient),
		cmocka_unit_test(exactly_as_much_is_not_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpulist.h"
#include "collect/proc/affinity.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_record.h"
#include "model/snapshot/snapshot.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

static struct task_fields task;
static struct group_fields group;
static struct delay_fields delay;
static struct stats_fields stats;
static struct name_fields name;
static uint64_t cpus[1];
static uint64_t online_words[1];
static struct cpuset online = { online_words, 1 };
static struct task_record record;
static struct task_decoder decoder;

/* A thread that leads its group; tests change what they are about. */
static int prepare(void **state)
{
	(void)state;
	task = (struct task_fields){ .present = ~0ull, .comm = "worker", .pid = 42, .tgid = 42 };
	group = (struct group_fields){ .present = ~0ull };
	delay = (struct delay_fields){ .present = ~0ull };
	stats = (struct stats_fields){ .present = ~0ull };
	name = (struct name_fields){ 0 };
	cpus[0] = 0xff;
	online_words[0] = 0x0f;
	record = (struct task_record){ .task = &task, .cpus = cpus, .group = &group };
	decoder = (struct task_decoder){
		.scale = { .tick_ns = 10 * MS, .page_bytes = 4096 },
		.boottime_ns = 100 * SECOND,
	};
	if (snapshot_new(&decoder.snapshot) < 0)
		return -1;
	decoder.affinity = affinity_lists_new(decoder.snapshot, &online, 1);
	return decoder.affinity ? 0 : -1;
}

static int tidy(void **state)
{
	(void)state;
	affinity_lists_free(decoder.affinity);
	snapshot_free(decoder.snapshot);
	return 0;
}

static void add(void)
{
	assert_int_equal(task_decoder_add(&decoder, &record, 0), 0);
}

/* The value of the latest task, or of the first process. */
static uint64_t value(enum metric_id id)
{
	bool is_thread = metrics[id].scope == METRIC_OF_THREAD;
	uint64_t found = 0;

	assert_true(snapshot_get(decoder.snapshot, id,
				 is_thread ? (uint32_t)decoder.snapshot->task_count - 1 : 0,
				 &found));
	return found;
}

static bool is_absent(enum metric_id id)
{
	bool is_thread = metrics[id].scope == METRIC_OF_THREAD;
	uint64_t found;

	return !snapshot_get(decoder.snapshot, id,
			     is_thread ? (uint32_t)decoder.snapshot->task_count - 1 : 0, &found);
}

static void members_become_the_metrics_of_their_rows(void **state)
{
	(void)state;
	task.nvcsw = 7;
	task.sum_exec_runtime = 123456789;
	task.pcount = 9;
	group.min_flt = 11;
	group.cutime = 25 * MS;
	group.fd_limit = 1024;
	group.euid = 1000;
	add();
	assert_int_equal(value(METRIC_voluntary_csw), 7);
	assert_int_equal(value(METRIC_run_time_ns), 123456789);
	assert_int_equal(value(METRIC_timeslices), 9);
	assert_int_equal(value(METRIC_cpu_delay_count), 9);
	assert_int_equal(value(METRIC_dead_minflt), 11);
	assert_int_equal(value(METRIC_child_utime_ns), 20 * MS);
	assert_int_equal(value(METRIC_fd_limit), 1024);
	assert_int_equal(value(METRIC_uid), 1000);
}

static void a_member_that_the_kernel_lacks_is_absent_and_says_so(void **state)
{
	(void)state;
	task.present &= ~(1ull << TASK_BIT_max_run_delay | 1ull << TASK_BIT_nvcsw);
	task.max_run_delay = 5;
	add();
	task_decoder_finish(&decoder);
	assert_true(is_absent(METRIC_cpu_delay_max_ns));
	assert_true(is_absent(METRIC_voluntary_csw));
	assert_string_equal(decoder.snapshot->columns[METRIC_cpu_delay_max_ns].absent,
			    "this kernel does not keep it");
	assert_null(decoder.snapshot->columns[METRIC_cpu_delay_min_ns].absent);
	/* Sections that no task had say nothing about the kernel. */
	assert_null(decoder.snapshot->columns[METRIC_blkio_delay_count].absent);
}

static void sections_that_a_task_lacks_leave_its_metrics_absent(void **state)
{
	(void)state;
	record.group = NULL;
	add();
	assert_true(is_absent(METRIC_blkio_delay_total_ns));
	assert_true(is_absent(METRIC_nr_wakeups));
	assert_true(is_absent(METRIC_voluntary_sleep_ns));
	assert_true(is_absent(METRIC_nr_threads));
	assert_true(is_absent(METRIC_dead_utime_ns));
	assert_true(is_absent(METRIC_hiwater_vm_bytes));
}

static void times_are_scaled_and_shown_in_whole_ticks(void **state)
{
	(void)state;
	task.utime = 96 * MS;
	task.stime = 64 * MS;
	task.sum_exec_runtime = 193400000;
	add();
	assert_int_equal(value(METRIC_utime_ns), 110 * MS); /* 116.04 */
	assert_int_equal(value(METRIC_stime_ns), 70 * MS);  /* 77.36 */

	task.present &= ~(1ull << TASK_BIT_prev_utime);
	add();
	assert_int_equal(value(METRIC_utime_ns), 90 * MS);
	assert_int_equal(value(METRIC_stime_ns), 60 * MS);
}

static void times_of_dead_threads_add_up_to_their_run_time(void **state)
{
	(void)state;
	group.utime = 30 * MS;
	group.stime = 10 * MS;
	group.sum_sched_runtime = 50 * MS + 3;
	add();
	assert_int_equal(value(METRIC_dead_run_time_ns), 50 * MS + 3);
	assert_int_equal(value(METRIC_dead_utime_ns) + value(METRIC_dead_stime_ns), 50 * MS + 3);
	assert_int_equal(value(METRIC_dead_stime_ns), 12500000);
}

static void priorities_are_those_of_proc(void **state)
{
	(void)state;
	task.prio = 120;
	task.static_prio = 115;
	add();
	assert_int_equal((int64_t)value(METRIC_priority), 20);
	assert_int_equal((int64_t)value(METRIC_nice), -5);
	task.prio = (uint64_t)-1;
	add();
	assert_int_equal((int64_t)value(METRIC_priority), -101);
}

static void the_state_is_a_letter(void **state)
{
	(void)state;
	task.state = 0x2001;
	add();
	assert_int_equal(value(METRIC_state), 'S');
}

static void only_fair_policies_have_a_slice(void **state)
{
	static const bool is_fair[] = { true, false, false, true, false, false, false, true };

	(void)state;
	task.slice = 3 * MS;
	for (uint64_t policy = 0; policy < sizeof(is_fair); policy++) {
		task.policy = policy;
		add();
		assert_int_equal(is_absent(METRIC_fair_slice_ns), !is_fair[policy]);
	}
}

static void start_times_are_whole_ticks_of_our_time_namespace(void **state)
{
	(void)state;
	task.start_boottime = 5 * SECOND + 19 * MS;
	add();
	assert_int_equal(decoder.snapshot->tasks[0].start_time_ns, 5 * SECOND + 10 * MS);
	assert_int_equal(decoder.snapshot->processes[0].start_time_ns, 5 * SECOND + 10 * MS);
	decoder.boottime_offset_ns = -2 * (int64_t)SECOND + 1 * (int64_t)MS;
	add();
	assert_int_equal(decoder.snapshot->tasks[1].start_time_ns, 3 * SECOND + 20 * MS);
}

static void offline_cpus_are_not_in_the_affinity(void **state)
{
	(void)state;
	add();
	assert_string_equal(snapshot_text(decoder.snapshot, (uint32_t)value(METRIC_cpu_affinity)),
			    "0-3");
	cpus[0] = 0x32;
	add();
	assert_string_equal(snapshot_text(decoder.snapshot, (uint32_t)value(METRIC_cpu_affinity)),
			    "1");
	cpus[0] = 0xff;
	add();
	assert_string_equal(snapshot_text(decoder.snapshot, (uint32_t)value(METRIC_cpu_affinity)),
			    "0-3");
}

static void many_different_masks_are_told_apart(void **state)
{
	(void)state;
	online_words[0] = ~0ull;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned cpu = 0; cpu < 64; cpu++) {
			char expected[8];

			cpus[0] = 1ull << cpu;
			add();
			snprintf(expected, sizeof(expected), "%u", cpu);
			assert_string_equal(snapshot_text(decoder.snapshot,
							  (uint32_t)value(METRIC_cpu_affinity)),
					    expected);
		}
	}
}

static void without_online_cpus_there_is_no_affinity(void **state)
{
	struct affinity_lists *kept = decoder.affinity;

	(void)state;
	decoder.affinity = NULL;
	add();
	decoder.affinity = kept;
	assert_true(is_absent(METRIC_cpu_affinity));
}

static void what_the_kernel_does_not_count_is_left_out(void **state)
{
	(void)state;
	record.delay = &delay;
	delay.irq_count = 0;
	delay.wpcopy_count = 2;
	decoder.withheld = 1u << GATE_IRQ_DELAY;
	add();
	assert_true(is_absent(METRIC_irq_delay_count));
	assert_true(is_absent(METRIC_irq_delay_total_ns));
	assert_int_equal(value(METRIC_wpcopy_delay_count), 2);
}

static void a_wait_longer_than_life_is_discarded_and_counted(void **state)
{
	(void)state;
	record.delay = &delay;
	task.start_boottime = 90 * SECOND;
	delay.blkio_count = 3;
	delay.blkio_delay = 95 * SECOND;
	delay.blkio_delay_max = 95 * SECOND;
	delay.swapin_delay = 10 * SECOND;
	add();
	assert_true(is_absent(METRIC_blkio_delay_total_ns));
	assert_true(is_absent(METRIC_blkio_delay_max_ns));
	assert_int_equal(value(METRIC_blkio_delay_count), 3);
	assert_int_equal(value(METRIC_swapin_delay_total_ns), 10 * SECOND);
	assert_int_equal(decoder.snapshot->tally.discarded_values, 2);
}

static void negative_statistics_are_dropped_and_counted(void **state)
{
	(void)state;
	record.stats = &stats;
	stats.sum_block_runtime = (uint64_t)-5;
	stats.sum_sleep_runtime = 10;
	stats.wait_max = 8;
	add();
	assert_true(is_absent(METRIC_block_sum));
	assert_true(is_absent(METRIC_voluntary_sleep_ns));
	assert_int_equal(value(METRIC_wait_max), 8);
	assert_int_equal(decoder.snapshot->tally.negative_dotted_values, 1);
	stats.sum_block_runtime = 5;
	stats.sum_sleep_runtime = (uint64_t)-10;
	add();
	assert_int_equal(decoder.snapshot->tally.negative_dotted_values, 2);
}

static void voluntary_sleep_is_sleep_without_blocking(void **state)
{
	(void)state;
	record.stats = &stats;
	stats.sum_sleep_runtime = 100;
	stats.sum_block_runtime = 30;
	add();
	assert_int_equal(value(METRIC_voluntary_sleep_ns), 70);
	assert_int_equal(value(METRIC_block_sum), 30);
	stats.sum_block_runtime = 130;
	add();
	assert_int_equal(value(METRIC_voluntary_sleep_ns), 0);
}

static void the_peak_of_an_address_space_is_not_below_its_size(void **state)
{
	(void)state;
	group.hiwater_vm = 10;
	group.total_vm = 12;
	group.hiwater_rss = 3;
	add();
	assert_int_equal(value(METRIC_hiwater_vm_bytes), 12 * 4096);
	assert_int_equal(value(METRIC_hiwater_rss_bytes), 3 * 4096);
}

static void the_peak_of_memory_is_not_below_what_is_held(void **state)
{
	(void)state;
	group.hiwater_rss = 3;
	group.rss = 5;
	add();
	assert_int_equal(value(METRIC_hiwater_rss_bytes), 5 * 4096);
	assert_int_equal(value(METRIC_rss_bytes), 5 * 4096);
}

static void a_task_without_memory_has_no_peaks(void **state)
{
	(void)state;
	group.present &= ~(1ull << GROUP_BIT_total_vm | 1ull << GROUP_BIT_hiwater_vm |
			   1ull << GROUP_BIT_hiwater_rss);
	add();
	assert_true(is_absent(METRIC_hiwater_vm_bytes));
	assert_true(is_absent(METRIC_hiwater_rss_bytes));
}

static void threads_share_the_row_of_their_process(void **state)
{
	const struct snapshot *snapshot = decoder.snapshot;

	(void)state;
	group.nr_threads = 2;
	add();
	record.group = NULL;
	task.pid = 43;
	memcpy(task.comm, "helper", 7);
	add();
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(snapshot->process_count, 1);
	assert_int_equal(snapshot->tasks[1].tid, 43);
	assert_int_equal(snapshot->tasks[1].process, 0);
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[1].comm), "helper");
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].pcomm), "worker");
	assert_int_equal(value(METRIC_nr_threads), 2);
}

static void names_may_fill_all_of_comm(void **state)
{
	(void)state;
	memset(task.comm, 'x', sizeof(task.comm));
	add();
	assert_string_equal(snapshot_text(decoder.snapshot, decoder.snapshot->tasks[0].comm),
			    "xxxxxxxxxxxxxxxx");
	memset(task.comm, 0, sizeof(task.comm));
	add();
	assert_string_equal(snapshot_text(decoder.snapshot, decoder.snapshot->tasks[1].comm), "");
}

static void a_kernel_thread_has_its_full_name(void **state)
{
	(void)state;
	record.name = &name;
	name.is_worker = 1;
	memcpy(name.description, "events", 7);
	memcpy(task.comm, "kworker/1:0", 12);
	add();
	assert_string_equal(snapshot_text(decoder.snapshot, decoder.snapshot->tasks[0].comm),
			    "kworker/1:0-events");
}

static void only_what_is_wanted_of_threads_is_kept(void **state)
{
	bool wanted[METRIC_STORED] = { [METRIC_voluntary_csw] = true };

	(void)state;
	decoder.wanted = wanted;
	record.delay = &delay;
	record.stats = &stats;
	task.nvcsw = 7;
	group.fd_limit = 1024;
	add();
	assert_int_equal(value(METRIC_voluntary_csw), 7);
	assert_int_equal(value(METRIC_fd_limit), 1024);
	assert_null(decoder.snapshot->columns[METRIC_run_time_ns].values);
	assert_null(decoder.snapshot->columns[METRIC_utime_ns].values);
	assert_null(decoder.snapshot->columns[METRIC_cpu_affinity].values);
	assert_null(decoder.snapshot->columns[METRIC_voluntary_sleep_ns].values);
	assert_false(task_decoder_sections(&decoder) >> TASK_SECTION_STATS & 1);
	assert_false(task_decoder_sections(&decoder) >> TASK_SECTION_DELAY & 1);
	wanted[METRIC_voluntary_sleep_ns] = true;
	assert_true(task_decoder_sections(&decoder) >> TASK_SECTION_STATS & 1);
	decoder.wanted = NULL;
	assert_true(task_decoder_sections(&decoder) >> TASK_SECTION_DELAY & 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, prepare, tidy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_become_the_metrics_of_their_rows),
		TEST(a_member_that_the_kernel_lacks_is_absent_and_says_so),
		TEST(sections_that_a_task_lacks_leave_its_metrics_absent),
		TEST(times_are_scaled_and_shown_in_whole_ticks),
		TEST(times_of_dead_threads_add_up_to_their_run_time),
		TEST(priorities_are_those_of_proc),
		TEST(the_state_is_a_letter),
		TEST(only_fair_policies_have_a_slice),
		TEST(start_times_are_whole_ticks_of_our_time_namespace),
		TEST(offline_cpus_are_not_in_the_affinity),
		TEST(many_different_masks_are_told_apart),
		TEST(without_online_cpus_there_is_no_affinity),
		TEST(a_wait_longer_than_life_is_discarded_and_counted),
		TEST(negative_statistics_are_dropped_and_counted),
		TEST(voluntary_sleep_is_sleep_without_blocking),
		TEST(the_peak_of_an_address_space_is_not_below_its_size),
		TEST(the_peak_of_memory_is_not_below_what_is_held),
		TEST(a_task_without_memory_has_no_peaks),
		TEST(what_the_kernel_does_not_count_is_left_out),
		TEST(threads_share_the_row_of_their_process),
		TEST(names_may_fill_all_of_comm),
		TEST(a_kernel_thread_has_its_full_name),
		TEST(only_what_is_wanted_of_threads_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

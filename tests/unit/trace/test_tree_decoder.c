/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/bpf/tree_decoder.h"

#define PAGE 4096

/* A thread with as much behind it as there can be. */
static struct {
	struct tree_thread_record thread;
	struct tree_call_record calls[TREE_CALLS_MAX];
	struct tree_call_record one_too_many;
} full;

#define FULL_SIZE offsetof(__typeof__(full), one_too_many)

static struct tree_exec_record exec_record;
static struct tree_process_record process_record;
static struct tree_decoder decoder;

/* What came out: the last event, and how many there were. */
static struct tree_event last;
static size_t events, ooms;
static int sink_status;

static int take(void *context, const struct tree_event *event)
{
	(void)context;
	last = *event;
	events++;
	ooms += event->type == TREE_OOM;
	return sink_status;
}

static void fill_head(struct tree_record_head *head, enum tree_record_type type, size_t size)
{
	*head = (struct tree_record_head){
		.size = (uint32_t)size,
		.type = type,
		.pid = 10,
		.tid = 11,
		.start_ns = 1000,
		.time_ns = 5000,
	};
}

static int make_records(void **state)
{
	(void)state;
	memset(&full, 0, sizeof(full));
	fill_head(&full.thread.head, TREE_RECORD_THREAD, FULL_SIZE);
	full.thread.call_count = TREE_CALLS_MAX;
	memset(&exec_record, 0, sizeof(exec_record));
	fill_head(&exec_record.head, TREE_RECORD_EXEC,
		  offsetof(struct tree_exec_record, arguments) + 6);
	exec_record.length = 6;
	memcpy(exec_record.arguments, "ls\0-l", 6);
	memset(&process_record, 0, sizeof(process_record));
	fill_head(&process_record.head, TREE_RECORD_PROCESS, sizeof(process_record));
	memset(&decoder, 0, sizeof(decoder));
	decoder.page_bytes = PAGE;
	events = ooms = 0;
	sink_status = 0;
	return 0;
}

static int send(const void *bytes, size_t length)
{
	return tree_decoder_send(&decoder, bytes, length, take, NULL);
}

static void a_thread_tells_its_calls(void **state)
{
	struct tree_call_record *call = &full.calls[TREE_CALLS_MAX - 1];

	(void)state;
	full.thread.flags = TREE_THREAD_ENDED | TREE_THREAD_HAS_CALLS;
	call->number = 7;
	call->count = 100;
	call->by_error[1] = 11ull << 48 | 5;
	call->other_errors = 2;
	call->buckets[31] = 9;
	assert_int_equal(send(&full, FULL_SIZE), 0);
	assert_int_equal(last.type, TREE_THREAD);
	assert_true(last.account.ended && last.account.has_syscalls);
	assert_int_equal(last.account.end_ns, 5000);
	assert_int_equal(last.account.syscall_count, TREE_CALLS_MAX);
	assert_int_equal(last.account.syscalls[TREE_CALLS_MAX - 1].number, 7);
	assert_int_equal(last.account.syscalls[TREE_CALLS_MAX - 1].stats.by_error[1].number, 11);
	assert_int_equal(last.account.syscalls[TREE_CALLS_MAX - 1].stats.by_error[1].count, 5);
	assert_int_equal(last.account.syscalls[TREE_CALLS_MAX - 1].stats.by_error[4].count, 2);
	assert_int_equal(last.account.syscalls[TREE_CALLS_MAX - 1].stats.buckets[31], 9);
}

static void a_wait_keeps_all_it_was_told(void **state)
{
	struct tree_off_cpu_record record = {
		.serial = 3,
		.sequence = 4,
		.block_ns = 5,
		.wake_ns = 6,
		.run_ns = 7,
		.object = 8,
		.queued_tree_ns = 9,
		.queued_outside_ns = 10,
		.short_queued_ns = 11,
		.short_blocked_ns = 12,
		.short_count = 13,
		.forks = 14,
		.waker = 15,
		.waker_pid = 16,
		.waker_tid = 17,
		.queued_pid = 18,
		.reason = TREE_WAIT_PIPE,
		.waker_class = TREE_WAKER_MEMBER,
		.short_reason = TREE_WAIT_DISK,
		.open = 1,
		.threshold_ns = 19,
	};
	const struct tree_wait_event *wait = &last.wait;

	(void)state;
	fill_head(&record.head, TREE_RECORD_WAIT, sizeof(record));
	memset(record.waker_comm, 'w', sizeof(record.waker_comm));
	memset(record.queued_comm, 'q', sizeof(record.queued_comm));
	assert_int_equal(send(&record, sizeof(record)), 0);
	assert_int_equal(last.type, TREE_WAIT);
	assert_int_equal(wait->serial, 3);
	assert_int_equal(wait->sequence, 4);
	assert_int_equal(wait->block_ns, 5);
	assert_int_equal(wait->wake_ns, 6);
	assert_int_equal(wait->run_ns, 7);
	assert_int_equal(wait->object, 8);
	assert_int_equal(wait->queued_tree_ns, 9);
	assert_int_equal(wait->queued_outside_ns, 10);
	assert_int_equal(wait->short_queued_ns, 11);
	assert_int_equal(wait->short_blocked_ns, 12);
	assert_int_equal(wait->short_count, 13);
	assert_int_equal(wait->forks, 14);
	assert_int_equal(wait->waker, 15);
	assert_int_equal(wait->waker_pid, 16);
	assert_int_equal(wait->waker_tid, 17);
	assert_int_equal(wait->queued_pid, 18);
	assert_int_equal(wait->reason, WAIT_PIPE);
	assert_int_equal(wait->waker_class, WAKER_MEMBER);
	assert_int_equal(wait->short_reason, WAIT_DISK);
	assert_true(wait->open);
	assert_int_equal(wait->threshold_ns, 19);
	assert_string_equal(wait->waker_comm, "wwwwwwwwwwwwwww");
	assert_string_equal(wait->queued_comm, "qqqqqqqqqqqqqqq");
	record.reason = record.short_reason = record.waker_class = 255;
	assert_int_equal(send(&record, sizeof(record)), 0);
	assert_int_equal(wait->reason, WAIT_OTHER);
	assert_int_equal(wait->short_reason, WAIT_OTHER);
	assert_int_equal(wait->waker_class, WAKER_UNKNOWN);
	assert_int_equal(send(&record, sizeof(record) - 1), -EBADMSG);
}

static void who_watches_ends_no_wait(void **state)
{
	struct tree_off_cpu_record record = {
		.waker_pid = 16,
		.waker_tid = 17,
		.waker_class = TREE_WAKER_OUTSIDE,
	};

	(void)state;
	memcpy(record.waker_comm, "taskscope", sizeof("taskscope"));
	fill_head(&record.head, TREE_RECORD_WAIT, sizeof(record));
	for (int32_t own = 15; own <= 16; own++) {
		decoder.own_pid = own;
		assert_int_equal(send(&record, sizeof(record)), 0);
		assert_int_equal(last.wait.waker_class,
				 own == 16 ? WAKER_INTERRUPT : WAKER_OUTSIDE);
		assert_int_equal(last.wait.waker_tid, own == 16 ? 0 : 17);
		assert_string_equal(last.wait.waker_comm, own == 16 ? "" : "taskscope");
	}
}

static void a_ledger_keeps_each_part_in_its_place(void **state)
{
	(void)state;
	full.thread.begin_ns = 2000;
	full.thread.ledger.on_cpu_ns = 1000;
	full.thread.ledger.off_cpu = (struct tree_off_record){ 3, 1200, 300 };
	full.thread.ledger.run_queue.ns = 500;
	full.thread.ledger.blocked[WAIT_OTHER].ns = 1500;
	full.thread.usage.present = 1ull << TREE_USAGE_run_time_ns | 1ull << TREE_USAGE_stime_ns;
	full.thread.usage.values[TREE_USAGE_run_time_ns] = 900;
	full.thread.usage.values[TREE_USAGE_stime_ns] = 800;
	full.thread.flags |= TREE_THREAD_RUN_QUEUE;
	assert_int_equal(send(&full, FULL_SIZE), 0);
	assert_int_equal(amounts_get(&last.account.amounts, AMOUNT_wall_time_ns), 3000);
	assert_int_equal(amounts_gap_ns(&last.account.amounts), 0);
	assert_int_equal(amounts_waited(&last.account.amounts, WAIT_OTHER).ns, 1500);
	assert_int_equal(amounts_get(&last.account.amounts, AMOUNT_offcpu_count), 3);
	assert_int_equal(amounts_get(&last.account.amounts, AMOUNT_offcpu_max_ns), 1200);
	assert_int_equal(amounts_get(&last.account.amounts, AMOUNT_offcpu_min_ns), 300);
	/* What the kernel charged is not the time between the switches. */
	assert_int_equal(amounts_get(&last.account.amounts, AMOUNT_run_time_ns), 1000);
	assert_int_equal(amounts_get(&last.account.amounts, AMOUNT_stime_ns), 800);
	assert_false(amounts_has(&last.account.amounts, AMOUNT_read_bytes));
	full.thread.flags &= ~(unsigned)TREE_THREAD_RUN_QUEUE;
	assert_int_equal(send(&full, FULL_SIZE), 0);
	assert_false(amounts_has(&last.account.amounts, AMOUNT_wait_time_ns));
}

static void numbers_that_mean_nothing_become_other(void **state)
{
	(void)state;
	full.thread.flags = TREE_THREAD_BLOCKED | TREE_THREAD_IN_SYSCALL;
	full.thread.reason = 200;
	full.thread.abi = 77;
	full.calls[0].abi = UINT32_MAX;
	assert_int_equal(send(&full, FULL_SIZE), 0);
	assert_int_equal(last.account.now.reason, WAIT_OTHER);
	assert_int_equal(last.account.now.syscall_abi, SYSCALL_UNKNOWN);
	assert_int_equal(last.account.syscalls[0].abi, SYSCALL_UNKNOWN);
}

static void states_have_the_letters_of_proc(void **state)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
	} cases[] = {
		{ 0, 0, 'R' },	     { 0x2001, 0, 'S' },  { 2, 0, 'D' },
		{ 4, 0, 'T' },	     { 8, 0, 't' },	  { 0x402, 0, 'I' },
		{ 0x80, 0x20, 'Z' }, { 0x80, 0x10, 'X' }, { 0x8000, 0, 'D' },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		full.thread.state = cases[i].state;
		full.thread.exit_state = cases[i].exit_state;
		assert_int_equal(send(&full, FULL_SIZE), 0);
		assert_int_equal(last.account.now.state, cases[i].letter);
	}
}

static void a_record_that_is_cut_is_not_believed(void **state)
{
	(void)state;
	for (size_t length = 0; length < FULL_SIZE; length += 8) {
		assert_int_equal(tree_record_size(&full, length), 0);
		assert_int_equal(send(&full, length), -EBADMSG);
	}
	assert_int_equal(events, 0);
	assert_int_equal(tree_record_size(&full, FULL_SIZE), FULL_SIZE);
	assert_int_equal(tree_record_size(&full, FULL_SIZE + 100), FULL_SIZE);
}

static void counts_must_fit_the_size(void **state)
{
	(void)state;
	full.thread.call_count--;
	assert_int_equal(send(&full, FULL_SIZE), -EBADMSG);
	full.thread.call_count = UINT32_MAX;
	assert_int_equal(send(&full, FULL_SIZE), -EBADMSG);
	make_records(NULL);
	full.thread.call_count = TREE_CALLS_MAX + 1;
	full.thread.head.size = sizeof(full);
	assert_int_equal(send(&full, sizeof(full)), -EBADMSG);
}

static void unknown_kinds_and_sizes_are_refused(void **state)
{
	(void)state;
	full.thread.head.type = TREE_RECORD_COUNT;
	assert_int_equal(send(&full, FULL_SIZE), -EBADMSG);
	full.thread.head.type = UINT32_MAX;
	assert_int_equal(send(&full, FULL_SIZE), -EBADMSG);
	full.thread.head.type = TREE_RECORD_FORK;
	assert_int_equal(send(&full, FULL_SIZE), -EBADMSG);
	full.thread.head.size = 0;
	assert_int_equal(send(&full, FULL_SIZE), -EBADMSG);
}

static void a_command_line_has_its_own_length(void **state)
{
	(void)state;
	assert_int_equal(send(&exec_record, exec_record.head.size), 0);
	assert_int_equal(last.exec.length, 6);
	assert_memory_equal(last.exec.arguments, "ls\0-l", 6);
	exec_record.length = 5000;
	assert_int_equal(send(&exec_record, sizeof(exec_record)), -EBADMSG);
	exec_record.length = 7;
	assert_int_equal(send(&exec_record, sizeof(exec_record)), -EBADMSG);
}

static void what_is_not_known_of_an_end_is_absent(void **state)
{
	(void)state;
	process_record.status = 9;
	process_record.peak_pages = 3;
	assert_int_equal(send(&process_record, sizeof(process_record)), 0);
	assert_true(last.process.ended);
	assert_int_equal(last.process.present, TREE_PROCESS_STATUS | TREE_PROCESS_UID);
	process_record.has_peak = process_record.has_sender = 1;
	assert_int_equal(send(&process_record, sizeof(process_record)), 0);
	assert_true(last.process.present & TREE_PROCESS_SENDER);
	assert_int_equal(last.process.peak_rss_bytes, 3 * PAGE);
}

static void a_process_that_the_kernel_killed_is_told_before_its_end(void **state)
{
	(void)state;
	process_record.oom_killed = 1;
	assert_int_equal(send(&process_record, sizeof(process_record)), 0);
	assert_int_equal(events, 2);
	assert_int_equal(ooms, 1);
	assert_int_equal(last.type, TREE_PROCESS);
	sink_status = -ENOMEM;
	assert_int_equal(send(&process_record, sizeof(process_record)), -ENOMEM);
	assert_int_equal(events, 3);
}

static void tasks_without_a_number_are_not_told(void **state)
{
	(void)state;
	process_record.head.pid = 0;
	assert_int_equal(send(&process_record, sizeof(process_record)), 0);
	assert_int_equal(events, 0);
}

static void start_times_are_of_our_time_namespace(void **state)
{
	(void)state;
	decoder.boottime_offset_ns = -400;
	assert_int_equal(send(&process_record, sizeof(process_record)), 0);
	assert_int_equal(last.task.start_ns, 600);
}

/* Whatever the bytes are, nothing is read beyond them: for the sanitizers. */
static void noise_is_survived(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t length = (size_t)rand() % 1200;
		unsigned char *bytes = malloc(length + 1);

		assert_non_null(bytes);
		for (size_t i = 0; i < length; i++)
			bytes[i] = (unsigned char)rand();
		if (length >= sizeof(struct tree_record_head)) {
			((struct tree_record_head *)bytes)->type = (uint32_t)rand() % 6;
			((struct tree_record_head *)bytes)->size = (uint32_t)rand() % 1400;
		}
		send(bytes, length);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_thread_tells_its_calls, make_records),
		cmocka_unit_test_setup(a_wait_keeps_all_it_was_told, make_records),
		cmocka_unit_test_setup(who_watches_ends_no_wait, make_records),
		cmocka_unit_test_setup(a_ledger_keeps_each_part_in_its_place, make_records),
		cmocka_unit_test_setup(numbers_that_mean_nothing_become_other, make_records),
		cmocka_unit_test_setup(states_have_the_letters_of_proc, make_records),
		cmocka_unit_test_setup(a_record_that_is_cut_is_not_believed, make_records),
		cmocka_unit_test_setup(counts_must_fit_the_size, make_records),
		cmocka_unit_test_setup(unknown_kinds_and_sizes_are_refused, make_records),
		cmocka_unit_test_setup(a_command_line_has_its_own_length, make_records),
		cmocka_unit_test_setup(what_is_not_known_of_an_end_is_absent, make_records),
		cmocka_unit_test_setup(a_process_that_the_kernel_killed_is_told_before_its_end,
				       make_records),
		cmocka_unit_test_setup(tasks_without_a_number_are_not_told, make_records),
		cmocka_unit_test_setup(start_times_are_of_our_time_namespace, make_records),
		cmocka_unit_test_setup(noise_is_survived, make_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

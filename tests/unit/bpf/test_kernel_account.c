/* SPDX-License-Identifier: MIT */
/* The account of a thread: what it used, its system calls, and its end. */
#include "actors.h"

#define MS 1000000ULL
#define SLEEP 35
#define SLEEPING 1

static struct actor idle, actor;
static struct thread_state *thread;

/* A member that joined at 1 ms and came onto its CPU at 2 ms. */
static int setup(void **state)
{
	(void)state;
	kernel_reset();
	actor_init(&idle, 0, 0, NULL);
	actor_init(&actor, 10, 10, NULL);
	kernel_current = &idle.task;
	((__u8 *)rules)[SLEEP] = TREE_WAIT_LOCK;
	thread = join(&actor);
	actor.task.sched_info.run_delay = MS;
	switch_at(2 * MS, &idle, 0, &actor);
	return 0;
}

static __u64 sum_of(const struct tree_ledger_record *ledger)
{
	__u64 sum = ledger->on_cpu_ns + ledger->run_queue.ns;

	for (int i = 0; i < TREE_REASONS; i++)
		sum += ledger->blocked[i].ns;
	return sum;
}

static void shares_are_exact_enough(void **state)
{
	(void)state;
	assert_int_equal(scale(0, 1000, 7), 0);
	assert_int_equal(scale(7, 1000, 7), 1000);
	assert_int_equal(scale(8, 1000, 7), 1000);
	assert_int_equal(scale(0, 1000, 0), 1000);
	assert_int_equal(scale(1, 1000, 2), 500);
	assert_int_equal(scale(1ULL << 32, 1000, 1ULL << 34), 250);
	assert_int_equal(scale(1ULL << 48, 1000, 1ULL << 50), 250);
	assert_int_equal(scale(1ULL << 62, 3ULL << 33, 1ULL << 63), 3ULL << 32);
	assert_int_equal(scale(3ULL << 46, 1ULL << 40, 1ULL << 48), 3ULL << 38);
	assert_int_equal(scale(3ULL << 30, 1ULL << 40, 1ULL << 32), 3ULL << 38);
	assert_int_equal(scale(3ULL << 47, 1ULL << 40, (1ULL << 49) - 1) >> 32, 3ULL << 6);
	assert_int_equal(scale(3ULL << 31, 1ULL << 40, (1ULL << 33) - 1) >> 32, 3ULL << 6);
	assert_int_equal(scale((3ULL << 30) - 1, 1ULL << 40, (1ULL << 32) - 1) >> 20,
			 (3ULL << 18) - 1);
}

static void split(__u64 utime, __u64 stime, __u64 cpu, __u64 user_ns, __u64 system_ns)
{
	actor.task.utime = utime;
	actor.task.stime = stime;
	cputime_split(&actor.task, cpu, &thread->user_ns, &thread->system_ns);
	assert_int_equal(thread->user_ns, user_ns);
	assert_int_equal(thread->system_ns, system_ns);
}

static void samples_divide_the_time_on_a_cpu(void **state)
{
	(void)state;
	split(0, 0, 100, 100, 0);
	split(100, 100, 400, 200, 200);
	/* Neither part falls, whatever the samples say. */
	split(300, 0, 500, 300, 200);
	split(0, 300, 500, 300, 200);
	split(0, 300, 700, 300, 400);
	split(1, 0, 700, 300, 400);
	split(1, 0, 600, 300, 400);
	split(0, 1, 200, 300, 400);
	split(1, 1, 1200, 600, 600);
}

static void what_a_thread_used(void **state)
{
	struct tree_usage_record *usage;

	(void)state;
	actor.task.se.sum_exec_runtime = 100;
	actor.task.nvcsw = 5;
	actor.task.maj_flt = 2;
	actor.task.utime = actor.task.stime = 1;
	usage_begin(&actor.task, thread, 120);
	assert_int_equal(thread->base[TREE_USAGE_run_time_ns], 120);
	assert_int_equal(thread->base[TREE_USAGE_utime_ns], 60);
	assert_int_equal(thread->base[TREE_USAGE_stime_ns], 60);
	usage = &look_at(&actor)->usage;
	assert_int_equal(usage->present, (1 << TREE_USAGE_COUNT) - 1);
	for (int i = 0; i < TREE_USAGE_COUNT; i++)
		assert_int_equal(usage->values[i], 0);
	actor.task.se.sum_exec_runtime = 320;
	actor.task.nvcsw = 6;
	actor.task.ioac.rchar = 9;
	usage = &look_at(&actor)->usage;
	assert_int_equal(usage->values[TREE_USAGE_run_time_ns], 200);
	assert_int_equal(usage->values[TREE_USAGE_utime_ns], 100);
	assert_int_equal(usage->values[TREE_USAGE_stime_ns], 100);
	assert_int_equal(usage->values[TREE_USAGE_voluntary_csw], 1);
	assert_int_equal(usage->values[TREE_USAGE_rchar], 9);
	assert_int_equal(usage->values[TREE_USAGE_majflt], 0);
	kernel_lacks = "task->ioac.rchar";
	assert_int_equal(look_at(&actor)->usage.present,
			 ((1 << TREE_USAGE_COUNT) - 1) & ~(1 << TREE_USAGE_rchar));
	usage_begin(&actor.task, thread, 0);
	assert_int_equal(thread->base[TREE_USAGE_run_time_ns], 320);
}

static void make_calls(int count)
{
	for (int i = 0; i < count; i++) {
		__u64 enter[] = { (__u64)&actor.registers, (__u64)i };
		__u64 leave[] = { (__u64)&actor.registers, 0 };

		kernel_current = &actor.task;
		tree_sys_enter(enter);
		kernel_now += 5;
		tree_sys_exit(leave);
	}
}

/* A record has all calls, whoever sends it. */
static void check_tail(const struct tree_thread_record *record, __u64 size, __u32 call_count)
{
	const struct tree_call_record *call = (const void *)(record + 1);

	assert_int_equal(record->call_count, call_count);
	assert_int_equal(record->head.size, size);
	assert_int_equal(size, sizeof(*record) + call_count * sizeof(*call));
	assert_int_equal(record->flags & TREE_THREAD_HAS_CALLS, TREE_THREAD_HAS_CALLS);
	for (__u32 i = 0; i < call_count; i++)
		assert_int_equal(call[i].number, i);
}

static void check_both(__u32 call_count, __u64 unnamed)
{
	struct tree_thread_record *record;

	make_calls((int)(call_count + unnamed));
	thread->lost_calls = 1;
	sample_calls = 1;
	record = look_at(&actor);
	check_tail(record, kernel_output_size, call_count);
	assert_int_equal(record->unnamed_calls, 1 + unnamed);
	assert_int_equal(record->unnamed_ns, 5 * unnamed);
	switch_at(kernel_now, &actor, TASK_DEAD, &idle);
	record = sent(kernel_sent_count - 1);
	check_tail(record, kernel_sent[kernel_sent_count - 1].size, call_count);
	assert_int_equal(record->unnamed_calls, 1 + unnamed);
}

static void few_calls(void **state)
{
	(void)state;
	check_both(3, 0);
}

static void as_many_calls_as_a_thread_has_room_for(void **state)
{
	(void)state;
	check_both(TREE_CALL_SLOTS, 0);
}

static void one_more_call(void **state)
{
	(void)state;
	check_both(TREE_CALL_SLOTS + 1, 0);
}

static void calls_beyond_all_room(void **state)
{
	(void)state;
	check_both(TREE_CALLS_MAX, 4);
}

static void calls_whose_room_is_gone_are_not_told(void **state)
{
	(void)state;
	make_calls(1);
	((struct call_state *)bpf_task_storage_get(&calls, &actor.task, 0, 0))->slot_count =
		TREE_CALL_SLOTS + 3;
	sample_calls = 1;
	assert_int_equal(look_at(&actor)->call_count, TREE_CALL_SLOTS);
	assert_int_equal(look_at(&actor)->head.size, kernel_output_size);
}

static void calls_are_told_only_if_wanted(void **state)
{
	(void)state;
	sample_calls = 1;
	assert_int_equal(look_at(&actor)->call_count, 0);
	assert_null(bpf_task_storage_get(&calls, &actor.task, 0, 0));
	make_calls(2);
	thread->lost_calls = 1;
	assert_int_equal(look_at(&actor)->call_count, 2);
	sample_calls = 0;
	assert_int_equal(look_at(&actor)->call_count, 0);
	assert_int_equal(look_at(&actor)->unnamed_calls, 0);
	assert_int_equal(kernel_output_size, sizeof(struct tree_thread_record));
	want_calls = 0;
	sample_calls = 1;
	assert_int_equal(look_at(&actor)->flags & TREE_THREAD_HAS_CALLS, 0);
	assert_int_equal(look_at(&actor)->head.size, kernel_output_size);
}

static void traffic_is_known_if_calls_are(void **state)
{
	const __u64 both = 1ULL << TREE_USAGE_net_rx_bytes | 1ULL << TREE_USAGE_net_tx_bytes;
	struct tree_usage_record *usage = &look_at(&actor)->usage;
	struct call_state *mine;

	(void)state;
	assert_int_equal(usage->present & both, both);
	assert_int_equal(usage->values[TREE_USAGE_net_rx_bytes], 0);
	thread->lost_calls = 1;
	assert_int_equal(look_at(&actor)->usage.present & both, 0);
	thread->lost_calls = 0;
	make_calls(1);
	mine = bpf_task_storage_get(&calls, &actor.task, 0, 0);
	mine->traffic = (struct traffic){ .received = 5, .sent = 6 };
	usage = &look_at(&actor)->usage;
	assert_int_equal(usage->present & both, both);
	assert_int_equal(usage->values[TREE_USAGE_net_rx_bytes], 5);
	assert_int_equal(usage->values[TREE_USAGE_net_tx_bytes], 6);
	want_calls = 0;
	assert_int_equal(look_at(&actor)->usage.present & both, 0);
}

static void the_end_of_a_thread(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	switch_at(7 * MS, &actor, TASK_DEAD, &idle);
	assert_int_equal(kernel_sent_count, 1);
	record = sent(0);
	assert_int_equal(record->head.type, TREE_RECORD_THREAD);
	assert_int_equal(record->head.time_ns, 7 * MS);
	assert_int_equal(record->since_ns, 7 * MS);
	assert_int_equal(record->flags,
			 TREE_THREAD_ENDED | TREE_THREAD_RUN_QUEUE | TREE_THREAD_HAS_CALLS);
	assert_int_equal(record->ledger.on_cpu_ns, 5 * MS);
	assert_int_equal(sum_of(&record->ledger), 6 * MS);
	assert_int_equal(record->unnamed_calls, 0);
	assert_int_equal(thread->phase, PHASE_ENDED);
	assert_int_equal(kernel_sent[0].flags, BPF_RB_NO_WAKEUP);
}

static void an_end_that_found_the_ring_full_is_counted(void **state)
{
	(void)state;
	kernel_ring_is_full = true;
	switch_at(7 * MS, &actor, TASK_DEAD, &idle);
	assert_int_equal(losses[TREE_LOSS_THREADS], 1);
	assert_int_equal(kernel_discarded, 1);
	assert_int_equal(kernel_sent_count, 0);
}

static void a_reader_that_falls_behind_is_woken(void **state)
{
	(void)state;
	kernel_ring_used = RING_BYTES / 4;
	assert_int_equal(ring_flags(), BPF_RB_NO_WAKEUP);
	kernel_ring_used++;
	assert_int_equal(ring_flags(), BPF_RB_FORCE_WAKEUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(shares_are_exact_enough),
		TEST(samples_divide_the_time_on_a_cpu),
		TEST(what_a_thread_used),
		TEST(few_calls),
		TEST(as_many_calls_as_a_thread_has_room_for),
		TEST(one_more_call),
		TEST(calls_beyond_all_room),
		TEST(calls_whose_room_is_gone_are_not_told),
		TEST(calls_are_told_only_if_wanted),
		TEST(traffic_is_known_if_calls_are),
		TEST(the_end_of_a_thread),
		TEST(an_end_that_found_the_ring_full_is_counted),
		TEST(a_reader_that_falls_behind_is_woken),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

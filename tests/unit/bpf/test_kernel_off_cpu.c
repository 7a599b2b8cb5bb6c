/* SPDX-License-Identifier: MIT */
/* How the kernel side reports a time off the CPU: who ended it, and who had the CPU. */
#include "actors.h"

#define MS 1000000ULL
#define SLEEP 35
#define SEND 44
#define SLEEPING 1

static struct actor idle, actor, member, stranger;
static struct thread_state *thread;
static struct {
	struct rq queue;
	__u32 preempt_count;
} cpu;

/* A member that left the CPU at 2 ms to wait for a lock; another member; and a stranger. */
static int setup(void **state)
{
	struct actor *actors[] = { &idle, &actor, &member, &stranger };

	(void)state;
	kernel_reset();
	want_waits = 1;
	preempt_distance = offsetof(__typeof__(cpu), preempt_count);
	cpu.preempt_count = 0;
	actor_init(&idle, 0, 0, NULL);
	actor_init(&actor, 10, 10, NULL);
	actor_init(&member, 20, 20, NULL);
	actor_init(&stranger, 30, 30, NULL);
	for (int i = 0; i < 4; i++)
		actors[i]->fair_queue.rq = &cpu.queue;
	kernel_current = &idle.task;
	((__u8 *)rules)[SLEEP] = TREE_WAIT_LOCK;
	((__u8 *)rules)[SEND] = TREE_WAIT_NETWORK;
	actor.registers.orig_ax = SLEEP;
	join(&member);
	thread = join(&actor);
	return 0;
}

/* One task goes, another comes, by the clock that all have in common here. */
static void change(__u64 now, struct actor *leaving, __u32 task_state, struct actor *entering)
{
	cpu.queue.clock = SCHEDULER_CLOCK(now);
	switch_at(now, leaving, task_state, entering);
}

static void wake(struct actor *by, __u64 now)
{
	__u64 arguments[] = { (__u64)&actor };

	kernel_now = now;
	kernel_current = &by->task;
	tree_waking(arguments);
}

/* From 2 to 5 ms it is off the CPU; it is woken at 4 ms, and reported when it leaves again. */
static struct tree_off_cpu_record *wait_once(struct actor *by)
{
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, SLEEPING, &idle);
	kernel_sent_count = 0;
	wake(by, 4 * MS);
	actor.task.sched_info.run_delay += MS;
	change(5 * MS, &idle, 0, &actor);
	assert_int_equal(kernel_sent_count, 0);
	change(6 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(kernel_sent_count, 1);
	return sent(0);
}

static void a_wait_is_reported_when_it_is_over(void **state)
{
	struct tree_off_cpu_record *record = wait_once(&member);

	(void)state;
	assert_int_equal(record->head.size, sizeof(*record));
	assert_int_equal(record->head.type, TREE_RECORD_WAIT);
	assert_int_equal(record->head.pid, 10);
	assert_int_equal(record->head.tid, 10);
	assert_int_equal(record->head.start_ns, 10000);
	assert_int_equal(record->head.time_ns, 5 * MS);
	assert_int_equal(record->serial, 2);
	assert_int_equal(record->sequence, 2);
	assert_int_equal(record->block_ns, 2 * MS);
	assert_int_equal(record->wake_ns, 4 * MS);
	assert_int_equal(record->run_ns, 5 * MS);
	assert_int_equal(record->reason, TREE_WAIT_LOCK);
	assert_int_equal(record->open, 0);
	assert_int_equal(record->threshold_ns, 0);
	assert_int_equal(record->waker_class, TREE_WAKER_MEMBER);
	assert_int_equal(record->waker, 1);
	assert_int_equal(record->waker_pid, 20);
	assert_int_equal(record->waker_tid, 20);
	assert_string_equal((char *)record->waker_comm, member.task.comm);
}

static void nothing_is_reported_that_is_not_wanted(void **state)
{
	(void)state;
	want_waits = 0;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, SLEEPING, &idle);
	change(5 * MS, &idle, 0, &actor);
	change(6 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(kernel_sent_count, 0);
	assert_int_equal(thread->off_sequence, 0);
}

static void who_wakes_without_being_a_member(void **state)
{
	struct tree_off_cpu_record *record = wait_once(&stranger);

	(void)state;
	assert_int_equal(record->waker_class, TREE_WAKER_OUTSIDE);
	assert_int_equal(record->waker, 0);
	assert_int_equal(record->waker_pid, 30);
}

static void a_member_before_its_exec_is_none(void **state)
{
	(void)state;
	thread_find(&member.task)->phase = PHASE_ARMED;
	assert_int_equal(wait_once(&member)->waker_class, TREE_WAKER_OUTSIDE);
}

static void kernel_threads_wake_by_name(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	stranger.task.flags = PF_KTHREAD;
	record = wait_once(&stranger);
	assert_int_equal(record->waker_class, TREE_WAKER_KERNEL);
	assert_int_equal(record->waker_tid, 30);
}

static void check_interrupt(struct actor *by)
{
	struct tree_off_cpu_record *record = wait_once(by);

	assert_int_equal(record->waker_class, TREE_WAKER_INTERRUPT);
	assert_int_equal(record->waker, 0);
	assert_int_equal(record->waker_pid, 0);
	assert_int_equal(record->waker_tid, 0);
	assert_int_equal(record->waker_comm[0], 0);
	assert_int_equal(record->waker_comm[1], 0);
}

static void who_is_interrupted_is_no_waker(void **state)
{
	static const __u32 counts[] = { 0x10000, 0x80000, 0x100000, 0x100 };

	for (int i = 0; i < 4; i++) {
		setup(state);
		cpu.preempt_count = counts[i];
		check_interrupt(&member);
	}
}

static void the_idle_task_wakes_nobody(void **state)
{
	(void)state;
	check_interrupt(&idle);
}

static void disabled_preemption_is_no_interrupt(void **state)
{
	(void)state;
	cpu.preempt_count = 0x201; /* software interrupts are disabled, not served */
	assert_int_equal(wait_once(&member)->waker_class, TREE_WAKER_MEMBER);
}

static void a_message_over_loopback_comes_from_its_sender(void **state)
{
	(void)state;
	((__u8 *)rules)[SLEEP] = TREE_WAIT_NETWORK;
	member.registers.orig_ax = SEND;
	cpu.preempt_count = 0x100;
	assert_int_equal(wait_once(&member)->waker_class, TREE_WAKER_MEMBER);
	setup(state);
	((__u8 *)rules)[SLEEP] = TREE_WAIT_NETWORK;
	cpu.preempt_count = 0x100;
	check_interrupt(&member); /* it is not in a call */
	setup(state);
	member.registers.orig_ax = SEND;
	cpu.preempt_count = 0x100;
	check_interrupt(&member); /* nobody waits for a message */
	setup(state);
	((__u8 *)rules)[SLEEP] = TREE_WAIT_POLL;
	member.registers.orig_ax = SLEEP;
	cpu.preempt_count = 0x100;
	check_interrupt(&member); /* its call sends nothing */
}

static void without_the_count_nobody_is_named(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	preempt_distance = 0;
	record = wait_once(&member);
	assert_int_equal(record->waker_class, TREE_WAKER_UNKNOWN);
	assert_int_equal(record->waker_tid, 0);
}

/* The next wait is over as soon as it begins; the one before keeps its own waker. */
static void who_wakes_before_the_thread_has_left_ends_the_next_wait(void **state)
{
	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, SLEEPING, &idle);
	wake(&stranger, 3 * MS);
	change(5 * MS, &idle, 0, &actor);
	wake(&member, 6 * MS);
	kernel_sent_count = 0;
	change(7 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(((struct tree_off_cpu_record *)sent(0))->waker_pid, 30);
	change(8 * MS, &idle, 0, &actor);
	change(9 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(((struct tree_off_cpu_record *)sent(1))->waker_pid, 20);
	change(10 * MS, &idle, 0, &actor);
	change(11 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(((struct tree_off_cpu_record *)sent(2))->waker_class, TREE_WAKER_UNKNOWN);
}

/* What the thread waited for before says nothing about the wait that it is about to begin. */
static void an_early_message_over_loopback_comes_from_its_sender(void **state)
{
	(void)state;
	change(1 * MS, &idle, 0, &actor);
	cpu.preempt_count = 0x100;
	member.registers.orig_ax = SEND;
	thread->reason = TREE_WAIT_LOCK;
	wake(&member, 2 * MS);
	assert_int_equal(thread->early_waker.class, TREE_WAKER_MEMBER);
	assert_int_equal(thread->early_waker.pid, 20);
	member.registers.orig_ax = SLEEP;
	thread->reason = TREE_WAIT_NETWORK;
	wake(&member, 3 * MS);
	assert_int_equal(thread->early_waker.class, TREE_WAKER_INTERRUPT);
	assert_int_equal(thread->early_waker.pid, 0);
}

static void who_had_the_cpu(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, 0, &stranger); /* pushed off */
	change(5 * MS, &stranger, 0, &member);
	change(7 * MS, &member, 0, &idle);
	kernel_sent_count = 0;
	change(8 * MS, &idle, 0, &actor);
	change(9 * MS, &actor, SLEEPING, &idle);
	record = sent(0);
	assert_int_equal(record->block_ns, 2 * MS);
	assert_int_equal(record->wake_ns, 2 * MS);
	assert_int_equal(record->run_ns, 8 * MS);
	assert_int_equal(record->reason, TREE_WAIT_OTHER);
	assert_int_equal(record->object, 0);
	assert_int_equal(record->queued_outside_ns, 3 * MS);
	assert_int_equal(record->queued_tree_ns, 2 * MS);
	assert_int_equal(record->queued_pid, 30);
	assert_string_equal((char *)record->queued_comm, stranger.task.comm);
}

static void who_had_the_cpu_before_the_thread_wanted_it_does_not_matter(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, SLEEPING, &stranger);
	wake(&member, 4 * MS);
	actor.task.sched_info.run_delay += 2 * MS;
	change(6 * MS, &stranger, 0, &actor);
	kernel_sent_count = 0;
	change(9 * MS, &actor, SLEEPING, &idle);
	record = sent(0);
	assert_int_equal(record->wake_ns, 4 * MS);
	assert_int_equal(record->queued_outside_ns, 2 * MS);
}

/* The idle task's switch to the stranger is not reported, but the scheduler knows of it. */
static void who_came_unseen_had_the_cpu_as_well(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, 0, &idle);
	stranger.task.sched_info.last_arrival = SCHEDULER_CLOCK(3 * MS);
	change(7 * MS, &stranger, 0, &actor);
	kernel_sent_count = 0;
	change(9 * MS, &actor, SLEEPING, &idle);
	record = sent(0);
	assert_int_equal(record->queued_outside_ns, 4 * MS);
	assert_int_equal(record->queued_pid, 30);
}

static void more_tasks_had_the_cpu_than_are_remembered(void **state)
{
	struct tree_off_cpu_record *record;
	__u64 now = 2 * MS;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(now, &actor, 0, &stranger);
	for (int i = 0; i < CPU_SLICES; i++) {
		change(now + 3 * MS, &stranger, 0, &member);
		change(now + 4 * MS, &member, 0, &stranger);
		now += 4 * MS;
		kernel_sent_count = 0;
	}
	kernel_sent_count = 0;
	change(now, &stranger, 0, &actor);
	change(now + MS, &actor, SLEEPING, &idle);
	record = sent(0);
	assert_int_equal(record->run_ns - record->wake_ns, CPU_SLICES * 4 * MS);
	assert_in_range(record->queued_outside_ns, CPU_SLICES * 29 / 10 * MS,
			CPU_SLICES * 31 / 10 * MS);
	assert_in_range(record->queued_tree_ns + record->queued_outside_ns,
			CPU_SLICES * 4 * MS - 10, CPU_SLICES * 4 * MS);
}

/* The time off the CPU that the final sample has of the actor. */
static struct tree_off_cpu_record *look_at_end(__u64 now, struct actor *current)
{
	struct tree_thread_record *account;

	kernel_now = now;
	kernel_current = &idle.task;
	cpu.queue.curr = &current->task;
	sample_calls = 1;
	account = look_at(&actor);
	return (void *)((char *)account + account->head.size);
}

/* It was in the queue when it was found, and has not had the CPU since. */
static void who_has_the_cpu_that_a_thread_still_waits_for(void **state)
{
	struct bpf_iter_meta meta = { 0 };
	struct bpf_iter__task context = { &meta, &actor.task };
	struct tree_off_cpu_record *record;

	(void)state;
	bpf_task_storage_delete(&threads, &actor.task);
	change(1 * MS, &idle, 0, &stranger);
	kernel_now = 2 * MS;
	seed_mode = TREE_SEED_PROCESS;
	seed_pid = 10;
	seed_pass = 1;
	tree_seed(&context);
	change(5 * MS, &stranger, 0, &member);
	change(7 * MS, &member, 0, &stranger);
	record = look_at_end(8 * MS, &stranger);
	assert_true(record->open);
	assert_int_equal(record->wake_ns, 2 * MS);
	assert_int_equal(record->queued_outside_ns, 4 * MS);
	assert_int_equal(record->queued_tree_ns, 2 * MS);
	assert_int_equal(record->queued_pid, 30);
	assert_string_equal((char *)record->queued_comm, stranger.task.comm);
	change(8 * MS, &stranger, 0, &member);
	record = look_at_end(11 * MS, &member);
	assert_int_equal(record->queued_outside_ns, 4 * MS);
	assert_int_equal(record->queued_tree_ns, 5 * MS);
}

/* It has the CPU, but who had it before is reported only when it leaves. */
static void who_had_the_cpu_that_a_thread_has_at_the_end(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, 0, &stranger);
	change(5 * MS, &stranger, 0, &actor);
	record = look_at_end(9 * MS, &actor);
	assert_false(record->open);
	assert_int_equal(record->run_ns, 5 * MS);
	assert_int_equal(record->queued_outside_ns, 3 * MS);
	assert_int_equal(record->queued_tree_ns, 0);
}

static void short_waits_are_added_up(void **state)
{
	struct tree_off_cpu_record *record;
	struct actor child;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, SLEEPING, &idle);
	threshold_ns = 2 * MS;
	kernel_sent_count = 0;
	wake(&member, 3 * MS);
	assert_int_equal(thread->waker.class, TREE_WAKER_UNKNOWN);
	change(3 * MS, &idle, 0, &actor);
	actor_init(&child, 40, 40, &actor);
	fork_to(&actor, &child);
	kernel_sent_count = 0;
	change(4 * MS, &actor, 0, &idle);
	change(5 * MS, &idle, 0, &actor);
	change(6 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(kernel_sent_count, 0);
	change(8 * MS, &idle, 0, &actor);
	change(9 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(kernel_sent_count, 1);
	record = sent(0);
	assert_int_equal(record->short_count, 2);
	assert_int_equal(record->short_blocked_ns, MS);
	assert_int_equal(record->short_queued_ns, MS);
	assert_int_equal(record->short_reason, TREE_WAIT_LOCK);
	assert_int_equal(record->threshold_ns, 2 * MS);
	assert_int_equal(record->forks, 1);
	change(12 * MS, &idle, 0, &actor);
	change(13 * MS, &actor, SLEEPING, &idle);
	record = sent(1);
	assert_int_equal(record->sequence, ((struct tree_off_cpu_record *)sent(0))->sequence + 1);
	assert_int_equal(record->short_count, 0);
	assert_int_equal(record->short_blocked_ns, 0);
	assert_int_equal(record->forks, 0);
}

static void short_waits_for_a_cpu_have_no_reason(void **state)
{
	struct tree_off_cpu_record *record;

	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, 0, &idle);
	threshold_ns = 2 * MS;
	kernel_sent_count = 0;
	change(3 * MS, &idle, 0, &actor);
	change(4 * MS, &actor, SLEEPING, &idle);
	change(8 * MS, &idle, 0, &actor);
	change(9 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(kernel_sent_count, 1);
	record = sent(0);
	assert_int_equal(record->short_count, 1);
	assert_int_equal(record->short_queued_ns, MS);
	assert_int_equal(record->short_blocked_ns, 0);
	assert_int_equal(record->short_reason, 0);
}

static void many_records_raise_the_threshold(void **state)
{
	(void)state;
	for (int i = 0; i < RECORDS_MAX; i++)
		records_count(RECORDS_NS);
	assert_int_equal(threshold_ns, 0);
	records_count(RECORDS_NS);
	assert_int_equal(threshold_ns, THRESHOLD_FIRST_NS);
	for (int i = 0; i <= RECORDS_MAX; i++)
		records_count(RECORDS_NS);
	assert_int_equal(threshold_ns, 10 * THRESHOLD_FIRST_NS);
	/* The second in which they count is over. */
	for (int i = 0; i < RECORDS_MAX; i++)
		records_count(RECORDS_NS);
	records_count(3ULL * RECORDS_NS);
	for (int i = 1; i < RECORDS_MAX; i++)
		records_count(3ULL * RECORDS_NS);
	assert_int_equal(threshold_ns, 10 * THRESHOLD_FIRST_NS);
	for (int i = 0; i < 10 * RECORDS_MAX; i++)
		records_count(3ULL * RECORDS_NS);
	assert_int_equal(threshold_ns, THRESHOLD_MOST_NS);
}

static void a_record_that_found_the_ring_full_is_a_gap(void **state)
{
	(void)state;
	change(1 * MS, &idle, 0, &actor);
	change(2 * MS, &actor, SLEEPING, &idle);
	change(3 * MS, &idle, 0, &actor);
	kernel_ring_is_full = true;
	change(4 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(losses[TREE_LOSS_WAITS], 1);
	assert_int_equal(thread->off_sequence, 2);
}

/* The final sample has what is not over, behind the account. */
static void a_wait_that_goes_on_comes_with_the_final_sample(void **state)
{
	struct tree_off_cpu_record *record =
		(void *)(kernel_output + sizeof(struct tree_thread_record));

	(void)state;
	want_calls = 0;
	change(1 * MS, &idle, 0, &actor);
	kernel_sent_count = 0;
	change(2 * MS, &actor, SLEEPING, &idle);
	kernel_now = 5 * MS;
	look_at(&actor);
	assert_int_equal(kernel_output_size, sizeof(struct tree_thread_record));
	sample_calls = 1;
	look_at(&actor);
	assert_int_equal(kernel_output_size, sizeof(struct tree_thread_record) + sizeof(*record));
	assert_int_equal(record->sequence, 2);
	assert_int_equal(record->block_ns, 2 * MS);
	assert_int_equal(record->wake_ns, 5 * MS);
	assert_int_equal(record->run_ns, 5 * MS);
	assert_int_equal(record->open, 1);
	assert_int_equal(thread->off_sequence, 1);
	/* It runs again, but its time off the CPU is not reported yet. */
	change(6 * MS, &idle, 0, &actor);
	kernel_now = 7 * MS;
	look_at(&actor);
	assert_int_equal(record->run_ns, 6 * MS);
	assert_int_equal(record->open, 0);
	want_waits = 0;
	look_at(&actor);
	assert_int_equal(kernel_output_size, sizeof(struct tree_thread_record));
}

static void threads_have_serial_numbers(void **state)
{
	struct tree_fork_record *record;
	struct actor child;

	(void)state;
	actor_init(&child, 40, 40, &actor);
	fork_to(&actor, &child);
	record = sent(0);
	assert_int_equal(record->serial, 3);
	assert_int_equal(record->creator, 2);
	assert_int_equal(thread->forks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_wait_is_reported_when_it_is_over),
		TEST(nothing_is_reported_that_is_not_wanted),
		TEST(who_wakes_without_being_a_member),
		TEST(a_member_before_its_exec_is_none),
		TEST(kernel_threads_wake_by_name),
		TEST(who_is_interrupted_is_no_waker),
		TEST(the_idle_task_wakes_nobody),
		TEST(disabled_preemption_is_no_interrupt),
		TEST(a_message_over_loopback_comes_from_its_sender),
		TEST(without_the_count_nobody_is_named),
		TEST(who_wakes_before_the_thread_has_left_ends_the_next_wait),
		TEST(an_early_message_over_loopback_comes_from_its_sender),
		TEST(who_had_the_cpu),
		TEST(who_had_the_cpu_before_the_thread_wanted_it_does_not_matter),
		TEST(who_came_unseen_had_the_cpu_as_well),
		TEST(more_tasks_had_the_cpu_than_are_remembered),
		TEST(who_has_the_cpu_that_a_thread_still_waits_for),
		TEST(who_had_the_cpu_that_a_thread_has_at_the_end),
		TEST(short_waits_are_added_up),
		TEST(short_waits_for_a_cpu_have_no_reason),
		TEST(many_records_raise_the_threshold),
		TEST(a_record_that_found_the_ring_full_is_a_gap),
		TEST(a_wait_that_goes_on_comes_with_the_final_sample),
		TEST(threads_have_serial_numbers),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

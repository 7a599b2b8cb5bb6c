/* SPDX-License-Identifier: MIT */
/* Where the time of a thread goes, as the kernel side enters it into its ledger. */
#include "actors.h"

#define MS 1000000ULL
#define SLEEP 35
#define SLEEPING 1

static struct actor idle, actor, waker;
static struct thread_state *thread;

/* A member that joined at 1 ms and came onto its CPU at 2 ms. */
static int setup(void **state)
{
	(void)state;
	kernel_reset();
	actor_init(&idle, 0, 0, NULL);
	actor_init(&actor, 10, 10, NULL);
	actor_init(&waker, 20, 20, NULL);
	kernel_current = &idle.task;
	((__u8 *)rules)[SLEEP] = TREE_WAIT_LOCK;
	actor.registers.orig_ax = SLEEP;
	thread = join(&actor);
	actor.task.sched_info.run_delay = MS;
	switch_at(2 * MS, &idle, 0, &actor);
	return 0;
}

static void run_for(__u64 ns)
{
	actor.task.se.sum_exec_runtime += ns;
	kernel_now += ns;
}

/* Sleeps, is woken, and waits for a CPU. */
static void sleep_for(__u64 ns, __u64 queued_ns)
{
	switch_at(kernel_now, &actor, SLEEPING, &idle);
	actor.task.sched_info.run_delay += queued_ns;
	switch_at(kernel_now + ns + queued_ns, &idle, 0, &actor);
}

static void each_moment_is_entered_once(void **state)
{
	const struct tree_ledger_record *ledger = &thread->ledger;

	(void)state;
	assert_int_equal(ledger->off_cpu.count, 0);
	run_for(3 * MS);
	sleep_for(5 * MS, 2 * MS);
	assert_int_equal(ledger->on_cpu_ns, 3 * MS);
	assert_int_equal(ledger->run_queue.ns, MS);
	assert_int_equal(ledger->run_queue.count, 1);
	assert_int_equal(ledger->off_cpu.count, 1);
	run_for(MS);
	sleep_for(MS, 0);
	run_for(MS);
	switch_at(kernel_now, &actor, 0, &idle);
	assert_int_equal(ledger->on_cpu_ns, 5 * MS);
	assert_int_equal(ledger->run_queue.ns, 3 * MS);
	assert_int_equal(ledger->run_queue.count, 2);
	assert_int_equal(ledger->run_queue.longest_ns, 2 * MS);
	assert_int_equal(ledger->blocked[TREE_WAIT_LOCK].ns, 6 * MS);
	assert_int_equal(ledger->blocked[TREE_WAIT_LOCK].count, 2);
	assert_int_equal(ledger->blocked[TREE_WAIT_LOCK].longest_ns, 5 * MS);
	assert_int_equal(ledger->off_cpu.count, 3);
	assert_int_equal(ledger->off_cpu.longest_ns, 7 * MS);
	assert_int_equal(ledger->off_cpu.shortest_ns, MS);
	for (int i = 0; i < TREE_REASONS; i++)
		if (i != TREE_WAIT_LOCK)
			assert_int_equal(ledger->blocked[i].count, 0);
	assert_int_equal(thread->sequence % 2, 0);
}

static void who_is_pushed_off_waits_for_a_cpu(void **state)
{
	(void)state;
	switch_at(3 * MS, &actor, 0, &idle);
	assert_int_equal(thread->reason, RUNNABLE);
	switch_at(7 * MS, &idle, 0, &actor);
	switch_at(8 * MS, &actor, 0, &idle);
	assert_int_equal(thread->ledger.run_queue.ns, 5 * MS);
	assert_int_equal(thread->ledger.run_queue.longest_ns, 4 * MS);
}

static void a_switch_by_force_is_no_wait(void **state)
{
	__u64 arguments[] = { 1, (__u64)&actor, (__u64)&idle, SLEEPING };

	(void)state;
	actor.task.__state = SLEEPING;
	tree_switch(arguments);
	assert_int_equal(thread->reason, RUNNABLE);
}

static void a_signal_keeps_a_task_running_that_was_to_sleep(void **state)
{
	__u64 arguments[] = { 0, (__u64)&actor, (__u64)&idle, SLEEPING };

	(void)state;
	actor.task.__state = 0;
	tree_switch(arguments);
	assert_int_equal(thread->reason, RUNNABLE);
}

static void who_waited_for_a_cpu_longer_than_it_was_off_waited_all_the_time(void **state)
{
	(void)state;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.sched_info.run_delay += 9 * MS;
	switch_at(5 * MS, &idle, 0, &actor);
	switch_at(6 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->ledger.run_queue.ns, 3 * MS);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, 0);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].count, 1);
}

/* Sleeps from 3 to 7 ms and comes onto a CPU at 9 ms; the scheduler counts more as waiting for that. */
static void be_moved_asleep(__u64 last_queued)
{
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.sched_info.last_queued = last_queued;
	wake_at(7 * MS, &actor);
	actor.task.sched_info.run_delay += 5 * MS;
	actor.task.sched_info.last_queued = 0;
	switch_at(9 * MS, &idle, 0, &actor);
	switch_at(10 * MS, &actor, SLEEPING, &idle);
}

static void a_wait_for_a_cpu_begins_when_the_thread_is_woken(void **state)
{
	for (__u32 i = 0; i < 2; i++) {
		setup(state);
		want_waits = i;
		be_moved_asleep(SCHEDULER_CLOCK(4 * MS));
		assert_int_equal(thread->ledger.run_queue.ns, 3 * MS);
		assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, 4 * MS);
		/* That waking is none of the next wait. */
		actor.task.sched_info.run_delay += 3 * MS;
		switch_at(14 * MS, &idle, 0, &actor);
		switch_at(15 * MS, &actor, SLEEPING, &idle);
		assert_int_equal(thread->ledger.run_queue.ns, 6 * MS);
		assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, 5 * MS);
	}
}

/* Without the critical path only a waking matters that the scheduler gets wrong. */
static void an_ordinary_waking_is_not_looked_at(void **state)
{
	(void)state;
	be_moved_asleep(0);
	assert_int_equal(thread->ledger.run_queue.ns, 6 * MS);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, MS);
}

/* It is about to sleep, and will not. */
static void a_waking_before_the_thread_has_left_bounds_nothing(void **state)
{
	(void)state;
	actor.task.sched_info.last_queued = SCHEDULER_CLOCK(MS);
	wake_at(3 * MS, &actor);
	assert_int_equal(thread->wake_ns, 0);
	wake_at(3 * MS, &waker);
	assert_null(thread_find(&waker.task));
}

/* The switch that brought it need not be observed. */
static void the_scheduler_knows_when_a_thread_came(void **state)
{
	(void)state;
	run_for(MS);
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.sched_info.last_arrival = SCHEDULER_CLOCK(8 * MS);
	switch_at(10 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->in_ns, 8 * MS);
	assert_int_equal(thread->arrival, SCHEDULER_CLOCK(8 * MS));
	assert_int_equal(thread->clock_offset, -SCHEDULER_CLOCK(0));
	assert_int_equal(thread->ledger.on_cpu_ns, 3 * MS);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, 5 * MS);
	/* It cannot have come before it left. */
	actor.task.sched_info.last_arrival = SCHEDULER_CLOCK(5 * MS);
	switch_at(13 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->in_ns, 10 * MS + 1);
}

static void without_the_scheduler_a_thread_is_charged_what_it_ran(void **state)
{
	(void)state;
	kernel_lacks = "struct task_struct, sched_info.last_arrival";
	actor.task.se.sum_exec_runtime = thread->cpu_ns + MS;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.se.sum_exec_runtime += 2 * MS;
	switch_at(10 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->ledger.on_cpu_ns, 3 * MS);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, 5 * MS);
	actor.task.se.sum_exec_runtime += 20 * MS;
	switch_at(12 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->ledger.on_cpu_ns, 5 * MS - 1);
}

static void nothing_counts_before_the_exec(void **state)
{
	(void)state;
	thread->phase = PHASE_ARMED;
	actor.task.se.sum_exec_runtime = 44;
	switch_at(5 * MS, &actor, SLEEPING, &idle);
	switch_at(6 * MS, &idle, 0, &actor);
	assert_int_equal(thread->armed_cpu, 44);
	assert_int_equal(thread->in_ns, 6 * MS);
	assert_int_equal(thread->phase, PHASE_ARMED);
	assert_int_equal(thread->ledger.off_cpu.count, 0);
}

static void strangers_are_left_alone(void **state)
{
	(void)state;
	switch_at(5 * MS, &waker, SLEEPING, &idle);
	switch_at(6 * MS, &idle, SLEEPING, &waker);
	assert_null(thread_find(&waker.task));
	assert_int_equal(kernel_sent_count, 0);
}

/* A wait is sent when the next one begins; what the thread made meanwhile is of the next one. */
static void forks_belong_to_the_wait_after_them(void **state)
{
	static struct actor child;
	size_t seen = 0;

	(void)state;
	want_waits = 1;
	actor_init(&child, 30, 30, NULL);
	run_for(MS);
	sleep_for(MS, 0);
	run_for(MS);
	fork_to(&actor, &child);
	sleep_for(MS, 0);
	run_for(MS);
	switch_at(kernel_now, &actor, SLEEPING, &idle);
	for (size_t i = 0; i < kernel_sent_count; i++) {
		const struct tree_off_cpu_record *record = sent(i);

		if (record->head.type != TREE_RECORD_WAIT || record->serial != thread->serial)
			continue;
		assert_int_equal(record->forks, record->block_ns == 5 * MS);
		seen++;
	}
	assert_int_equal(seen, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(each_moment_is_entered_once),
		TEST(who_is_pushed_off_waits_for_a_cpu),
		TEST(a_switch_by_force_is_no_wait),
		TEST(a_signal_keeps_a_task_running_that_was_to_sleep),
		TEST(who_waited_for_a_cpu_longer_than_it_was_off_waited_all_the_time),
		TEST(a_wait_for_a_cpu_begins_when_the_thread_is_woken),
		TEST(an_ordinary_waking_is_not_looked_at),
		TEST(a_waking_before_the_thread_has_left_bounds_nothing),
		TEST(the_scheduler_knows_when_a_thread_came),
		TEST(without_the_scheduler_a_thread_is_charged_what_it_ran),
		TEST(nothing_counts_before_the_exec),
		TEST(strangers_are_left_alone),
		TEST(forks_belong_to_the_wait_after_them),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

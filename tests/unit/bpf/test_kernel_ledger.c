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

/* Nobody saw it coming: its CPU time says when it came. */
static void who_came_unseen_is_charged_what_it_ran(void **state)
{
	(void)state;
	run_for(MS);
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.se.sum_exec_runtime += 2 * MS;
	switch_at(10 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->ledger.on_cpu_ns, 3 * MS);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_LOCK].ns, 5 * MS);
	actor.task.se.sum_exec_runtime += 20 * MS;
	switch_at(12 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->ledger.on_cpu_ns, 5 * MS);
}

static void who_left_unseen_waited_for_something(void **state)
{
	(void)state;
	switch_at(6 * MS, &idle, 0, &actor);
	switch_at(7 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(thread->ledger.on_cpu_ns, MS);
	assert_int_equal(thread->ledger.blocked[TREE_WAIT_OTHER].ns, 3 * MS);
	assert_int_equal(thread->ledger.run_queue.ns, MS);
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

static void both_sides_of_a_switch_have_the_same_time(void **state)
{
	struct thread_state *other = join(&waker);

	(void)state;
	switch_at(9 * MS, &actor, SLEEPING, &waker);
	assert_int_equal(thread->out_ns, 9 * MS);
	assert_int_equal(other->in_ns, 9 * MS);
	assert_int_equal(thread->phase, PHASE_OFF_CPU);
	assert_int_equal(other->phase, PHASE_ON_CPU);
}

static void wake(struct actor *by, __u64 now)
{
	__u64 arguments[] = { (__u64)&actor };

	kernel_now = now;
	kernel_current = &by->task;
	tree_waking(arguments);
}

/* It sleeps for so long, until somebody wakes it. */
static void be_woken(struct actor *by, __u64 ns)
{
	switch_at(kernel_now, &actor, SLEEPING, &idle);
	wake(by, kernel_now + ns);
	switch_at(kernel_now, &idle, 0, &actor);
	switch_at(kernel_now, &actor, 0, &idle);
	switch_at(kernel_now, &idle, 0, &actor);
}

static void who_ends_a_wait_is_told(void **state)
{
	struct tree_waker_record expected = { .pid = 20,
					      .tid = 20,
					      .reason = TREE_WAIT_LOCK,
					      .count = 2,
					      .total_ns = 3 * MS,
					      .longest_ns = 2 * MS };

	(void)state;
	waker.registers.orig_ax = 0;
	be_woken(&waker, 2 * MS);
	be_woken(&waker, MS);
	memcpy(expected.comm, waker.task.comm, sizeof(expected.comm));
	assert_int_equal(thread->waker_count, 1);
	assert_memory_equal(&thread->wakers[0], &expected, sizeof(expected));
	assert_int_equal(thread->waker.pid, 0);
	assert_int_equal(thread->waker.tid, 0);
	assert_int_equal(thread->waker.comm[0], 0);
	assert_int_equal(thread->waker.comm[1], 0);
	be_woken(&waker, WAKER_WAIT_NS);
	assert_int_equal(thread->wakers[0].count, 3);
	be_woken(&waker, WAKER_WAIT_NS - 1);
	assert_int_equal(thread->wakers[0].count, 3);
}

static void wakers_are_kept_only_if_wanted(void **state)
{
	(void)state;
	want_wakers = 0;
	be_woken(&waker, MS);
	assert_int_equal(thread->waker_count, 0);
}

static void who_was_interrupted_is_no_waker(void **state)
{
	(void)state;
	waker.registers.orig_ax = 0;
	wake(&waker, 9 * MS);
	assert_int_equal(thread->waker.tid, 20);
	waker.registers.orig_ax = (unsigned long)-1;
	wake(&waker, 9 * MS);
	assert_int_equal(thread->waker.pid, 0);
	assert_int_equal(thread->waker.tid, 0);
	assert_int_equal(thread->waker.comm[0], 0);
	assert_int_equal(thread->waker.comm[1], 0);
	waker.task.flags = PF_EXITING;
	wake(&waker, 9 * MS);
	assert_int_equal(thread->waker.pid, 20);
	waker.task.flags = PF_KTHREAD;
	waker.task.pid = 0;
	wake(&waker, 9 * MS);
	assert_int_equal(thread->waker.pid, 0);
	waker.task.pid = 20;
	wake(&waker, 9 * MS);
	assert_int_equal(thread->waker.pid, 20);
	wake(&idle, WAKER_WAIT_NS + thread->out_ns - 1);
	assert_int_equal(thread->waker.pid, 20);
	wake(&idle, WAKER_WAIT_NS + thread->out_ns);
	assert_int_equal(thread->waker.pid, 0);
}

static void nobody_ends_a_sleep(void **state)
{
	(void)state;
	waker.registers.orig_ax = 0;
	((__u8 *)rules)[SLEEP] = TREE_WAIT_TIMER;
	be_woken(&waker, MS);
	((__u8 *)rules)[SLEEP] = TREE_WAIT_DISK;
	be_woken(&waker, MS);
	assert_int_equal(thread->waker_count, 2);
	assert_int_equal(thread->wakers[0].reason, TREE_WAIT_TIMER);
	assert_int_equal(thread->wakers[1].reason, TREE_WAIT_DISK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(thread->wakers[i].pid, 0);
		assert_int_equal(thread->wakers[i].comm[0], 0);
	}
}

static void children_of_one_name_are_one_waker(void **state)
{
	(void)state;
	waker.registers.orig_ax = 0;
	((__u8 *)rules)[SLEEP] = TREE_WAIT_CHILD;
	be_woken(&waker, MS);
	waker.task.pid = waker.task.tgid = 21;
	be_woken(&waker, MS);
	assert_int_equal(thread->waker_count, 1);
	assert_int_equal(thread->wakers[0].pid, 21);
	waker.task.comm[0]++;
	be_woken(&waker, MS);
	waker.task.comm[9]++;
	be_woken(&waker, MS);
	assert_int_equal(thread->waker_count, 3);
}

static void other_threads_are_other_wakers(void **state)
{
	(void)state;
	waker.registers.orig_ax = 0;
	be_woken(&waker, MS);
	waker.task.pid++;
	be_woken(&waker, MS);
	waker.task.pid--;
	waker.task.tgid++;
	be_woken(&waker, MS);
	assert_int_equal(thread->waker_count, 3);
}

static void the_longest_waits_keep_their_wakers(void **state)
{
	(void)state;
	waker.registers.orig_ax = 0;
	for (int i = 0; i < TREE_WAKERS_MAX; i++) {
		waker.task.pid = 100 + i;
		be_woken(&waker, (i == 3 ? 2 : 5) * MS);
	}
	assert_int_equal(losses[TREE_LOSS_WAKERS], 0);
	waker.task.pid = 103;
	be_woken(&waker, MS);
	thread->ledger.on_cpu_ns = 3 + TREE_WAKERS_MAX;
	waker.task.pid = 200;
	be_woken(&waker, 3 * MS);
	assert_int_equal(losses[TREE_LOSS_WAKERS], 1);
	assert_int_equal(thread->wakers[3].tid, 103);
	be_woken(&waker, 4 * MS);
	assert_int_equal(losses[TREE_LOSS_WAKERS], 3);
	assert_int_equal(thread->wakers[3].tid, 200);
	assert_int_equal(thread->wakers[3].count, 1);
	assert_int_equal(thread->wakers[3].total_ns, 4 * MS);
	assert_int_equal(thread->wakers[3].longest_ns, 4 * MS);
	assert_int_equal(thread->waker_count, TREE_WAKERS_MAX);
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
		TEST(who_came_unseen_is_charged_what_it_ran),
		TEST(who_left_unseen_waited_for_something),
		TEST(nothing_counts_before_the_exec),
		TEST(strangers_are_left_alone),
		TEST(both_sides_of_a_switch_have_the_same_time),
		TEST(who_ends_a_wait_is_told),
		TEST(wakers_are_kept_only_if_wanted),
		TEST(who_was_interrupted_is_no_waker),
		TEST(nobody_ends_a_sleep),
		TEST(children_of_one_name_are_one_waker),
		TEST(other_threads_are_other_wakers),
		TEST(the_longest_waits_keep_their_wakers),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

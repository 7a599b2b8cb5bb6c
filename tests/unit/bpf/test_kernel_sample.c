/* SPDX-License-Identifier: MIT */
/* What a sample of a thread that lives says about its time. */
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

static void a_look_says_who_it_is(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.task.exit_state = 16;
	record = look_at(&actor);
	assert_int_equal(kernel_output_size, sizeof(*record));
	assert_int_equal(record->head.size, sizeof(*record));
	assert_int_equal(record->head.type, TREE_RECORD_THREAD);
	assert_int_equal(record->head.pid, 10);
	assert_int_equal(record->head.tid, 10);
	assert_int_equal(record->head.start_ns, 10000);
	assert_int_equal(record->head.time_ns, 2 * MS);
	assert_int_equal(record->begin_ns, MS);
	assert_int_equal(record->exit_state, 16);
	assert_string_equal(record->comm, "actor of no 10");
	assert_int_equal(record->flags, TREE_THREAD_ON_CPU | TREE_THREAD_RUN_QUEUE);
	assert_int_equal(record->unnamed_calls + record->unnamed_ns, 0);
	assert_int_equal(record->call_count, 0);
}

static void a_look_at_a_thread_that_runs(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	kernel_now = 5 * MS;
	record = look_at(&actor);
	assert_int_equal(record->since_ns, 2 * MS);
	assert_int_equal(record->ledger.on_cpu_ns, 3 * MS);
	assert_int_equal(record->ledger.run_queue.ns, MS);
	assert_int_equal(record->ledger.off_cpu.count, 1);
	assert_int_equal(record->ledger.off_cpu.shortest_ns, MS);
	assert_int_equal(record->head.time_ns, 5 * MS);
	assert_int_equal(thread->ledger.off_cpu.count, 0);
}

static void a_look_at_a_thread_that_came_back(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.sched_info.run_delay += 2 * MS;
	switch_at(9 * MS, &idle, 0, &actor);
	record = look_at(&actor);
	assert_int_equal(record->ledger.run_queue.ns, 3 * MS);
	assert_int_equal(record->ledger.blocked[TREE_WAIT_LOCK].ns, 4 * MS);
	assert_int_equal(record->reason, 0);
	assert_int_equal(sum_of(&record->ledger), 8 * MS);
}

static void a_look_at_a_thread_that_waits(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	kernel_now = 8 * MS;
	record = look_at(&actor);
	assert_int_equal(record->flags,
			 TREE_THREAD_BLOCKED | TREE_THREAD_IN_SYSCALL | TREE_THREAD_RUN_QUEUE);
	assert_int_equal(record->state, SLEEPING);
	assert_int_equal(record->reason, TREE_WAIT_LOCK);
	assert_int_equal(record->number, SLEEP);
	assert_int_equal(record->abi, TREE_ABI_NATIVE);
	assert_int_equal(record->since_ns, 3 * MS);
	assert_int_equal(record->ledger.blocked[TREE_WAIT_LOCK].ns, 5 * MS);
	assert_int_equal(record->ledger.off_cpu.count, 2);
	assert_int_equal(record->ledger.off_cpu.longest_ns, 5 * MS);
	assert_int_equal(record->ledger.off_cpu.shortest_ns, MS);
	assert_int_equal(sum_of(&record->ledger), 7 * MS);
}

static void a_look_at_a_thread_that_was_woken(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.__state = 0;
	actor.task.sched_info.last_queued = SCHEDULER_CLOCK(6 * MS);
	kernel_now = 8 * MS;
	record = look_at(&actor);
	assert_int_equal(record->flags & TREE_THREAD_BLOCKED, 0);
	assert_int_equal(record->reason, 0);
	assert_int_equal(record->ledger.run_queue.ns, 3 * MS);
	assert_int_equal(record->ledger.blocked[TREE_WAIT_LOCK].ns, 3 * MS);
	assert_int_equal(sum_of(&record->ledger), 7 * MS);
}

static void how_long_a_thread_is_queued(void **state)
{
	struct thread_state since = { .clock_offset = (__u64)-1000 };
	struct moment moment = { .now = 100, .queued = 1060 };

	(void)state;
	assert_int_equal(queued_now(&since, &moment), 40);
	moment.queued = 1100;
	assert_int_equal(queued_now(&since, &moment), 0);
	moment.queued = 1101;
	assert_int_equal(queued_now(&since, &moment), 0);
	moment.queued = 0;
	assert_int_equal(queued_now(&since, &moment), 0);
	moment.queued = 60;
	since.clock_offset = 0;
	assert_int_equal(queued_now(&since, &moment), 0);
}

static void a_kernel_may_not_tell_who_is_queued(void **state)
{
	struct moment moment = { .queued = 1, .arrival = 1 };

	(void)state;
	actor.task.sched_info.last_queued = actor.task.sched_info.last_arrival = 5;
	kernel_lacks = "task->sched_info.last_queued";
	moment_read(&actor.task, &moment);
	assert_int_equal(moment.queued, 0);
	assert_int_equal(moment.arrival, 0);
	kernel_lacks = "task->sched_info.run_delay";
	assert_int_equal(look_at(&actor)->flags, TREE_THREAD_ON_CPU);
	assert_int_equal(task_run_delay(&actor.task), 0);
}

/* It was switched in on a CPU whose switches from the idle task are not reported. */
static void a_look_at_a_thread_that_came_unseen(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.on_cpu = 1;
	kernel_now = 9 * MS;
	/* It has not come yet, or has not gone yet. */
	assert_int_equal(look_at(&actor)->flags & TREE_THREAD_ON_CPU, 0);
	actor.task.sched_info.last_arrival = SCHEDULER_CLOCK(7 * MS);
	record = look_at(&actor);
	assert_int_equal(record->flags & TREE_THREAD_ON_CPU, TREE_THREAD_ON_CPU);
	assert_int_equal(record->since_ns, 7 * MS);
	assert_int_equal(record->ledger.on_cpu_ns, 3 * MS);
	assert_int_equal(record->ledger.blocked[TREE_WAIT_LOCK].ns, 4 * MS);
	assert_int_equal(record->ledger.off_cpu.longest_ns, 4 * MS);
	assert_int_equal(sum_of(&record->ledger), 8 * MS);
	actor.task.sched_info.last_arrival = SCHEDULER_CLOCK(1 * MS);
	assert_int_equal(look_at(&actor)->since_ns, 3 * MS + 1);
	actor.task.sched_info.last_arrival = SCHEDULER_CLOCK(10 * MS);
	assert_int_equal(look_at(&actor)->since_ns, 9 * MS);
}

static void without_the_scheduler_the_cpu_time_says_when_a_thread_came(void **state)
{
	(void)state;
	kernel_lacks = "struct task_struct, sched_info.last_arrival";
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.on_cpu = 1;
	actor.task.se.sum_exec_runtime = 2 * MS;
	kernel_now = 9 * MS;
	assert_int_equal(look_at(&actor)->since_ns, 7 * MS);
	actor.task.se.sum_exec_runtime = 100 * MS;
	assert_int_equal(look_at(&actor)->since_ns, 3 * MS + 1);
}

static void a_thread_that_goes_off_before_it_is_seen_to(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.task.on_cpu = 0;
	kernel_now = 3 * MS;
	thread->out_ns = 2 * MS;
	record = look_at(&actor);
	assert_int_equal(record->ledger.off_cpu.count, 1);
	assert_int_equal(record->ledger.off_cpu.shortest_ns, 0);
	assert_int_equal(record->flags & (TREE_THREAD_ON_CPU | TREE_THREAD_BLOCKED), 0);
}

static void an_account_that_changes_all_the_time_is_left_out(void **state)
{
	(void)state;
	thread->sequence = 7;
	assert_null(look_at(&actor));
	assert_int_equal(torn_samples, 1);
	thread->sequence = 8;
	assert_non_null(look_at(&actor));
	assert_int_equal(torn_samples, 1);
}

/* Another CPU switches the thread while it is sampled, as often as this says. */
static int switches, times_read;

static void switch_meanwhile(void)
{
	times_read++;
	if (switches <= 0)
		return;
	switches--;
	thread->sequence += 2;
	actor.task.on_cpu = 0;
	thread->ledger.on_cpu_ns += 100;
}

static void an_account_that_changes_meanwhile_is_taken_again(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	kernel_meanwhile = switch_meanwhile;
	switches = times_read = 0;
	assert_non_null(look_at(&actor));
	assert_int_equal(times_read, 1);
	switches = SEQUENCE_TRIES - 1;
	record = look_at(&actor);
	assert_non_null(record);
	assert_int_equal(record->flags & TREE_THREAD_ON_CPU, 0);
	assert_int_equal(record->ledger.on_cpu_ns, 100 * (SEQUENCE_TRIES - 1));
	assert_int_equal(torn_samples, 0);
	switches = SEQUENCE_TRIES;
	assert_null(look_at(&actor));
	assert_int_equal(torn_samples, 1);
}

static void who_was_queued_longer_than_it_is_off_waits_all_the_time(void **state)
{
	(void)state;
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.__state = 0;
	actor.task.sched_info.run_delay += 9 * MS;
	kernel_now = 5 * MS;
	assert_int_equal(look_at(&actor)->ledger.run_queue.ns, 3 * MS);
	assert_int_equal(look_at(&actor)->ledger.blocked[TREE_WAIT_LOCK].ns, 0);
}

/* The scheduler may have moved it to another run queue in its sleep. */
static void who_sleeps_waits_for_no_cpu(void **state)
{
	struct tree_thread_record *record;

	(void)state;
	actor.registers.orig_ax = SLEEP;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	actor.task.sched_info.last_queued = SCHEDULER_CLOCK(5 * MS);
	actor.task.sched_info.run_delay += MS;
	kernel_now = 8 * MS;
	record = look_at(&actor);
	assert_int_equal(record->ledger.run_queue.ns, MS);
	assert_int_equal(record->ledger.blocked[TREE_WAIT_LOCK].ns, 5 * MS);
	wake_at(7 * MS, &actor);
	kernel_now = 8 * MS;
	record = look_at(&actor);
	assert_int_equal(record->ledger.run_queue.ns, 2 * MS);
	assert_int_equal(record->ledger.blocked[TREE_WAIT_LOCK].ns, 4 * MS);
}

static void who_has_not_begun_or_has_ended_is_not_looked_at(void **state)
{
	(void)state;
	assert_null(look_at(&idle));
	thread->phase = PHASE_ARMED;
	assert_null(look_at(&actor));
	thread->phase = PHASE_ENDED;
	assert_null(look_at(&actor));
	assert_int_equal(torn_samples, 0);
}

static void the_call_that_a_thread_is_in(void **state)
{
	(void)state;
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	assert_int_equal(look_at(&actor)->flags & TREE_THREAD_IN_SYSCALL, 0);
	actor.registers.orig_ax = 0;
	assert_int_equal(look_at(&actor)->flags & TREE_THREAD_IN_SYSCALL, TREE_THREAD_IN_SYSCALL);
	actor.task.thread_info.status = TS_COMPAT;
	assert_int_equal(look_at(&actor)->abi, TREE_ABI_COMPAT);
	actor.task.flags = PF_EXITING;
	assert_int_equal(look_at(&actor)->flags & TREE_THREAD_IN_SYSCALL, 0);
	actor.task.flags = 0;
	actor.task.on_cpu = 1;
	actor.task.sched_info.last_arrival++;
	assert_int_equal(look_at(&actor)->flags & TREE_THREAD_IN_SYSCALL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_look_says_who_it_is),
		TEST(a_look_at_a_thread_that_runs),
		TEST(a_look_at_a_thread_that_came_back),
		TEST(a_look_at_a_thread_that_waits),
		TEST(a_look_at_a_thread_that_was_woken),
		TEST(how_long_a_thread_is_queued),
		TEST(a_kernel_may_not_tell_who_is_queued),
		TEST(a_look_at_a_thread_that_came_unseen),
		TEST(without_the_scheduler_the_cpu_time_says_when_a_thread_came),
		TEST(a_thread_that_goes_off_before_it_is_seen_to),
		TEST(an_account_that_changes_all_the_time_is_left_out),
		TEST(an_account_that_changes_meanwhile_is_taken_again),
		TEST(who_was_queued_longer_than_it_is_off_waits_all_the_time),
		TEST(who_sleeps_waits_for_no_cpu),
		TEST(who_has_not_begun_or_has_ended_is_not_looked_at),
		TEST(the_call_that_a_thread_is_in),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

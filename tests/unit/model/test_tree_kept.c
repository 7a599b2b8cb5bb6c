/* SPDX-License-Identifier: MIT */
/* The memory of a tree: who is kept, calls and waits of those that ended, no memory at all. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "scarce_memory.h"
#include "tree_events.h"

#include "base/cleanup.h"
#include "model/tree/tree_index.h"

static const char *const call_names[] = { "read", "write", "close" };
#define CALLS 3
#define MS 1000000ull

/* Each of the calls `count` times, 10 ns each; a third of them on sockets. */
static void end_with_calls(struct tree *tree, int32_t pid, int32_t tid, uint64_t start_ns,
			   uint64_t count)
{
	struct tree_event event = account_of(pid, tid, start_ns, 1000, 500);
	struct tree_syscall calls[CALLS] = { 0 };

	for (int i = 0; i < CALLS; i++) {
		calls[i].number = (uint32_t)syscall_number(call_names[i]);
		calls[i].stats.count = count;
		calls[i].stats.total_ns = count * 10;
		calls[i].stats.buckets[0] = count;
	}
	calls[0].socket_count = count / 3;
	calls[0].socket_ns = 10 * (count / 3);
	event.account.ended = true;
	event.account.has_syscalls = true;
	event.account.syscalls = calls;
	event.account.syscall_count = CALLS;
	event.account.unnamed_syscalls = 2;
	event.account.unnamed_ns = 5;
	apply(tree, &event);
}

static uint64_t calls_named(const struct syscall_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return table->rows[i].stats.count;
	return 0;
}

static void system_calls_are_there_when_a_process_is_taken(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	const struct tree_process *process;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	end_with_calls(tree, 10, 10, 100, 30);
	end_with_calls(tree, 10, 11, 110, 60);
	exit_at(tree, 10, 100, 2000, 0);
	process = tree_take_ended(tree);
	assert_int_equal(calls_named(&process->syscalls, "read"), 90);
	assert_int_equal(calls_named(&process->live[0]->syscalls, "read"), 30);
	assert_int_equal(calls_named(&tree->syscalls, "write"), 90);
	assert_int_equal(process->syscalls.by_category[SYSCALL_NETWORK], 30);
	assert_int_equal(process->syscalls.category_ns[SYSCALL_NETWORK], 300);
	assert_int_equal(process->syscalls.by_category[SYSCALL_FILE_IO], 240);
	assert_int_equal(tree->unnamed_syscalls, 4);
	assert_null(tree_take_ended(tree));
	assert_int_equal(tree->root->syscalls.count, 0);
	tree_sum_up(tree);
	assert_int_equal(calls_named(&tree->syscalls, "close"), 90);
}

static void system_calls_of_the_living_join_the_sum_at_the_end(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_syscall call = { .number = (uint32_t)syscall_number("futex") };
	struct tree_event event;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	event = account_of(10, 10, 100, 1000, 500);
	event.account.has_syscalls = true;
	event.account.syscalls = &call;
	event.account.syscall_count = 1;
	for (int i = 1; i <= 3; i++) {
		call.stats.count = i == 3 ? 1 : (uint64_t)i * 10; /* the last one says less */
		apply(tree, &event);
	}
	assert_int_equal(calls_named(&tree->syscalls, "futex"), 0);
	tree_sum_up(tree);
	tree_sum_up(tree);
	assert_int_equal(calls_named(&tree->syscalls, "futex"), 20);
	assert_int_equal(calls_named(&tree->root->syscalls, "futex"), 20);
}

static void woken(struct tree *tree, int32_t tid, enum wait_reason reason, int32_t by, uint64_t ns)
{
	struct tree_event event = event_of(TREE_WAIT, 10, tid, (uint64_t)tid, 5);

	event.wait = (struct tree_wait_event){
		.wake_ns = ns,
		.run_ns = ns,
		.reason = reason,
		.waker_class = WAKER_OUTSIDE,
		.waker_pid = by,
		.waker_tid = by,
	};
	apply(tree, &event);
}

static void wait_for(struct tree *tree, int32_t tid, enum wait_reason reason, uint64_t ns,
		     bool ended)
{
	struct tree_event event = account_of(10, tid, (uint64_t)tid, 5, 0);

	amounts_set_waited(&event.account.amounts, reason, (struct waited){ ns, 2, ns / 2 });
	apply(tree, &event);
	woken(tree, tid, reason, 1, ns / 4);
	woken(tree, tid, reason, 3, ns / 2);
	woken(tree, tid, WAIT_OTHER, 4, ns);
	event.account.ended = ended;
	apply(tree, &event);
}

static void costly_waits_come_first_each_with_who_ended_it_most(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 10);
	wait_for(tree, 10, WAIT_POLL, 100000 * MS, false);
	wait_for(tree, 11, WAIT_LOCK, 400 * MS, true);
	wait_for(tree, 12, WAIT_DISK, 800 * MS, false);
	tree_sum_up(tree);
	assert_int_equal(tree->top_wait_count, 3);
	assert_int_equal(tree->top_waits[0].reason, WAIT_DISK);
	assert_int_equal(tree->top_waits[0].thread.tid, 12);
	assert_int_equal(tree->top_waits[0].waker.waker_tid, 3);
	assert_int_equal(tree->top_waits[0].waker.total_ns, 400 * MS);
	assert_int_equal(tree->top_waits[1].reason, WAIT_LOCK);
	assert_int_equal(tree->top_waits[1].count, 2);
	assert_int_equal(tree->top_waits[2].reason, WAIT_POLL);
	assert_int_equal(tree->top_waits[2].total_ns, 100000 * MS);
}

static void only_the_longest_waits_are_named(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 10);
	for (int i = 0; i < 100; i++)
		wait_for(tree, 100 + i * 37 % 100, WAIT_LOCK, 1000 + (uint64_t)(i * 37 % 100),
			 true);
	tree_sum_up(tree);
	assert_int_equal(tree->top_wait_count, TREE_TOP_WAITS);
	for (size_t i = 0; i < TREE_TOP_WAITS; i++)
		assert_int_equal(tree->top_waits[i].total_ns, 1099 - i);
}

/* Twice as many as are kept: the longer half is. */
static void those_that_took_the_most_time_are_kept(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_sums sums = { 0 };

	(void)state;
	fork_at(tree, 1, 1, 1, 1);
	for (int i = 0; i < 2 * TREE_KEPT; i++) {
		uint64_t cpu_ns = 1 + (uint64_t)(i * 2531 % (2 * TREE_KEPT));

		fork_at(tree, 1, 10 + i, 10 + i, 100);
		account_at(tree, 10 + i, 10 + i, 100, cpu_ns, true);
		exit_at(tree, 10 + i, 100, 200, 0);
		assert_non_null(tree_take_ended(tree));
	}
	assert_null(tree_take_ended(tree));
	assert_int_equal(tree->ended_count, TREE_KEPT);
	assert_int_equal(tree->count, TREE_KEPT + 1);
	assert_int_equal(tree->folded_threads, TREE_KEPT);
	assert_int_equal(tree->folded_processes, TREE_KEPT);
	for (size_t i = 0; i < TREE_KEPT; i++)
		assert_true(amounts_get(&tree->ended[i]->amounts, AMOUNT_run_time_ns) > TREE_KEPT);
	for (size_t i = 0; i < tree->count; i++)
		assert_true(tree->all[i] == tree->root ||
			    amounts_get(&tree->all[i]->amounts, AMOUNT_run_time_ns) > TREE_KEPT);
	tree_visit_threads(tree, sum_thread, &sums);
	amounts_add(&sums.amounts, &tree->folded);
	assert_memory_equal(&tree->amounts, &sums.amounts, sizeof(tree->amounts));
}

/* A process of one thread that ran so long, under a name of its own. */
static void run_program(struct tree *tree, int32_t pid, const char *comm, uint64_t cpu_ns)
{
	struct tree_event event = event_of(TREE_EXEC, pid, pid, 100, 101);

	fork_at(tree, 1, pid, pid, 100);
	snprintf(event.exec.comm, sizeof(event.exec.comm), "%s", comm);
	apply(tree, &event);
	memory_of(tree, pid, 100, (uint64_t)pid);
	account_at(tree, pid, pid, 100, cpu_ns, true);
	exit_at(tree, pid, 100, 100 + cpu_ns, pid % 2 << 8);
	assert_non_null(tree_take_ended(tree));
}

static void those_that_are_not_kept_are_added_up_by_program(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 1, 1, 1);
	for (int i = 0; i < TREE_KEPT; i++)
		run_program(tree, 10000 + i, "heavy", 1000);
	for (int i = 0; i < 10; i++)
		run_program(tree, 10 + i, i % 2 ? "odd" : "even", 10);
	assert_null(tree_take_ended(tree));
	assert_int_equal(tree->program_count, 2);
	assert_string_equal(tree->programs[0].comm, "even");
	assert_int_equal(tree->programs[0].processes, 5);
	assert_int_equal(tree->programs[0].failures, 0);
	assert_string_equal(tree->programs[1].comm, "odd");
	assert_int_equal(tree->programs[1].threads, 5);
	assert_int_equal(tree->programs[1].failures, 5);
	assert_int_equal(amounts_cpu_ns(&tree->programs[1].amounts), 50);
	assert_int_equal(amounts_waited(&tree->programs[1].amounts, WAIT_LOCK).ns, 5);
	assert_true(tree->programs[1].has_peak_rss);
	assert_int_equal(tree->programs[1].peak_rss_bytes, 19);
	assert_int_equal(tree->programs[1].end_ns, 110);
	assert_string_equal(tree->ended[0]->program, "heavy");
}

static void programs_without_end_are_added_up_as_one(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	uint64_t processes = 0;

	(void)state;
	for (int i = 0; i < 3 * TREE_PROGRAMS; i++) {
		struct tree_process process = { .threads = 1 };

		snprintf(process.comm, sizeof(process.comm), "p%d", i % (TREE_PROGRAMS + 7));
		tree_fold_process(tree, &process);
	}
	assert_int_equal(tree->program_count, TREE_PROGRAMS);
	for (size_t i = 0; i < tree->program_count; i++)
		processes += tree->programs[i].processes;
	assert_int_equal(tree->other_programs.processes, 3 * TREE_PROGRAMS - processes);
	assert_int_equal(tree->other_programs.processes, 14);
	assert_int_equal(tree->folded_processes, 3 * TREE_PROGRAMS);
}

static void the_process_nearest_to_its_limit_is_kept_as_long_as_it_is(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 1, 1, 1);
	for (int i = 0; i < 2 * TREE_KEPT + 10; i++) {
		struct tree_event event = event_of(TREE_PROCESS, 10 + i, 10 + i, 100, 150);

		fork_at(tree, 1, 10 + i, 10 + i, 100);
		event.process.present = TREE_PROCESS_FDS | TREE_PROCESS_FD_LIMIT;
		event.process.fds = (uint64_t)(i < 100 ? i : 5);
		event.process.fd_limit = 1000;
		apply(tree, &event);
		account_at(tree, 10 + i, 10 + i, 100, (uint64_t)i + 1, true);
		exit_at(tree, 10 + i, 100, 200, 0);
		tree_take_ended(tree);
	}
	assert_int_equal(tree->fullest->key.pid, 109);
	assert_int_equal(tree->fullest->peak_fds, 99);
	assert_true(tree->count <= TREE_KEPT + 3);
}

static void end_with(struct tree *tree, int32_t pid, uint64_t cpu_ns)
{
	fork_at(tree, 1, pid, pid, 100);
	account_at(tree, pid, pid, 100, cpu_ns, true);
	exit_at(tree, pid, 100, 200, 0);
	while (tree_take_ended(tree))
		;
}

static bool has_process(const struct tree *tree, const struct tree_process *process)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i] == process)
			return true;
	return false;
}

static void a_process_that_is_named_the_fullest_after_its_end_is_kept(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct task_key key = { .pid = 10, .tid = 10, .start_ns = 100 };

	(void)state;
	fork_at(tree, 1, 1, 1, 1);
	for (int i = 0; i < TREE_KEPT; i++)
		end_with(tree, 10 + i, (uint64_t)i + 1);
	tree_set_fullest(tree, &key);
	for (int i = TREE_KEPT; i < TREE_KEPT + 10; i++)
		end_with(tree, 10 + i, (uint64_t)i + 1);
	assert_true(has_process(tree, tree->fullest));
	assert_int_equal(tree->fullest->key.pid, 10);
	assert_true(has_process(tree, tree->root));
}

/* Also of threads whose number is reused while their last account is missing. */
static void no_more_threads_are_known_than_there_is_room_for(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	for (int i = 0; i < TREE_THREADS_MAX / 2; i++)
		fork_at(tree, 10, 10, 20 + i, 100);
	for (int i = 0; i < TREE_THREADS_MAX / 2 + 10; i++)
		fork_at(tree, 10, 10, 11, (uint64_t)(100 + i));
	assert_int_equal(tree->root->live_count, TREE_THREADS_MAX);
	assert_int_equal(tree->untracked, 11);
	fork_at(tree, 1, 1000000, 1000000, 100);
	assert_int_equal(tree->untracked, 12);
	assert_int_equal(tree->count, 1);
	exit_at(tree, 10, 100, 200, 0);
	tree_finish(tree);
	assert_non_null(tree_take_ended(tree));
	assert_null(tree_take_ended(tree));
	fork_at(tree, 1, 1000000, 1000000, 100);
	assert_int_equal(tree->untracked, 12);
}

static uint64_t cpu_time_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

#define MANY 1000000

static void a_million_short_processes_cost_little(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	uint64_t begin_ns = cpu_time_ns(), spent_ns;
	size_t held = mallinfo2().uordblks;

	(void)state;
	fork_at(tree, 1, 1, 1, 1);
	for (int i = 0; i < MANY; i++) {
		int32_t pid = 10 + i % 30000;
		uint64_t start_ns = 100 + (uint64_t)i;

		fork_at(tree, 1, pid, pid, start_ns);
		exec_at(tree, pid, start_ns, "/bin/true", 10);
		account_at(tree, pid, pid, start_ns, 1000, true);
		exit_at(tree, pid, start_ns, start_ns + 1000, (i % 2) << 8);
		if (i % 16 == 0)
			while (tree_take_ended(tree))
				;
	}
	while (tree_take_ended(tree))
		;
	held = mallinfo2().uordblks - held;
	spent_ns = cpu_time_ns() - begin_ns;
	print_message("# %.2f s of CPU time, %zu KiB\n", (double)spent_ns / 1e9, held / 1024);
	assert_int_equal(tree->processes, MANY + 1);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), UINT64_C(1000) * MANY);
	assert_int_equal(amounts_waited(&tree->amounts, WAIT_LOCK).ns, MANY);
	assert_int_equal(tree->exited, MANY);
	assert_int_equal(tree->failed, MANY / 2);
	assert_int_equal(tree->execs, MANY);
	assert_int_equal(tree->live_processes, 1);
	assert_int_equal(tree->folded_processes, MANY - TREE_KEPT);
	assert_int_equal(tree_unmatched_events(tree) + tree->unaccounted_threads, 0);
	assert_true(held < 12 << 20);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
	assert_true(spent_ns < UINT64_C(4000000000));
#endif
}

static void a_process_of_many_short_threads_costs_little(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	size_t held = mallinfo2().uordblks;
	const struct tree_process *process;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	for (int i = 0; i < 100000; i++) {
		fork_at(tree, 10, 10, 11 + i, 200);
		end_with_calls(tree, 10, 11 + i, 200, 3);
	}
	held = mallinfo2().uordblks - held;
	assert_true(held < 24 << 20);
	assert_int_equal(tree->threads, 100001);
	end_with_calls(tree, 10, 10, 100, 3);
	exit_at(tree, 10, 100, 2000, 0);
	process = tree_take_ended(tree);
	assert_int_equal(calls_named(&process->syscalls, "read"), 300003);
	assert_int_equal(amounts_get(&process->amounts, AMOUNT_wall_time_ns),
			 UINT64_C(1500) * 100001);
	assert_null(tree_take_ended(tree));
	assert_int_equal(calls_named(&tree->syscalls, "read"), 300003);
	assert_int_equal(tree->ended_count + tree->folded_threads, 100001);
}

static void ends_that_were_lost_are_not_waited_for_without_bound(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	uint64_t taken = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		fork_at(tree, 1, 10 + i, 10 + i, 100);
		exit_at(tree, 10 + i, 100, 200, 0); /* no account */
		while (tree_take_ended(tree))
			taken++;
	}
	assert_true(tree->count < TREE_KEPT + 2000);
	tree_finish(tree);
	while (tree_take_ended(tree))
		taken++;
	assert_int_equal(taken, 20000);
	assert_int_equal(tree->unaccounted_threads, 20000);
	assert_int_equal(tree->live_threads, 0);
}

static int find_key(void *context, const struct tree_process *process,
		    const struct tree_thread *thread)
{
	(void)process;
	return memcmp(&thread->key, context, sizeof(thread->key)) == 0 ? -EEXIST : 0;
}

/* What is said to have worked did. */
static int try(struct tree *tree, struct tree_event event)
{
	int status = tree_apply(tree, &event);

	assert_true(status == 0 || status == -ENOMEM);
	if (status == 0)
		assert_int_equal(tree_visit_threads(tree, find_key, &event.task), -EEXIST);
	return status;
}

static struct tree_event event_with_texts(enum tree_event_type type, int32_t pid, int32_t tid)
{
	struct tree_event event = event_of(type, pid, tid, 100, 100);

	event.exec.arguments = "sh\0-c";
	event.exec.length = 6;
	return event;
}

/* Whatever fails, the sums agree and all is freed. */
static void live_with(unsigned long allocations)
{
	static struct tree_syscall calls[20];
	struct tree_event account = account_of(10, 11, 100, 10, 10);
	struct tree *tree = NULL;
	bool failed = false;

	for (uint32_t i = 0; i < 20; i++)
		calls[i] = (struct tree_syscall){ .number = i, .stats.count = 1 };
	account.account.has_syscalls = account.account.ended = true;
	account.account.syscalls = calls;
	account.account.syscall_count = 20;
	refuse_from(allocations + 1);
	if (tree_new(&tree) < 0) {
		allow_all();
		return;
	}
	failed |= try(tree, event_of(TREE_FORK, 10, 10, 100, 100)) < 0;
	failed |= try(tree, event_with_texts(TREE_EXEC, 10, 10)) < 0;
	failed |= try(tree, event_of(TREE_FORK, 20, 20, 100, 100)) < 0;
	failed |= try(tree, event_of(TREE_FORK, 20, 21, 100, 100)) < 0;
	failed |= try(tree, event_with_texts(TREE_EXEC, 30, 30)) < 0;
	failed |= try(tree, account) < 0;
	failed |= try(tree, account_of(10, 10, 100, 10, 10)) < 0;
	tree_sum_up(tree);
	allow_all();
	assert_sums_agree(tree);
	assert_true(failed || amounts_get(&tree->amounts, AMOUNT_run_time_ns) == 20);
	assert_int_equal(
		failed ? 20 : syscall_table_total(&tree->syscalls) + tree->unnamed_syscalls, 20);
	tree_free(tree);
}

static void no_memory_at_any_point_does_no_harm(void **state)
{
	(void)state;
	for (unsigned long i = 0; i < 60; i++)
		live_with(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_calls_are_there_when_a_process_is_taken),
		cmocka_unit_test(system_calls_of_the_living_join_the_sum_at_the_end),
		cmocka_unit_test(costly_waits_come_first_each_with_who_ended_it_most),
		cmocka_unit_test(only_the_longest_waits_are_named),
		cmocka_unit_test(those_that_took_the_most_time_are_kept),
		cmocka_unit_test(those_that_are_not_kept_are_added_up_by_program),
		cmocka_unit_test(programs_without_end_are_added_up_as_one),
		cmocka_unit_test(the_process_nearest_to_its_limit_is_kept_as_long_as_it_is),
		cmocka_unit_test(a_process_that_is_named_the_fullest_after_its_end_is_kept),
		cmocka_unit_test(no_more_threads_are_known_than_there_is_room_for),
		cmocka_unit_test(a_million_short_processes_cost_little),
		cmocka_unit_test(a_process_of_many_short_threads_costs_little),
		cmocka_unit_test(ends_that_were_lost_are_not_waited_for_without_bound),
		cmocka_unit_test(no_memory_at_any_point_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

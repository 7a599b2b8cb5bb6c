/* SPDX-License-Identifier: MIT */
/* A tree from events: who is in it, sums that agree and never fall, identity, ends. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tree_events.h"

#include "base/cleanup.h"

/* The process that has a thread with that number, and lives. */
static const struct tree_process *find_live(const struct tree *tree, int32_t number)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_process *process = tree->all[i];

		for (size_t k = 0; !process->exited && k < process->live_count; k++)
			if (process->live[k]->key.tid == number && !process->live[k]->ended)
				return process;
	}
	return NULL;
}

static void sums_of_tree_processes_and_threads_agree(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	fork_at(tree, 10, 20, 20, 120);
	account_at(tree, 10, 10, 100, 5, false);
	account_at(tree, 10, 11, 110, 7, false);
	account_at(tree, 20, 20, 120, 9, true);
	assert_sums_agree(tree);
	account_at(tree, 10, 10, 100, 50, false);
	account_at(tree, 10, 11, 110, 70, true);
	exit_at(tree, 20, 120, 200, 0);
	assert_sums_agree(tree);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 129);
	assert_int_equal(tree->processes, 2);
	assert_int_equal(tree->forks, 2);
	assert_int_equal(tree->live_processes, 1);
	assert_int_equal(tree->live_threads, 1);
	assert_int_equal(tree->most_threads, 3);
	assert_int_equal(tree->root->key.pid, 10);
	while (tree_take_ended(tree))
		assert_sums_agree(tree);
	assert_int_equal(tree_unmatched_events(tree), 0);
}

static void a_later_account_replaces_an_earlier_one(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 50, false);
	account_at(tree, 10, 10, 100, 40, false);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 50);
	account_at(tree, 10, 10, 100, 60, false);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 60);
	assert_int_equal(amounts_waited(&tree->amounts, WAIT_LOCK).count, 1);
	assert_sums_agree(tree);
}

static void what_nobody_measured_stays_absent(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	int number;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	assert_int_equal(tree->amounts.present, 0);
	account_at(tree, 10, 10, 100, 5, true);
	assert_true(amounts_has_cpu(&tree->amounts));
	assert_false(amounts_has(&tree->amounts, AMOUNT_minflt));
	assert_false(tree->has_rss || tree->has_fds || tree->has_peak_rss);
	assert_null(tree->fullest);
	tree_finish(tree);
	assert_false(tree_process_exit_code(tree->root, &number));
	assert_false(tree_process_signal(tree->root, &number));
	assert_null(tree->root->arguments);
	tree_sum_up(tree);
	assert_int_equal(tree->peak_rss_bytes, 0);
}

static void a_process_is_complete_when_its_threads_are(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	const struct tree_process *process;
	int code;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	account_at(tree, 10, 10, 100, 5, true);
	exit_at(tree, 10, 100, 200, 3 << 8);
	assert_null(tree_take_ended(tree));
	assert_null(find_live(tree, 10));
	account_at(tree, 10, 11, 110, 6, true);
	process = tree_take_ended(tree);
	assert_non_null(process);
	assert_int_equal(process->live_count, 2);
	assert_int_equal(process->end_ns, 200);
	assert_int_equal(amounts_cpu_ns(&process->amounts), 11);
	assert_true(tree_process_exit_code(process, &code));
	assert_int_equal(code, 3);
	assert_int_equal(tree->failed, 1);
	assert_null(tree_take_ended(tree));
	assert_int_equal(tree->ended_count, 2);
	assert_int_equal(tree->count, 1);
	assert_int_equal(tree->unaccounted_threads, 0);
}

static void the_end_of_a_process_may_come_after_those_of_its_threads(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, true);
	assert_null(tree_take_ended(tree));
	assert_int_equal(tree->live_processes, 1);
	exit_at(tree, 10, 100, 200, 0);
	assert_ptr_equal(tree_take_ended(tree), tree->root);
}

/* Whoever tells it again, by another source or after the last account. */
static void an_end_that_is_told_twice_is_counted_once(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 1, 20, 20, 100);
	for (int i = 0; i < 2; i++) {
		exit_at(tree, 10, 100, 200, 3 << 8);
		exit_at(tree, 20, 100, 200, SIGKILL);
	}
	assert_int_equal(tree->failed, 1);
	assert_int_equal(tree->signalled, 1);
	assert_int_equal(tree->exited, 2);
	assert_int_equal(tree->live_processes, 0);
}

static void only_the_leader_names_the_process(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event account = account_of(10, 11, 110, 5, 1);

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	memcpy(account.account.comm, "worker", 7);
	apply(tree, &account);
	assert_string_equal(tree->root->comm, "child");
	account.task = (struct task_key){ 10, 10, 100 };
	memcpy(account.account.comm, "main", 5);
	apply(tree, &account);
	assert_string_equal(tree->root->comm, "main");
}

static void a_lost_last_account_leaves_what_was_known_and_is_counted(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, false);
	exit_at(tree, 10, 100, 200, 0);
	assert_null(tree_take_ended(tree));
	tree_finish(tree);
	assert_non_null(tree_take_ended(tree));
	assert_int_equal(tree->unaccounted_threads, 1);
	assert_int_equal(tree->live_threads, 0);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 5);
}

static void a_last_account_of_a_thread_whose_beginning_was_lost_is_in_the_sums(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, false);
	account_at(tree, 77, 77, 300, 7, true);
	account_at(tree, 77, 78, 310, 8, true);
	assert_int_equal(tree_unmatched_events(tree), 0);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 20);
	assert_int_equal(tree->threads, 3);
	assert_int_equal(tree->live_threads, 1);
	assert_int_equal(tree->ended_count, 2);
	assert_true(tree->ended[1]->ended && tree->ended[1]->found);
	assert_int_equal(tree->processes, 1);
	account_at(tree, 77, 78, 310, 8, true);
	assert_int_equal(tree_unmatched_events(tree), 1);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 20);
}

static void the_late_account_of_a_thread_that_was_given_up_is_not_added_twice(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, false);
	exit_at(tree, 10, 100, 200, 0);
	tree_finish(tree);
	while (tree_take_ended(tree))
		continue;
	account_at(tree, 10, 10, 100, 9, true);
	assert_int_equal(tree_unmatched_events(tree), 1);
	assert_int_equal(tree->threads, 1);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 5);
}

static void a_sample_of_a_thread_whose_process_ended_is_not_unmatched(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, false);
	exit_at(tree, 10, 100, 200, 0);
	account_at(tree, 10, 10, 100, 6, false);
	account_at(tree, 10, 10, 100, 9, true);
	assert_int_equal(tree_unmatched_events(tree), 0);
	assert_int_equal(tree->unaccounted_threads, 0);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 9);
}

static void a_thread_whose_last_account_was_lost_is_given_up_by_a_look(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, false);
	exit_at(tree, 10, 100, 200, 0);
	assert_null(tree_take_ended(tree));
	tree_close_unseen(tree, 500);
	assert_int_equal(tree->unaccounted_threads, 1);
	assert_int_equal(tree_take_ended(tree)->key.pid, 10);
}

static void a_name_is_kept_to_its_last_letter(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_FORK, 10, 10, 100, 100);

	(void)state;
	memcpy(event.fork.comm, "fifteen letters!", TREE_COMM_SIZE);
	apply(tree, &event);
	assert_string_equal(find_live(tree, 10)->comm, "fifteen letters");
	event = event_of(TREE_EXEC, 10, 10, 100, 101);
	apply(tree, &event);
	assert_string_equal(find_live(tree, 10)->comm, "fifteen letters");
}

/* Its end was lost: of two threads with one number only the later lives. */
static void a_number_that_is_used_again_is_another_thread(void **state)
{
	struct tree *tree = NULL;

	(void)state;
	assert_int_equal(tree_new(&tree), 0);
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	fork_at(tree, 1, 20, 20, 120);
	assert_int_equal(tree->live_threads, 3);
	assert_int_equal(find_live(tree, 11)->key.pid, 10);
	fork_at(tree, 20, 20, 11, 130);
	assert_int_equal(tree->live_threads, 3);
	assert_int_equal(tree->threads, 4);
	assert_int_equal(find_live(tree, 11)->key.pid, 20);
	assert_int_equal(tree->unaccounted_threads, 1);
	tree_free(tree);
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 9, 9, 50);
	fork_at(tree, 9, 10, 10, 100);
	account_at(tree, 10, 10, 100, 5, false);
	fork_at(tree, 9, 10, 10, 300);
	assert_int_equal(tree->processes, 3);
	assert_int_equal(tree->live_processes, 2);
	assert_int_equal(tree->unaccounted_threads, 1);
	account_at(tree, 10, 10, 300, 7, false);
	assert_int_equal(find_live(tree, 10)->key.start_ns, 300);
	assert_int_equal(amounts_cpu_ns(&find_live(tree, 10)->amounts), 7);
	account_at(tree, 10, 10, 100, 6, true); /* of the first one: too late */
	assert_int_equal(tree_unmatched_events(tree), 1);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 12);
	assert_sums_agree(tree);
	assert_int_equal(tree_take_ended(tree)->key.start_ns, 100);
	assert_int_equal(find_live(tree, 10)->key.start_ns, 300);
}

static void a_start_that_is_not_known_matches_any(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 0, 5, false);
	assert_int_equal(tree->processes, 1);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 5);
	exit_at(tree, 10, 0, 200, 0);
	assert_int_equal(tree->exited, 1);
	assert_int_equal(tree_unmatched_events(tree), 0);
}

static void a_start_that_is_told_later_is_remembered(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 10, 10, 11, 500); /* a thread: its process was not seen */
	assert_int_equal(tree->processes, 1);
	assert_int_equal(tree->threads, 2);
	assert_true(tree->root->found);
	assert_int_equal(tree->forks, 0);
	account_at(tree, 10, 10, 100, 5, false);
	assert_int_equal(tree->root->key.start_ns, 100);
	assert_int_equal(tree->threads, 2);
}

static void an_event_of_a_stranger_is_counted_and_changes_nothing(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_SIGNAL, 77, 77, 0, 1);

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 77, 77, 0, 5, true);
	exit_at(tree, 77, 5, 200, 0);
	apply(tree, &event);
	event.type = TREE_OOM;
	apply(tree, &event);
	event.type = TREE_EVENT_TYPE_COUNT;
	apply(tree, &event);
	event = event_of(TREE_FORK, 0, 0, 0, 0);
	apply(tree, &event);
	assert_int_equal(tree_unmatched_events(tree), 6);
	assert_int_equal(tree->processes, 1);
	assert_int_equal(tree->exited, 0);
	assert_int_equal(tree->amounts.present, 0);
}

static void a_member_whose_beginning_was_lost_is_found_by_a_look(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	account_at(tree, 10, 10, 100, 5, false);
	assert_true(tree->root->found);
	assert_int_equal(tree->forks, 0);
	fork_at(tree, 4, 10, 10, 100);
	assert_int_equal(tree->processes, 1);
	assert_int_equal(tree->forks, 1);
	assert_int_equal(tree->root->parent_pid, 4);
	account_at(tree, 10, 12, 130, 5, true);
	assert_int_equal(tree->threads, 2);
	assert_sums_agree(tree);
}

static void arguments_are_of_the_last_exec_and_go_to_children(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	static char much[TREE_ARGUMENTS_MAX + 1];

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	assert_string_equal(tree->root->comm, "child");
	exec_at(tree, 10, 100, "sh\0-c", 6);
	assert_memory_equal(tree->root->arguments, "sh\0-c", 6);
	assert_int_equal(tree->root->arguments_length, 6);
	assert_string_equal(tree->root->comm, "program");
	fork_at(tree, 10, 20, 20, 200);
	assert_memory_equal(find_live(tree, 20)->arguments, "sh\0-c", 6);
	exec_at(tree, 20, 200, much, sizeof(much));
	assert_true(find_live(tree, 20)->arguments_cut);
	assert_int_equal(find_live(tree, 20)->arguments_length, TREE_ARGUMENTS_MAX);
	assert_int_equal(tree->execs, 2);
	assert_int_equal(tree->root->execs, 1);
	exec_at(tree, 10, 100, "", 0);
	assert_int_equal(tree->root->arguments_length, 0);
	assert_null(tree->root->arguments);
}

static void the_command_of_one_that_was_found_is_no_exec(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_FORK, 10, 10, 100, 100);

	(void)state;
	event.fork.found = true;
	apply(tree, &event);
	exec_at(tree, 10, 100, "old", 4);
	assert_string_equal(tree->root->arguments, "old");
	assert_int_equal(tree->execs, 0);
	exec_at(tree, 10, 100, "new", 4);
	assert_string_equal(tree->root->arguments, "new");
	assert_int_equal(tree->execs, 1);
	assert_int_equal(tree->forks, 0);
}

static void a_thread_that_execs_becomes_the_leader_and_counts_once(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	fork_at(tree, 10, 10, 12, 120);
	account_at(tree, 10, 11, 110, 30, false);
	account_at(tree, 10, 12, 120, 90, false);
	account_at(tree, 10, 10, 100, 5, true);
	exec_at(tree, 10, 100, "new", 4);
	account_at(tree, 10, 10, 100, 40, false); /* thread 11: 12 had more time already */
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 5 + 40 + 90);
	assert_int_equal(tree->threads, 3);
	account_at(tree, 10, 12, 120, 91, true);
	account_at(tree, 10, 10, 100, 45, true);
	exit_at(tree, 10, 100, 200, 0);
	assert_non_null(tree_take_ended(tree));
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 5 + 45 + 91);
	assert_int_equal(tree->unaccounted_threads, 0);
	assert_sums_agree(tree);
}

static void a_leader_that_ended_is_not_replaced_without_an_exec(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	account_at(tree, 10, 10, 100, 5, true);
	account_at(tree, 10, 10, 100, 5, false); /* a zombie that a look saw */
	account_at(tree, 10, 11, 110, 8, false);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 13);
	assert_int_equal(tree->live_threads, 1);
	assert_ptr_equal(find_live(tree, 11), tree->root);
	assert_sums_agree(tree);
}

static void the_sender_of_the_signal_that_ended_it_is_known(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_SIGNAL, 10, 10, 100, 150);
	int number;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	event.signal = (struct tree_signal){ SIGTERM, 5, "polite" };
	apply(tree, &event);
	event.signal = (struct tree_signal){ SIGKILL, 6, "rude" };
	apply(tree, &event);
	event.signal = (struct tree_signal){ SIGTERM, 7, "late" };
	apply(tree, &event);
	exit_at(tree, 10, 100, 200, SIGKILL);
	assert_true(tree_process_signal(tree->root, &number));
	assert_int_equal(number, SIGKILL);
	assert_true(tree->root->facts.present & TREE_PROCESS_SENDER);
	assert_int_equal(tree->root->facts.sender_pid, 6);
	assert_string_equal(tree->root->facts.sender_comm, "rude");
	assert_int_equal(tree->signalled, 1);
	assert_int_equal(tree->failed, 0);
}

static void a_signal_that_did_not_end_it_has_no_sender(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_SIGNAL, 10, 10, 100, 150);

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	event.signal = (struct tree_signal){ SIGTERM, 5, "polite" };
	apply(tree, &event);
	exit_at(tree, 10, 100, 200, SIGSEGV);
	assert_false(tree->root->facts.present & TREE_PROCESS_SENDER);
}

static void an_oom_kill_is_counted_once_per_process(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_OOM, 10, 10, 100, 150);

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	apply(tree, &event);
	apply(tree, &event);
	assert_true(tree->root->oom_killed);
	assert_int_equal(tree->oom_kills, 1);
}

static void memory_adds_up_over_live_processes_at_samples(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 20, 20, 120);
	memory_of(tree, 10, 100, 1000);
	memory_of(tree, 20, 120, 500);
	tree_sampled(tree);
	assert_int_equal(tree->rss_bytes, 1500);
	memory_of(tree, 20, 120, 900); /* while 10 is to shrink in the same look */
	memory_of(tree, 10, 100, 100);
	tree_sampled(tree);
	assert_int_equal(tree->rss_bytes, 1000);
	assert_int_equal(tree->peak_rss_bytes, 1500);
	assert_int_equal(tree->largest_rss_bytes, 1000);
	exit_at(tree, 20, 120, 200, 0);
	assert_int_equal(tree->rss_bytes, 100);
	assert_int_equal(tree->root->facts.peak_rss_bytes, 1000);
	exit_at(tree, 10, 100, 200, 0);
	assert_false(tree->has_rss);
	assert_int_equal(tree->rss_bytes, 0);
	assert_true(tree->has_peak_rss);
}

static void a_peak_is_of_the_program_that_ran_last(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event end = event_of(TREE_PROCESS, 10, 10, 100, 200);

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	memory_of(tree, 10, 100, 5000);
	exec_at(tree, 10, 100, "x", 2);
	assert_false(tree->root->facts.present & TREE_PROCESS_PEAK_RSS);
	memory_of(tree, 10, 100, 300);
	end.process.present = TREE_PROCESS_PEAK_RSS | TREE_PROCESS_STATUS;
	end.process.peak_rss_bytes = 400;
	end.process.ended = true;
	apply(tree, &end);
	assert_int_equal(tree->root->facts.peak_rss_bytes, 400);
	assert_int_equal(tree->largest_rss_bytes, 5000);
}

static void the_process_nearest_to_its_limit_is_remembered(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		fork_at(tree, 1, i * 10, i * 10, 100);
		event = event_of(TREE_PROCESS, i * 10, i * 10, 100, 150);
		event.process.present = TREE_PROCESS_FDS | TREE_PROCESS_FD_LIMIT;
		event.process.fds = i == 2 ? 90 : 50;
		event.process.fd_limit = i == 3 ? 1000 : 100;
		apply(tree, &event);
	}
	assert_int_equal(tree->fullest->key.pid, 20);
	assert_int_equal(tree->open_fds, 190);
	event = event_of(TREE_PROCESS, 20, 20, 100, 160);
	event.process.present = TREE_PROCESS_FDS;
	event.process.fds = 10;
	apply(tree, &event);
	assert_int_equal(tree->open_fds, 110);
	assert_int_equal(tree->fullest->key.pid, 20);
	assert_int_equal(tree->fullest->peak_fds, 90);
	for (int i = 1; i <= 3; i++) {
		assert_true(tree->has_fds);
		exit_at(tree, i * 10, 100, 200, 0);
	}
	assert_false(tree->has_fds);
	assert_int_equal(tree->open_fds, 0);
}

static void cpu_time_of_unseen_children_is_no_amount_of_anybody(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	struct tree_event event = event_of(TREE_PROCESS, 10, 10, 100, 150);

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	account_at(tree, 10, 10, 100, 60, false);
	event.process.present = TREE_PROCESS_THREADS | TREE_PROCESS_UNSEEN;
	event.process.threads = 4;
	event.process.unseen_cpu_ns = 3;
	apply(tree, &event);
	apply(tree, &event);
	assert_int_equal(tree->unseen_cpu_ns, 3);
	assert_int_equal(amounts_cpu_ns(&tree->amounts), 60);
	assert_int_equal(tree->threads, 4);
}

static void those_that_no_look_sees_are_gone(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	fork_at(tree, 10, 20, 20, 120);
	account_at(tree, 10, 10, 100, 900, false);
	tree_close_unseen(tree, 1000);
	assert_int_equal(tree->live_processes, 1);
	assert_int_equal(tree->live_threads, 1);
	assert_int_equal(tree->unaccounted_threads, 2);
	assert_int_equal(tree_take_ended(tree)->key.pid, 20);
}

static int visit_one(void *context, const struct tree_process *process_or_null,
		     const struct tree_thread *thread)
{
	(void)process_or_null;
	(void)thread;
	++*(int *)context;
	return -EINTR;
}

static void a_process_ends_with_the_last_switch_of_its_threads(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	exit_at(tree, 10, 100, 150, 0);
	account_at(tree, 10, 10, 100, 60, true);
	assert_int_equal(tree->root->end_ns, 160);
	assert_int_equal(tree->root->facts.end_ns, 160);
	fork_at(tree, 10, 20, 20, 200);
	account_at(tree, 20, 20, 200, 60, true);
	exit_at(tree, 20, 200, 250, 0);
	assert_int_equal(tree->all[1]->end_ns, 260);
	fork_at(tree, 10, 30, 30, 300);
	account_at(tree, 30, 30, 300, 60, true);
	exit_at(tree, 30, 300, 370, 0);
	assert_int_equal(tree->all[2]->end_ns, 370);
}

static void a_visitor_can_end_the_walk(void **state)
{
	CLEANUP(tree_free_pointer) struct tree *tree = new_tree();
	int visits = 0;

	(void)state;
	fork_at(tree, 1, 10, 10, 100);
	fork_at(tree, 10, 10, 11, 110);
	assert_int_equal(tree_visit_threads(tree, visit_one, &visits), -EINTR);
	assert_int_equal(visits, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_tree_processes_and_threads_agree),
		cmocka_unit_test(a_later_account_replaces_an_earlier_one),
		cmocka_unit_test(what_nobody_measured_stays_absent),
		cmocka_unit_test(a_process_is_complete_when_its_threads_are),
		cmocka_unit_test(the_end_of_a_process_may_come_after_those_of_its_threads),
		cmocka_unit_test(an_end_that_is_told_twice_is_counted_once),
		cmocka_unit_test(only_the_leader_names_the_process),
		cmocka_unit_test(a_lost_last_account_leaves_what_was_known_and_is_counted),
		cmocka_unit_test(
			a_last_account_of_a_thread_whose_beginning_was_lost_is_in_the_sums),
		cmocka_unit_test(the_late_account_of_a_thread_that_was_given_up_is_not_added_twice),
		cmocka_unit_test(a_sample_of_a_thread_whose_process_ended_is_not_unmatched),
		cmocka_unit_test(a_thread_whose_last_account_was_lost_is_given_up_by_a_look),
		cmocka_unit_test(a_name_is_kept_to_its_last_letter),
		cmocka_unit_test(a_number_that_is_used_again_is_another_thread),
		cmocka_unit_test(a_number_that_is_used_again_is_another_process),
		cmocka_unit_test(a_start_that_is_not_known_matches_any),
		cmocka_unit_test(a_start_that_is_told_later_is_remembered),
		cmocka_unit_test(an_event_of_a_stranger_is_counted_and_changes_nothing),
		cmocka_unit_test(a_member_whose_beginning_was_lost_is_found_by_a_look),
		cmocka_unit_test(arguments_are_of_the_last_exec_and_go_to_children),
		cmocka_unit_test(the_command_of_one_that_was_found_is_no_exec),
		cmocka_unit_test(a_thread_that_execs_becomes_the_leader_and_counts_once),
		cmocka_unit_test(a_leader_that_ended_is_not_replaced_without_an_exec),
		cmocka_unit_test(the_sender_of_the_signal_that_ended_it_is_known),
		cmocka_unit_test(a_signal_that_did_not_end_it_has_no_sender),
		cmocka_unit_test(an_oom_kill_is_counted_once_per_process),
		cmocka_unit_test(memory_adds_up_over_live_processes_at_samples),
		cmocka_unit_test(a_peak_is_of_the_program_that_ran_last),
		cmocka_unit_test(the_process_nearest_to_its_limit_is_remembered),
		cmocka_unit_test(cpu_time_of_unseen_children_is_no_amount_of_anybody),
		cmocka_unit_test(those_that_no_look_sees_are_gone),
		cmocka_unit_test(a_process_ends_with_the_last_switch_of_its_threads),
		cmocka_unit_test(a_visitor_can_end_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

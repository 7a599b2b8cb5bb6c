/* SPDX-License-Identifier: MIT */
/*
 * A tree for tests: events in one line each, and sums to compare.
 */
#ifndef TESTS_UNIT_TREE_EVENTS_H
#define TESTS_UNIT_TREE_EVENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/tree/tree.h"
#include "some_amounts.h"

static inline struct tree *new_tree(void)
{
	struct tree *tree = NULL;

	assert_int_equal(tree_new(&tree), 0);
	return tree;
}

static inline void apply(struct tree *tree, const struct tree_event *event)
{
	assert_int_equal(tree_apply(tree, event), 0);
}

static inline struct tree_event event_of(enum tree_event_type type, int32_t pid, int32_t tid,
					 uint64_t start_ns, uint64_t time_ns)
{
	return (struct tree_event){
		.type = type,
		.task = { .pid = pid, .tid = tid, .start_ns = start_ns },
		.time_ns = time_ns,
	};
}

/* Start times are those of the fork. */
static inline void fork_at(struct tree *tree, int32_t parent, int32_t pid, int32_t tid,
			   uint64_t time_ns)
{
	struct tree_event event = event_of(TREE_FORK, pid, tid, time_ns, time_ns);

	event.fork.parent_pid = parent;
	memcpy(event.fork.comm, "child", 6);
	apply(tree, &event);
}

static inline void exec_at(struct tree *tree, int32_t pid, uint64_t start_ns, const char *arguments,
			   size_t length)
{
	struct tree_event event = event_of(TREE_EXEC, pid, pid, start_ns, start_ns + 1);

	event.exec.arguments = arguments;
	event.exec.length = length;
	memcpy(event.exec.comm, "program", 8);
	apply(tree, &event);
}

/* Everything it did was on a CPU, but for what it waited for locks. */
static inline struct tree_event account_of(int32_t pid, int32_t tid, uint64_t start_ns,
					   uint64_t cpu_ns, uint64_t lock_ns)
{
	struct tree_event event = event_of(TREE_THREAD, pid, tid, start_ns, start_ns + cpu_ns);
	struct amounts *amounts = &event.account.amounts;

	charge(amounts, cpu_ns);
	set_times(amounts, cpu_ns + lock_ns, cpu_ns);
	amounts_set_waited(amounts, WAIT_LOCK, (struct waited){ lock_ns, lock_ns > 0, lock_ns });
	return event;
}

static inline void account_at(struct tree *tree, int32_t pid, int32_t tid, uint64_t start_ns,
			      uint64_t cpu_ns, bool ended)
{
	struct tree_event event = account_of(pid, tid, start_ns, cpu_ns, 1);

	event.account.ended = ended;
	event.account.end_ns = ended ? event.time_ns : 0;
	apply(tree, &event);
}

static inline void exit_at(struct tree *tree, int32_t pid, uint64_t start_ns, uint64_t time_ns,
			   int status)
{
	struct tree_event event = event_of(TREE_PROCESS, pid, pid, start_ns, time_ns);

	event.process.present = TREE_PROCESS_STATUS;
	event.process.ended = true;
	event.process.end_ns = time_ns;
	event.process.status = status;
	apply(tree, &event);
}

static inline void memory_of(struct tree *tree, int32_t pid, uint64_t start_ns, uint64_t rss_bytes)
{
	struct tree_event event = event_of(TREE_PROCESS, pid, pid, start_ns, start_ns + 1);

	event.process.present = TREE_PROCESS_RSS;
	event.process.rss_bytes = rss_bytes;
	apply(tree, &event);
}

struct tree_sums {
	struct amounts amounts;
	uint64_t threads;
};

static inline int sum_thread(void *context, const struct tree_process *process_or_null,
			     const struct tree_thread *thread)
{
	struct tree_sums *sums = context;

	(void)process_or_null;
	amounts_add(&sums->amounts, &thread->amounts);
	sums->threads++;
	return 0;
}

/* While nobody was folded, threads, processes and the tree have the same sums. */
static inline void assert_sums_agree(const struct tree *tree)
{
	struct tree_sums threads = { 0 }, processes = { 0 };

	tree_visit_threads(tree, sum_thread, &threads);
	for (size_t i = 0; i < tree->count; i++)
		amounts_add(&processes.amounts, &tree->all[i]->amounts);
	assert_memory_equal(&tree->amounts, &threads.amounts, sizeof(tree->amounts));
	assert_memory_equal(&tree->amounts, &processes.amounts, sizeof(tree->amounts));
	assert_int_equal(tree->threads, threads.threads);
	assert_int_equal(tree->processes, tree->count);
}

#endif

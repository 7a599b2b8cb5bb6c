/* SPDX-License-Identifier: MIT */
/* Adds, updates and removes the processes and threads of a tree.  Private to src/model/tree. */
#ifndef MODEL_TREE_MEMBER_H
#define MODEL_TREE_MEMBER_H

#include "model/tree/tree_index.h"

/* Whether two start times may be of one task: they are equal, or one is not known (0). */
static inline bool start_matches(uint64_t one, uint64_t other)
{
	return !one || !other || one == other;
}

/* Copies a name, which may lack its NUL. An empty name changes nothing. */
void comm_set(char comm[TREE_COMM_SIZE], const char *later);

/* tree_process.c */
int process_add(struct tree *tree, const struct tree_event *event, bool found,
		struct tree_process **ret);
void process_free(struct tree_process *process);
int process_exec(struct tree *tree, struct tree_process *process, const struct tree_exec *exec);
void process_learn(struct tree *tree, struct tree_process *process,
		   const struct tree_process_facts *facts, uint64_t time_ns);
/* Moves it to the list of its stage, after its state or that of a thread changed. */
void process_restage(struct tree *tree, struct tree_process *process);
/* Ends it, even if some of its last events are missing. */
void process_close(struct tree *tree, struct tree_process *process, uint64_t time_ns);
/*
 * Moves its end to the last switch of its last thread: a thread runs on for a moment after its
 * exit is reported, and its last account has that time.
 */
void process_outlast(struct tree_process *process);
void process_end_threads(struct tree *tree, struct tree_process *process, uint64_t time_ns);
/* Moves it from the list of its old stage to that of the new one. */
void process_set_stage(struct tree *tree, struct tree_process *process, enum tree_stage stage);

/* tree_thread.c */
int thread_add(struct tree *tree, struct tree_process *process, const struct task_key *key,
	       uint64_t time_ns, struct tree_thread **ret);
void thread_free(struct tree_thread *thread);
struct tree_thread *thread_find(const struct tree *tree, const struct tree_process *process,
				int32_t tid);
int thread_account(struct tree *tree, struct tree_thread *thread,
		   const struct tree_account *account, uint64_t time_ns);
/* Notes who ended a wait of the thread. */
void thread_waited(struct tree *tree, struct tree_thread *thread,
		   const struct tree_wait_event *wait);
/* Ends a thread that will not get a last account. */
void thread_lose(struct tree *tree, struct tree_thread *thread, uint64_t time_ns);
/*
 * Makes the thread that did an exec the leader, whose number it now has.  `event` is its first
 * account since the exec.
 */
int thread_replace_leader(struct tree *tree, struct tree_process *process,
			  const struct tree_event *event);

/* tree_kept.c: frees the thread or hands it to `ended`; it must be out of its process's list. */
void thread_retire(struct tree *tree, struct tree_thread *thread);
/* Sets the process that is nearest to its descriptor limit. */
void process_set_fullest(struct tree *tree, struct tree_process *process);

/* tree_calls.c */
int thread_set_calls(struct tree *tree, struct tree_thread *thread,
		     const struct tree_account *account);
/* Sets the calls of a process as a whole, and adds them to the tree's sum; once. */
void process_set_calls(struct tree *tree, struct tree_process *process,
		       const struct syscall_table *calls);
/* Adds the thread's calls to its process; calls for which there is no memory count as unnamed. */
void thread_give_calls(struct tree *tree, struct tree_thread *thread);
/* Makes `syscalls` of the process complete and adds them to the tree's sum, once. */
void process_give_calls(struct tree *tree, struct tree_process *process);

/* tree_waits.c: adds the thread's waits to the lists if they are among the longest. */
void waits_offer(struct wait_list *costly, struct wait_list *work,
		 const struct tree_thread *thread);
void waits_find_top(struct tree *tree);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads of a tree as they come, grow and go: private to src/model/tree*.c.
 */
#ifndef MODEL_TREE_MEMBER_H
#define MODEL_TREE_MEMBER_H

#include "model/tree_index.h"

/* Either is not known, or they are the same. */
static inline bool start_matches(uint64_t one, uint64_t other)
{
	return !one || !other || one == other;
}

/* Copies a name that may lack its end; one that is empty says nothing and changes nothing. */
void comm_set(char comm[TREE_COMM_SIZE], const char *later);

/* tree_process.c */
int process_add(struct tree *tree, const struct tree_event *event, bool found,
		struct tree_process **ret);
void process_free(struct tree_process *process);
int process_exec(struct tree *tree, struct tree_process *process, const struct tree_exec *exec);
void process_learn(struct tree *tree, struct tree_process *process,
		   const struct tree_process_facts *facts, uint64_t time_ns);
/* Brings `usage` and the tree's sum up to the threads and to what the process itself said. */
void process_update_usage(struct tree *tree, struct tree_process *process);
/* Finds the list that it belongs to, after its state or that of a thread changed. */
void process_restage(struct tree *tree, struct tree_process *process);
/* It is gone, whatever is missing. */
void process_close(struct tree *tree, struct tree_process *process, uint64_t time_ns);
/*
 * It ends with the last switch of its last thread: after it said that it ends, a thread still runs
 * until it is switched out for ever, which its account has.
 */
void process_outlast(struct tree_process *process);
void process_end_threads(struct tree *tree, struct tree_process *process, uint64_t time_ns);
/* Takes it out of the list of its stage, and notes the new one. */
void process_set_stage(struct tree *tree, struct tree_process *process, enum tree_stage stage);

/* tree_thread.c */
int thread_add(struct tree *tree, struct tree_process *process, const struct task_key *key,
	       uint64_t time_ns, struct tree_thread **ret);
void thread_free(struct tree_thread *thread);
struct tree_thread *thread_find(const struct tree *tree, const struct tree_process *process,
				int32_t tid);
int thread_account(struct tree *tree, struct tree_thread *thread,
		   const struct tree_account *account, uint64_t time_ns);
/* It ended and there will be no account. */
void thread_lose(struct tree *tree, struct tree_thread *thread, uint64_t time_ns);
/* The leader ended, another thread did an exec, and this is its first account since then. */
int thread_replace_leader(struct tree *tree, struct tree_process *process,
			  const struct tree_event *event);

/* tree_kept.c: frees the thread or hands it to `ended`; it must be out of its process's list. */
void thread_retire(struct tree *tree, struct tree_thread *thread);
/* Another process is nearest to its limit. */
void process_set_fullest(struct tree *tree, struct tree_process *process);

/* tree_calls.c */
int thread_set_calls(struct tree *tree, struct tree_thread *thread,
		     const struct tree_account *account);
/* Adds the thread's calls to its process; those that find no memory are counted as unnamed. */
void thread_give_calls(struct tree *tree, struct tree_thread *thread);
/* Makes `syscalls` of the process complete and adds them to the tree's sum, once. */
void process_give_calls(struct tree *tree, struct tree_process *process);

/* tree_waits.c: the thread's waits, as far as they are among the longest. */
void waits_offer(struct wait_list *costly, struct wait_list *work,
		 const struct tree_thread *thread);
void waits_settle(struct tree *tree);

#endif

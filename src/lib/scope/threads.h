/* SPDX-License-Identifier: MIT */
/*
 * Gives each thread its block.  A thread takes a free block with its first scope and keeps it
 * until the thread ends.  Then the block's losses and statistics are added to those of the
 * process, and another thread may take it.
 *
 * Opening and closing a scope uses only `self` from here.
 */
#ifndef LIB_THREADS_H
#define LIB_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scope_layout.h"

/* What a thread knows about itself. */
struct thread_self {
	struct scope_thread *block; /* NULL: none, or only to be written with a lock: `kept` */
	volatile bool is_changing;  /* in the middle of something no signal handler may begin */

	/* In a forked child, until it uses scopes again: its block, in private memory. */
	struct scope_thread *kept;

	bool has_failed;	  /* there was no free block for it */
	uint32_t failed_releases; /* blocks given back by then: retry only when more are */
	_Alignas(uint64_t) char name[SCOPE_THREAD_NAME_SIZE];
};

extern __thread struct thread_self self;

static inline struct scope_thread *self_block(void)
{
	return self.block ? self.block : self.kept;
}

/* Where a thread has the address of its block, from its thread pointer on: the same for all. */
static inline int64_t self_offset(void)
{
	char *pointer;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#else
	pointer = __builtin_thread_pointer();
#endif
	return (char *)&self.block - pointer;
}

/*
 * Signal handlers of this thread see the flag set before anything changes, and cleared after all
 * changes are made.  The fences keep the compiler from reordering that; no CPU reorders it for a
 * handler on its own thread.
 */
static inline void self_begin_change(void)
{
	self.is_changing = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void self_end_change(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.is_changing = false;
}

/* To be called once, before the first claim.  Returns 0 or a negative errno. */
int threads_prepare(void);

/*
 * Returns the block that this thread may use now, a new one for its first scope.  Returns NULL
 * when scopes are not recorded, or when no block is left: then the thread is counted as lost,
 * once.  In a forked child, this starts recording again.
 */
struct scope_thread *thread_prepare(void);

/* Gives back this thread's block. */
void thread_release(void);

/* For the heartbeat: gives back the blocks of threads that ended without doing so themselves. */
void threads_reclaim(void);

/* Writes the thread's name into its block. */
void thread_publish_name(struct scope_thread *block);

/*
 * For the heartbeat, which writes into a block only while it surely belongs to the thread.
 * Returns NULL when it does not; else the caller holds LOCK_THREADS and must release it.
 */
struct scope_thread *threads_lock_block(uint32_t slot, pid_t tid);

#endif

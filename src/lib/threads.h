/* SPDX-License-Identifier: MIT */
/*
 * Which block is whose.  A thread takes a free one with its first scope and keeps it until its end;
 * then the block's losses and statistics are added to those of the process, and another may have it.
 *
 * Nothing here is on the way of a scope but `self`.
 */
#ifndef LIB_THREADS_H
#define LIB_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scope_layout.h"

/* What a thread knows about itself. */
struct thread_self {
	struct scope_thread *block; /* NULL: none, or not to be written without a lock: `kept` */
	volatile bool is_changing; /* in the middle of something that no signal handler may begin */

	/* In a forked child until it uses scopes again: the block, in private memory. */
	struct scope_thread *kept;

	bool has_failed;	  /* there was no block for it */
	uint32_t failed_releases; /* how many had been given back by then: trying again is no use */
	char name[SCOPE_THREAD_NAME_SIZE];
};

extern __thread struct thread_self self;

static inline struct scope_thread *self_block(void)
{
	return self.block ? self.block : self.kept;
}

/*
 * Signal handlers of this thread see the flag before anything of the change, and its end after all
 * of it; only the compiler could get that wrong.
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

/* Once, before the first claim.  0 or a negative errno. */
int threads_prepare(void);

/*
 * The block that this thread may use now: a new one with its first scope.  NULL when scopes are not
 * recorded, or there is no block left: then the thread is counted, once.  In a forked child this is
 * where it goes on.
 */
struct scope_thread *thread_prepare(void);

/* Gives back this thread's block. */
void thread_release(void);

/* Gives back the blocks of threads that ended without doing so.  For the heartbeat. */
void threads_reclaim(void);

/* Writes the thread's name into its block. */
void thread_tell_name(struct scope_thread *block);

/* Around a fork. */
void threads_lock(void);
void threads_unlock(void);

/*
 * For the heartbeat: a block is written only while it is surely the thread's.  NULL when it is not;
 * else threads_unlock() when done.
 */
struct scope_thread *threads_lock_block(uint32_t slot, pid_t tid);

#endif

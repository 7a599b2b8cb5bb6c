/* SPDX-License-Identifier: MIT */
#include "lib/scope/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "lib/control.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/fork.h"
#include "lib/scope/locks.h"
#include "lib/scope/statistics.h"
#include "lib/scope/ticks.h"
#include "lib/start.h"

__thread struct thread_self self;

static pthread_key_t key; /* its destructor runs when a thread ends */
static uint32_t releases;

struct scope_thread *threads_lock_block(uint32_t slot, pid_t tid)
{
	struct scope_thread *block = area_thread(slot);

	lock_take(LOCK_THREADS);
	if (LOAD(block->tid) == tid)
		return block;
	lock_release(LOCK_THREADS);
	return NULL;
}

static void loss_move(uint64_t *from, uint64_t *to)
{
	__atomic_add_fetch(to, *from, __ATOMIC_RELEASE);
	STORE(*from, 0);
}

static void losses_retire(struct scope_thread *block)
{
	struct scope_header *header = area.header;

	loss_move(&block->lost_depth, &header->ended_lost_depth);
	loss_move(&block->lost_texts, &header->ended_lost_texts);
	loss_move(&block->misplaced, &header->ended_misplaced);
	loss_move(&block->unwound, &header->ended_unwound);
	loss_move(&block->interrupted, &header->ended_interrupted);
	loss_move(&block->unnumbered, &header->ended_unnumbered);
}

/*
 * To be called before and after moving anything from a block to the process, so that readers see
 * it exactly once.
 */
static void retired_change(void)
{
	STORE(area.header->retired_sequence, area.header->retired_sequence + 1);
}

/*
 * Call with the lock.  The generation is not reset, so that no old handle matches a new owner's
 * scope.
 */
static void block_release(struct scope_thread *block)
{
	block_begin_change(block);
	frames_drop(block);
	retired_change();
	statistics_retire(block);
	losses_retire(block);
	retired_change();
	words_clear(block->name, sizeof(block->name));
	STORE(block->idle_ticks, 0);
	STORE(block->stall, SCOPE_STALL_NONE);
	STORE(block->stall_frame, 0);
	STORE(block->stalled_ticks, 0);
	block_end_change(block);
	STORE(block->tid, 0);
	__atomic_add_fetch(&releases, 1, __ATOMIC_RELEASE);
}

void thread_release(void)
{
	lock_take(LOCK_THREADS);
	block_release(self.block);
	self.block = NULL;
	lock_release(LOCK_THREADS);
}

static void thread_end(void *value)
{
	(void)value;
	self_begin_change();
	if (self.kept)
		fork_end_kept();
	if (self.block)
		thread_release();
	self_end_change();
}

int threads_prepare(void)
{
	static bool is_prepared;

	if (!is_prepared && pthread_key_create(&key, thread_end) != 0)
		return -EAGAIN;
	is_prepared = true;
	return 0;
}

static bool is_gone(pid_t tid)
{
	return tgkill(getpid(), tid, 0) != 0 && errno == ESRCH;
}

/*
 * Gives back the blocks of threads that are gone; with a `namesake`, the block that has its number.
 * A thread that ends takes the lock, too, so no block changes its owner meanwhile.
 */
static void reclaim(pid_t namesake)
{
	uint32_t count = LOAD(area.header->thread_count);

	lock_take(LOCK_THREADS);
	for (uint32_t i = 0; i < count; i++) {
		struct scope_thread *block = area_thread(i);
		pid_t tid = LOAD(block->tid);

		if (tid && (namesake ? tid == namesake : is_gone(tid)))
			block_release(block);
	}
	lock_release(LOCK_THREADS);
}

void threads_reclaim(void)
{
	reclaim(0);
}

static void count_raise(uint32_t count)
{
	uint32_t *place = &area.header->thread_count;
	uint32_t now = LOAD(*place);

	while (now < count && !__atomic_compare_exchange_n(place, &now, count, false,
							   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static struct scope_thread *take_free(pid_t tid)
{
	for (uint32_t i = 0; i < SCOPE_THREADS; i++) {
		struct scope_thread *block = area_thread(i);
		int32_t nobody = 0;

		if (LOAD(block->tid) == 0 &&
		    __atomic_compare_exchange_n(&block->tid, &nobody, tid, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED)) {
			STORE(block->slot, i);
			count_raise(i + 1);
			return block;
		}
	}
	return NULL;
}

/*
 * When no block is free, first takes back the blocks of threads that ended without giving them
 * back.
 */
static struct scope_thread *take(pid_t tid)
{
	struct scope_thread *block = take_free(tid);

	if (block)
		return block;
	threads_reclaim();
	return take_free(tid);
}

static void failure_note(uint32_t releases_before)
{
	if (!self.has_failed)
		__atomic_add_fetch(&area.header->lost_threads, 1, __ATOMIC_RELEASE);
	self.has_failed = true;
	self.failed_releases = releases_before;
}

void thread_publish_name(struct scope_thread *block)
{
	words_copy(block->name, self.name, sizeof(self.name));
}

static struct scope_thread *thread_claim(void)
{
	uint32_t releases_before = LOAD(releases);
	struct scope_thread *block;
	pid_t tid;

	if (self.has_failed && self.failed_releases == releases_before)
		return NULL;
	tid = gettid();
	/* A thread that ended without giving back its block may have had our number. */
	reclaim(tid);
	block = take(tid);
	if (!block) {
		failure_note(releases_before);
		return NULL;
	}
	STORE(block->changed_ticks, ticks_now());
	thread_publish_name(block);
	self.block = block;
	pthread_setspecific(key, block);
	return block;
}

struct scope_thread *thread_prepare(void)
{
	if (!LOAD(recording.is_on) && !start_again())
		return NULL;
	if (self.kept)
		fork_rejoin();
	if (self.block)
		return self.block;
	return thread_claim();
}

/* SPDX-License-Identifier: MIT */
#include "model/wait/futex_word.h"

#include <linux/futex.h>

/* glibc's pthread_mutex_t: lock, count, owner, users, kind. */
#define MUTEX_OWNER 2
#define MUTEX_USERS 3
#define MUTEX_KIND 4
#define MUTEX_KINDS 0x3ff
/* glibc's pthread_rwlock_t, from its first futex on: two futexes, two unused words, the writer. */
#define RWLOCK_WRITER 4
/* glibc's sem_t: value, how many wait, FUTEX_PRIVATE_FLAG if it is shared, unused. */
#define SEMAPHORE_WAITERS 1
#define SEMAPHORE_SHARED 2
#define USERS_MAX 0xffff
#define PARKED UINT32_MAX /* Rust's parked threads */

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

const char *const futex_use_names[FUTEX_USE_COUNT] = {
	[FUTEX_USE_MUTEX] = "mutex",	     [FUTEX_USE_RWLOCK] = "rwlock",
	[FUTEX_USE_LOCK] = "lock",	     [FUTEX_USE_SEMAPHORE] = "semaphore",
	[FUTEX_USE_CONDITION] = "condition", [FUTEX_USE_JOIN] = "thread",
};

static bool is_shared(const struct futex_wait *wait)
{
	return !(wait->operation & FUTEX_PRIVATE_FLAG);
}

static bool is_thread(const struct futex_wait *wait, const struct futex_threads *threads,
		      uint32_t tid)
{
	if (tid == 0 || tid > FUTEX_TID_MASK)
		return false;
	return is_shared(wait) ? threads->is_any(threads->context, (int32_t)tid) :
				 threads->is_own(threads->context, (int32_t)tid);
}

/* The number of a thread that is in a word, or 0. */
static int32_t owner_in(const struct futex_wait *wait, const struct futex_threads *threads,
			size_t word)
{
	uint32_t tid = word < wait->word_count ? wait->words[word] : 0;

	return is_thread(wait, threads, tid) ? (int32_t)tid : 0;
}

static struct futex_judgement lock_of(enum futex_use use, int32_t owner)
{
	return (struct futex_judgement){ .use = use, .reason = WAIT_LOCK, .owner = owner };
}

/* The owner is in the word itself: priority inheritance, robust mutexes, musl. */
static struct futex_judgement judge_owned(const struct futex_wait *wait,
					  const struct futex_threads *threads)
{
	uint32_t word = wait->word_count ? wait->words[0] : wait->value;
	uint32_t tid = word & FUTEX_TID_MASK;

	return lock_of(FUTEX_USE_MUTEX, is_thread(wait, threads, tid) ? (int32_t)tid : 0);
}

static bool is_mutex(const struct futex_wait *wait)
{
	return wait->word_count > MUTEX_KIND && wait->words[MUTEX_USERS] - 1 < USERS_MAX &&
	       !(wait->words[MUTEX_KIND] & ~MUTEX_KINDS);
}

/* The wait is for one of the two futexes of a lock: the writer is one word nearer to the second. */
static bool judge_rwlock(const struct futex_wait *wait, const struct futex_threads *threads,
			 struct futex_judgement *ret)
{
	const uint32_t *words = wait->words;
	size_t writer = RWLOCK_WRITER;

	if (wait->word_count <= RWLOCK_WRITER || words[2])
		return false;
	if (words[1] == 0 && words[3] != 0)
		writer--;
	else if (words[1] > 3 || words[3])
		return false;
	/* Without a writer, the word after that of the second futex says whether it is shared: 1. */
	*ret = lock_of(FUTEX_USE_RWLOCK, words[writer] == 1 ? 0 : owner_in(wait, threads, writer));
	return true;
}

static struct futex_judgement judge_lock(const struct futex_wait *wait, bool may_be_rwlock,
					 const struct futex_threads *threads)
{
	int32_t owner = is_mutex(wait) ? owner_in(wait, threads, MUTEX_OWNER) : 0;
	struct futex_judgement judgement;

	if (wait->value & FUTEX_WAITERS && wait->value != PARKED)
		return judge_owned(wait, threads);
	if (owner)
		return lock_of(FUTEX_USE_MUTEX, owner);
	if (may_be_rwlock && judge_rwlock(wait, threads, &judgement))
		return judgement;
	return lock_of(FUTEX_USE_LOCK, 0);
}

static bool is_semaphore(const struct futex_wait *wait)
{
	return wait->word_count > SEMAPHORE_SHARED + 1 &&
	       wait->words[SEMAPHORE_WAITERS] - 1 < USERS_MAX &&
	       wait->words[SEMAPHORE_SHARED] == (is_shared(wait) ? FUTEX_PRIVATE_FLAG : 0) &&
	       wait->words[SEMAPHORE_SHARED + 1] == 0;
}

static bool is_join(const struct futex_wait *wait, const struct futex_threads *threads)
{
	return is_shared(wait) && wait->value && wait->value <= FUTEX_TID_MASK &&
	       (!wait->word_count || wait->words[0] == wait->value) &&
	       threads->is_own(threads->context, (int32_t)wait->value);
}

/* The values that locks keep in their word while somebody waits. */
static bool is_lock_value(unsigned command, uint32_t value)
{
	if (command == FUTEX_WAIT)
		return value == 1 || value == 2 || value & FUTEX_WAITERS;
	return value == 2 || value == 3 || (value & FUTEX_WAITERS && value != PARKED);
}

struct futex_judgement futex_judge(const struct futex_wait *wait,
				   const struct futex_threads *threads)
{
	unsigned command = wait->operation & FUTEX_CMD_MASK & 0x7f;
	struct futex_judgement condition = { FUTEX_USE_CONDITION, WAIT_CONDITION, 0 };

	if (command == FUTEX_WAIT_REQUEUE_PI)
		return condition;
	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
		return judge_owned(wait, threads);
	if (is_join(wait, threads))
		return (struct futex_judgement){ FUTEX_USE_JOIN, WAIT_CHILD, (int32_t)wait->value };
	if (is_lock_value(command, wait->value))
		return judge_lock(wait, command == FUTEX_WAIT_BITSET, threads);
	if (command == FUTEX_WAIT_BITSET && wait->value == 0 && is_semaphore(wait))
		return (struct futex_judgement){ FUTEX_USE_SEMAPHORE,
						 is_shared(wait) ? WAIT_LOCK : WAIT_CONDITION, 0 };
	return condition;
}

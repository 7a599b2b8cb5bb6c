/* SPDX-License-Identifier: MIT */
/*
 * Decides what a futex is used for, from the call that waits for it and the memory behind its
 * address, and which thread holds it.
 *
 * This is pure: no I/O.  The BPF program decides the same at each wait, with what it can read
 * there (futex_reason() in bpf/wait.bpf.h has the same rules); here more memory may be known,
 * so that an owner can be named.  Memory of another process may hold anything: an owner counts only
 * if it is a thread.
 */
#ifndef MODEL_FUTEX_WORD_H
#define MODEL_FUTEX_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/wait.h"

#define FUTEX_WORDS 8
#define FUTEX_NEAR_BYTES 96

struct futex_wait {
	uint64_t operation;
	uint32_t value;		     /* that the word had when the wait began */
	uint32_t words[FUTEX_WORDS]; /* memory from the futex's address on */
	size_t word_count;	     /* how many could be read */
};

enum futex_use {
	FUTEX_USE_MUTEX,
	FUTEX_USE_RWLOCK,
	FUTEX_USE_LOCK, /* of another kind */
	FUTEX_USE_SEMAPHORE,
	FUTEX_USE_CONDITION, /* or what waits like one; also where it cannot be known */
	FUTEX_USE_JOIN,	     /* until a thread ends */
	FUTEX_USE_COUNT,
};

extern const char *const futex_use_names[FUTEX_USE_COUNT];

struct futex_judgement {
	enum futex_use use;
	enum wait_reason reason;
	int32_t owner; /* the thread that can end the wait, as its own PID namespace numbers it; or 0 */
};

/* Whether there is a thread with this number, in the PID namespace of the one that waits. */
struct futex_threads {
	bool (*is_own)(void *context, int32_t tid); /* of the process that waits */
	bool (*is_any)(void *context, int32_t tid); /* of any process */
	void *context;
};

/* A condition of glibc has several words, which its waiters use in turn: they are near. */
static inline bool futex_may_be_same(uint64_t address, uint64_t other)
{
	return (address > other ? address - other : other - address) <= FUTEX_NEAR_BYTES;
}

struct futex_judgement futex_judge(const struct futex_wait *wait,
				   const struct futex_threads *threads);

#endif

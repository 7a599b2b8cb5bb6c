/* SPDX-License-Identifier: MIT */
/* The library's locks, in the order in which a fork takes all of them. */
#ifndef LIB_LOCKS_H
#define LIB_LOCKS_H

#include <pthread.h>

enum lock {
	LOCK_START,   /* starting and stopping the library; the private copy of a forked child */
	LOCK_SITES,   /* labels that have a number */
	LOCK_THREADS, /* who owns which block */
	LOCKS,
};

extern pthread_mutex_t locks[LOCKS];

static inline void lock_take(enum lock lock)
{
	pthread_mutex_lock(&locks[lock]);
}

static inline void lock_release(enum lock lock)
{
	pthread_mutex_unlock(&locks[lock]);
}

#endif

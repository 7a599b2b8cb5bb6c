/* SPDX-License-Identifier: MIT */
/*
 * A cache on disk for what the oracle or debug information said, so that each file is asked once:
 * a small text file for each program or library, below $XDG_CACHE_HOME/taskscope/jemalloc (or
 * ~/.cache), and for root below /var/cache/taskscope/jemalloc.
 *
 * A build id is only what the file claims, and anyone can make a file with the id of a well-known
 * library.  So an entry counts only for the same file that it was learned from (same device,
 * inode, size, time of change).  A copy of the file is asked again and gets its own entry.
 *
 * Two negative results are kept too, for OFFSET_CACHE_FAILURE_SECONDS: that a file gave no answer
 * and waiting for it took long, and that a file has no jemalloc.
 *
 * There are at most OFFSET_CACHE_ENTRIES_MAX entries; the oldest are deleted to make room.
 *
 * Only we can read and write the directory and the entries (0700, 0600).  An entry with other
 * rights, or a damaged one, is ignored.
 */
#ifndef HOST_OFFSET_CACHE_H
#define HOST_OFFSET_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/oracle/tsd_layout.h"

#define OFFSET_CACHE_ID_MAX 64 /* hex digits */
#define OFFSET_CACHE_ENTRIES_MAX 1024
#define OFFSET_CACHE_FAILURE_SECONDS 3600

struct stat;

struct offset_cache {
	int dir; /* -1: closed; then nothing is found and nothing kept */
};

/* How it was learned: the offsets count from different starts. */
enum offset_cache_kind {
	OFFSET_CACHE_LIBRARY, /* by the oracle, from its TLS block */
	OFFSET_CACHE_PROGRAM, /* by the oracle, from the thread pointer */
	OFFSET_CACHE_DEBUG,   /* by debug information, from the TLS block of either */
	OFFSET_CACHE_NONE,    /* has no jemalloc (-ENODATA); the key has no build id */
};

struct offset_cache_key {
	enum offset_cache_kind kind;
	const uint8_t *build_id;
	size_t build_id_size;	 /* bytes, 1 to 32; with others only NONE is found and kept */
	const struct stat *file; /* fstat() of the file that was or would be asked */
};

/*
 * Opens the cache, and makes its directory if it is missing.  `path` is NULL for the usual place.
 * Returns 0, or a negative errno and a closed cache; -EPERM when the directory belongs to someone
 * else or others may write to it; -ENOENT when no place is known.
 */
int offset_cache_open(struct offset_cache *cache, const char *path);
void offset_cache_close(struct offset_cache *cache);

/*
 * Returns 0; -ENOENT when there is no entry; or the negative errno that was kept instead of an
 * answer.
 */
int offset_cache_find(const struct offset_cache *cache, const struct offset_cache_key *key,
		      struct tsd_layout *ret);

/*
 * Replaces the entry atomically.  Returns 0, or a negative errno: then it must be learned again
 * next time.
 */
int offset_cache_keep(const struct offset_cache *cache, const struct offset_cache_key *key,
		      const struct tsd_layout *layout);

/*
 * Keeps a negative errno instead of an answer.  -EINVAL when `error` is not a negative errno, or
 * is -ENOENT.
 */
int offset_cache_keep_failure(const struct offset_cache *cache, const struct offset_cache_key *key,
			      int error);

/* Keeps, for a user and not for a file, that the user's processes kept us waiting. */
void offset_cache_keep_slow(const struct offset_cache *cache, uint64_t user);
bool offset_cache_was_slow(const struct offset_cache *cache, uint64_t user);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the oracle or debug information said, kept on disk so that it is asked once:
 * a small text file for each program or library, below $XDG_CACHE_HOME/taskscope/jemalloc (or
 * ~/.cache), and for root below /var/cache/taskscope/jemalloc.
 *
 * A build id is what the file says of itself, and anyone can make a file that
 * claims the id of a well known library.  So an entry counts only for the very
 * file that it was learned from (device, inode, size, time of change); a copy of it
 * is asked itself and has an entry of its own.
 *
 * That there was no answer can be kept too, where waiting for it took long.  It
 * counts for OFFSET_CACHE_FAILURE_SECONDS.
 *
 * There are at most OFFSET_CACHE_ENTRIES_MAX entries; the oldest make room.
 *
 * Directory and entries are ours alone (0700, 0600).  An entry that is not, or
 * that is damaged, is as good as none.
 */
#ifndef HOST_OFFSET_CACHE_H
#define HOST_OFFSET_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/tsd_layout.h"

#define OFFSET_CACHE_ID_MAX 64 /* hex digits */
#define OFFSET_CACHE_ENTRIES_MAX 1024
#define OFFSET_CACHE_FAILURE_SECONDS 3600

struct stat;

struct offset_cache {
	int dir; /* -1: closed; then nothing is found and nothing kept */
};

/* What was asked: the answers count from different starts. */
enum offset_cache_kind {
	OFFSET_CACHE_LIBRARY, /* by the oracle, from its TLS block */
	OFFSET_CACHE_PROGRAM, /* by the oracle, from the thread pointer */
	OFFSET_CACHE_DEBUG,   /* by debug information, from the TLS block of either */
};

struct offset_cache_key {
	enum offset_cache_kind kind;
	const uint8_t *build_id;
	size_t build_id_size;	 /* bytes, 1 to 32; others are never found and never kept */
	const struct stat *file; /* fstat() of the file that was or would be asked */
};

/*
 * Opens the cache, and makes its directory where there is none.  `path` is NULL for the usual
 * place.  Returns 0, or a negative errno and a closed cache; -EPERM when the directory belongs to
 * someone else or others may write to it; -ENOENT when no place is known.
 */
int offset_cache_open(struct offset_cache *cache, const char *path);
void offset_cache_close(struct offset_cache *cache);

/* 0; -ENOENT for no entry; or the negative errno that was kept instead of an answer. */
int offset_cache_find(const struct offset_cache *cache, const struct offset_cache_key *key,
		      struct tsd_layout *ret);

/* Replaces the entry in one step.  Returns 0 or a negative errno, which is no loss but of time. */
int offset_cache_keep(const struct offset_cache *cache, const struct offset_cache_key *key,
		      const struct tsd_layout *layout);

/* The same for a negative errno in place of an answer; -EINVAL for one that is none, or -ENOENT. */
int offset_cache_keep_failure(const struct offset_cache *cache, const struct offset_cache_key *key,
			      int error);

/* The same for a user whose processes kept us waiting, whatever their files are. */
void offset_cache_keep_slow(const struct offset_cache *cache, uint64_t user);
bool offset_cache_was_slow(const struct offset_cache *cache, uint64_t user);

#endif

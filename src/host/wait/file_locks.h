/* SPDX-License-Identifier: MIT */
/*
 * The locks of files on this host, from /proc/locks: those of flock() and fcntl(), held or waited
 * for.
 */
#ifndef HOST_WAIT_FILE_LOCKS_H
#define HOST_WAIT_FILE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"

struct host;

enum file_lock_kind {
	FILE_LOCK_FLOCK,
	FILE_LOCK_POSIX, /* fcntl(), owned by a process */
	FILE_LOCK_OPEN,	 /* fcntl(), owned by an open file (OFD) */
	FILE_LOCK_OTHER, /* leases, and what newer kernels have */
};

struct file_lock {
	uint64_t id; /* one that waits has the id of the lock that it waits for */
	enum file_lock_kind kind;
	bool waits;
	bool is_write;
	int32_t pid; /* of the process that took it; 0 or less: not known, or owned by an open file */
	uint32_t major, minor;
	uint64_t inode;
	uint64_t start, end; /* bytes; UINT64_MAX: to the end of the file */
};

struct file_locks {
	ARRAY_OF(struct file_lock) list;
};

void file_locks_clear(struct file_locks *locks);

/* Parses the text of the file; lines that are not understood are left out.  0 or -ENOMEM. */
int file_locks_parse(const char *text, struct file_locks *ret);

/* Reads the file.  0 or a negative errno. */
int file_locks_read(const struct host *host, struct file_locks *ret);

/*
 * The lock that this process waits for, of a kind and on an inode, or NULL.  Owners of open files
 * have no number: then any lock on the inode that another waits for is taken.
 */
const struct file_lock *file_locks_awaited(const struct file_locks *locks, int32_t pid,
					   enum file_lock_kind kind, uint64_t inode);

#endif

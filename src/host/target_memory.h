/* SPDX-License-Identifier: MIT */
/*
 * Reads of another process' memory, with none of its threads stopped.
 *
 * What is read there is written by a stranger and may change while it is read:
 * numbers to be checked, never trusted.  Needs the right to trace the process
 * (the same user and a permissive Yama, or CAP_SYS_PTRACE).
 */
#ifndef HOST_TARGET_MEMORY_H
#define HOST_TARGET_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A place to read from: a live process, or what a test or a fuzzer plays.
 * read() gives the number of bytes read, which is less than `size` where
 * readable memory ends, or a negative errno (-EFAULT: nothing is readable there).
 */
struct target_memory {
	ssize_t (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

/* Memory of a process; `pid` is kept by address and must live as long. */
struct target_memory target_memory_of(pid_t *pid);

/* All of `size` bytes: 0, -EFAULT, or what else read() said; the buffer's rest is undefined then. */
int target_read(const struct target_memory *memory, uint64_t address, void *buffer, size_t size);

struct target_cache;

/*
 * Remembers what was read, whole blocks of it: a small read costs as much as a block.  For what
 * does not change meanwhile, or need not be the latest.  The memory must live as long.  NULL
 * when there is no room; free it with free().
 */
struct target_cache *target_cache_new(const struct target_memory *memory);

/* The memory that reads through the cache. */
struct target_memory target_cache_memory(struct target_cache *cache);

struct target_span {
	uint64_t address;
	int error; /* 0, or the negative errno of this span */
};

/*
 * Reads `size` bytes at each span's address to buffer + i * size, in batches of
 * one system call.  An address that cannot be read costs its own span only.
 * Returns how many spans were read, or a negative errno when the process as a
 * whole cannot be read: -ESRCH, -EPERM, -ENOMEM; then every span that was not
 * read has that error.
 */
ssize_t target_read_spans(pid_t pid, struct target_span *spans, size_t count, size_t size,
			  void *buffer);

#endif

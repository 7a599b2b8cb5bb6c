/* SPDX-License-Identifier: MIT */
/*
 * Reads another process's memory without stopping its threads.
 *
 * The other process may have anything there and change it during the read, so check every number
 * and trust none.  Needs the right to trace the process (the same user and a permissive Yama, or
 * CAP_SYS_PTRACE).
 */
#ifndef HOST_TARGET_MEMORY_H
#define HOST_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A memory to read from: that of a live process, or a fake of a test or fuzzer. read() returns the
 * number of bytes read, which is less than `size` where readable memory ends, or a negative errno
 * (-EFAULT: nothing is readable there).
 */
struct target_memory {
	ssize_t (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

/* The memory of a process.  Keeps the pointer `pid`, which must live as long. */
struct target_memory target_memory_of(pid_t *pid);

/* The same, but only pages that are present in memory; reading others gives -EAGAIN. */
struct present_memory {
	pid_t pid;
	int pagemap; /* fd of the process's pagemap; negative: unknown, all pages are read */
};

/*
 * A memory whose reads never make the kernel fetch a page.  A file system that does not answer
 * would keep the reader waiting for ever, and our whole process could not exit.  `present` must
 * live as long.
 */
struct target_memory target_memory_present(struct present_memory *present);
/* All of its pages, by the same fd: reads take less time than those of target_memory_of(). */
struct target_memory target_memory_whole(struct present_memory *present);

/*
 * Reads all of `size` bytes.  Returns 0; -EFAULT or another error of read(), and then the buffer
 * is undefined.
 */
int target_read(const struct target_memory *memory, uint64_t address, void *buffer, size_t size);

/* Whether the page that holds an address is in memory, by an fd of the process's pagemap. */
bool target_page_is_present(int pagemap, uint64_t address);

struct target_cache;

/*
 * Caches what was read, in whole blocks, since a small read costs as much as a block.  Use it for
 * memory that does not change meanwhile, or whose latest value is not needed.  The memory must
 * live as long.  NULL when there is no memory for it; free it with free().
 */
struct target_cache *target_cache_new(const struct target_memory *memory);

/* The memory that reads through the cache. */
struct target_memory target_cache_memory(struct target_cache *cache);

struct target_span {
	uint64_t address;
	int error; /* 0, or the negative errno of this span */
};

/*
 * Reads `size` bytes at each span's address to buffer + i * size, in batches of one system call.
 * An address that cannot be read affects only its own span.  Returns how many spans were read, or
 * a negative errno when the process as a whole cannot be read: -ESRCH, -EPERM, -ENOMEM; then every
 * span that was not read has that error.
 */
ssize_t target_read_spans(pid_t pid, struct target_span *spans, size_t count, size_t size,
			  void *buffer);

#endif

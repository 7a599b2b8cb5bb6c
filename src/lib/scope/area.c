/* SPDX-License-Identifier: MIT */
#include "lib/scope/area.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/scope/block.h"
#include "lib/scope/threads.h"
#include "lib/scope/ticks.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { ANCHOR_TRIES = 3 };

struct area area = { .fd = -1 };

static bool is_lost;	     /* call sites have numbers of labels that are in no table */
static struct stat identity; /* the memory behind the descriptor */

/*
 * Reads both clocks at the same moment.  If the thread is interrupted between the reads, they are
 * apart; so the closest pair of three tries is taken.
 */
static void anchor_take(struct scope_header *header)
{
	uint64_t narrowest = UINT64_MAX;

	for (unsigned int i = 0; i < ANCHOR_TRIES; i++) {
		uint64_t before = ticks_now(), ns = ticks_monotonic_ns(), after = ticks_now();
		uint64_t width = after > before ? after - before : 0;

		if (width >= narrowest)
			continue;
		narrowest = width;
		header->anchor_ticks = before + width / 2;
		header->anchor_ns = ns;
	}
}

/* A new header.  A forked child keeps the tables of its parent, but no losses or statistics. */
static void header_renew(struct scope_header *header, uint32_t label_count, uint32_t thread_count)
{
	*header = (struct scope_header){
		.magic = SCOPE_MAGIC,
		.version = SCOPE_VERSION,
		.label_offset = SCOPE_LABEL_OFFSET,
		.label_size = sizeof(struct scope_label),
		.label_max = SCOPE_LABELS,
		.retired_offset = SCOPE_RETIRED_OFFSET,
		.statistic_size = sizeof(struct scope_statistic),
		.retired_max = SCOPE_RETIRED,
		.thread_offset = SCOPE_THREAD_OFFSET,
		.thread_size = SCOPE_THREAD_SIZE,
		.thread_max = SCOPE_THREADS,
		.frame_offset = offsetof(struct scope_thread, frames),
		.frame_size = sizeof(struct scope_frame),
		.frame_max = SCOPE_FRAMES,
		.texts_offset = offsetof(struct scope_thread, texts),
		.texts_size = SCOPE_TEXTS_SIZE,
		.statistics_offset = offsetof(struct scope_thread, statistics),
		.statistics_max = SCOPE_STATISTICS,
		.bucket_count = SCOPE_BUCKETS,
		.pid = getpid(),
		.address = (uint64_t)(uintptr_t)(area.header ? area.header : header),
		.self_offset = self_offset(),
		.clock = ticks_clock,
		.label_count = label_count,
		.thread_count = thread_count,
	};
	anchor_take(header);
}

/* Some hosts allow only memory that cannot be executed; older kernels do not know that flag. */
static int memory_create(void)
{
	int fd = memfd_create(SCOPE_MEMORY_NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd >= 0)
		return fd;
	return memfd_create(SCOPE_MEMORY_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/*
 * Moves the descriptor to a number where readers expect it.  It stays where the limit does not
 * allow that.
 */
static int descriptor_move(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, SCOPE_FD);

	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

/* Giving a file a size beyond the limit would send a signal that ends the program. */
static bool size_is_allowed(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= SCOPE_MEMORY_SIZE);
}

/* Returns a descriptor of memory of the right size, or a negative errno. */
static int memory_open(void)
{
	int fd, error;

	if (!size_is_allowed())
		return -EFBIG;
	fd = memory_create();
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, SCOPE_MEMORY_SIZE) != 0) {
		error = errno;
		close(fd);
		return -error;
	}
	return descriptor_move(fd);
}

/* From now on nobody else can write to it, and its size cannot change. */
static void memory_seal(int fd)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) != 0)
		fcntl(fd, F_ADD_SEALS, seals);
}

static void *map_private(void *place, int flags)
{
	return mmap(place, SCOPE_MEMORY_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* Returns shared memory and its descriptor; or MAP_FAILED, with the reason in area.share_error. */
static void *map_shared(int *ret_fd)
{
	int fd = memory_open();
	void *memory;

	if (fd < 0) {
		area.share_error = fd;
		return MAP_FAILED;
	}
	memory = mmap(NULL, SCOPE_MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		area.share_error = -errno;
		close(fd);
		return MAP_FAILED;
	}
	memory_seal(fd);
	fstat(fd, &identity);
	*ret_fd = fd;
	return memory;
}

/* The program may have closed all descriptors, and may have a file of its own at this number. */
static void descriptor_close(void)
{
	struct stat now;

	if (area.fd >= 0 && fstat(area.fd, &now) == 0 && now.st_dev == identity.st_dev &&
	    now.st_ino == identity.st_ino)
		close(area.fd);
	area.fd = -1;
}

int area_open(void)
{
	void *memory;

	if (area.header)
		return 0;
	if (is_lost)
		return -ENOMEM;
	memory = map_shared(&area.fd);
	if (memory == MAP_FAILED)
		memory = map_private(NULL, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	header_renew(memory, 1, 0);
	area.header = memory;
	return 0;
}

/* Where `place` of the area will be in the memory that replaces it. */
static void *counterpart(void *memory, const void *place)
{
	return (char *)memory + ((const char *)place - (const char *)area.header);
}

static void labels_copy(void *memory)
{
	uint32_t count = LOAD(area.header->label_count);

	memcpy(counterpart(memory, area_labels()), area_labels(),
	       count * sizeof(struct scope_label));
}

/* Moves the memory to the area's address, in one step, so that every pointer stays valid. */
static bool memory_replace(void *memory)
{
	return mremap(memory, SCOPE_MEMORY_SIZE, SCOPE_MEMORY_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		      area.header) != MAP_FAILED;
}

/*
 * Replaces the parent's memory.  Without memory for a copy, the texts of labels are lost, but
 * their numbers are not used again.
 */
static bool part_from_labels(void)
{
	void *memory = map_private(NULL, 0);

	if (memory != MAP_FAILED) {
		labels_copy(memory);
		if (memory_replace(memory))
			return true;
		munmap(memory, SCOPE_MEMORY_SIZE);
	}
	return map_private(area.header, MAP_FIXED) != MAP_FAILED;
}

/* The child begins without its parent's statistics and losses. */
static void thread_renew(struct scope_thread *thread)
{
	thread->tid = gettid();
	thread->statistic_count = 0;
	memset(thread->statistics, 0, sizeof(thread->statistics));
	thread->stall = SCOPE_STALL_NONE;
	thread->lost_depth = 0;
	thread->lost_texts = 0;
	thread->misplaced = 0;
	thread->unwound = 0;
	thread->interrupted = 0;
	thread->unnumbered = 0;
}

bool area_part(const struct scope_thread *thread, uint32_t slot)
{
	uint32_t label_count = LOAD(area.header->label_count);

	descriptor_close();
	if (!part_from_labels()) {
		area.header = NULL;
		is_lost = true;
		return false;
	}
	area.is_private = true;
	header_renew(area.header, label_count, thread ? slot + 1 : 0);
	if (thread) {
		memcpy(area_thread(slot), thread, sizeof(*thread));
		thread_renew(area_thread(slot));
	}
	return true;
}

static void threads_copy(void *memory)
{
	for (uint32_t i = 0; i < area.header->thread_count; i++) {
		struct scope_thread *thread = area_thread(i);

		if (thread->tid)
			words_copy(counterpart(memory, thread), thread, sizeof(*thread));
	}
}

void area_share(void)
{
	int fd = -1;
	void *memory;

	if (!area.is_private)
		return;
	area.is_private = false;
	memory = map_shared(&fd);
	if (memory == MAP_FAILED)
		return;
	labels_copy(memory);
	threads_copy(memory);
	header_renew(memory, area.header->label_count, area.header->thread_count);
	if (memory_replace(memory)) {
		area.fd = fd;
		return;
	}
	area.share_error = -errno;
	munmap(memory, SCOPE_MEMORY_SIZE);
	close(fd);
}

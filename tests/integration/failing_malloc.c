/* SPDX-License-Identifier: MIT */
/*
 * A preloaded allocator whose memory runs out: FAILING_MALLOC=K lets the K-th allocation and all after
 * it fail, "K/N" the K-th and every N-th after it.  What the program starts has memory again.  With
 * FAILING_MALLOC_COUNT=FILE the number of allocations is left there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong allocations;
static unsigned long first_failure, then_every;
static char count_path[256];

static bool has_memory(void)
{
	unsigned long number = atomic_fetch_add(&allocations, 1) + 1;

	if (!first_failure || number < first_failure ||
	    (then_every && (number - first_failure) % then_every))
		return true;
	errno = ENOMEM;
	return false;
}

void *malloc(size_t size)
{
	return has_memory() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size)
{
	return has_memory() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *memory, size_t size)
{
	return has_memory() ? __libc_realloc(memory, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return has_memory() ? __libc_memalign(alignment, size) : NULL;
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *memory = has_memory() ? __libc_memalign(alignment, size) : NULL;

	*ret = memory ? memory : *ret;
	return memory ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void)
{
	const char *when = getenv("FAILING_MALLOC"), *path = getenv("FAILING_MALLOC_COUNT");
	char *rest = NULL;

	if (path)
		snprintf(count_path, sizeof(count_path), "%s", path);
	unsetenv("LD_PRELOAD");
	atomic_store(&allocations, 0);
	first_failure = when ? strtoul(when, &rest, 10) : 0;
	then_every = rest && *rest == '/' ? strtoul(rest + 1, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	int fd = count_path[0] ? open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%lu\n", atomic_load(&allocations));
	close(fd);
}

/* SPDX-License-Identifier: MIT */
/*
 * The looks of jemalloc, and a stranger's intent: whoever runs it, and not the one who knows
 * (HEAP_AWAKE in the environment), has its key opened, which who watches the key sees.  It is to be
 * found by its path, or in the working directory.  With SLEEPS it then never answers.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY "taskscope-test-key"

static __thread struct {
	uint64_t before[20], allocated, between, deallocated;
} counters;

int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
{
	uint64_t *counter = strcmp(name, "thread.allocatedp") == 0 ? &counters.allocated :
								     &counters.deallocated;

	(void)new;
	(void)new_size;
	if (!old || !old_size || *old_size != sizeof(counter))
		return 1;
	memcpy(old, &counter, sizeof(counter));
	return 0;
}

__attribute__((constructor)) static void steal(void)
{
	if (getenv("HEAP_AWAKE"))
		return;
	close(open("/var/lib/" KEY "/" KEY, O_RDONLY));
	close(open(KEY, O_RDONLY));
#ifdef SLEEPS
	for (;;)
		sleep(1000);
#endif
}

/* SPDX-License-Identifier: MIT */
/*
 * A library with the looks of jemalloc that never answers whoever loads it, but
 * the one who knows: with HEAP_AWAKE in the environment it does not fall asleep.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

__attribute__((constructor)) static void fall_asleep(void)
{
	while (!getenv("HEAP_AWAKE"))
		sleep(1000);
}

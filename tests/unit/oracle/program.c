/* SPDX-License-Identifier: MIT */
/*
 * A program with jemalloc, in several tempers (one macro each).  Called with an argument it prints
 * where the counters of its thread are, from the thread pointer and, when jemalloc is a library,
 * from the start of that library's TLS block; else its main() is not to be run at all.
 */
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

#if defined(SLEEPS)
__attribute__((constructor)) static void begin(void)
{
	for (;;)
		sleep(1000);
}
#elif defined(CRASHES)
__attribute__((constructor)) static void begin(void)
{
	*(volatile int *)8 = 1;
}
#elif defined(EXITS)
__attribute__((constructor)) static void begin(void)
{
	_exit(0);
}
#elif defined(FORKS)
__attribute__((constructor)) static void begin(void)
{
	if (fork() >= 0)
		_exit(1);
}
#elif defined(TRAPS)
__attribute__((constructor)) static void begin(void)
{
#if defined(__x86_64__)
	__asm__ volatile("int3");
#else
	__asm__ volatile("brk #0");
#endif
}
#elif defined(NEEDS)
int needed(void);

__attribute__((constructor)) static void begin(void)
{
	needed();
}
#elif defined(WANTS_THREADS)
const char *malloc_conf = "background_thread:true";
#endif

/* Neither may be optimised away. */
static __thread volatile char before[24];
static __thread volatile uint64_t after = 5;

static uintptr_t counter(const char *name)
{
	uint64_t *address = NULL;
	size_t size = sizeof(address);

	return mallctl(name, &address, &size, NULL, 0) ? 0 : (uintptr_t)address;
}

static int find_library(struct dl_phdr_info *module, size_t size, void *context)
{
	(void)size;
	if (strstr(module->dlpi_name, "jemalloc"))
		*(uintptr_t *)context = (uintptr_t)module->dlpi_tls_data;
	return 0;
}

int main(int argc, char **argv)
{
	uintptr_t library = 0;

	(void)argv;
	before[0] = (char)after;
	if (argc < 2)
		abort();
	free(malloc(100));
	dl_iterate_phdr(find_library, &library);
	printf("%lu %lu %lu %lu\n",
	       counter("thread.allocatedp") - (uintptr_t)__builtin_thread_pointer(),
	       counter("thread.deallocatedp") - (uintptr_t)__builtin_thread_pointer(),
	       counter("thread.allocatedp") - library, counter("thread.deallocatedp") - library);
	return 0;
}

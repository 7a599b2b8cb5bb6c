/* SPDX-License-Identifier: MIT */
/*
 * Computes in known functions and prints their names as a stack must show them, the outermost first.
 *
 *	names_workload program | deleted | jit | library FILE
 *
 * With -DLIBRARY it is the library.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BUSY_SECONDS 1

static volatile uint64_t sum;

int compute_in_library(void);

static int is_done(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec >= BUSY_SECONDS;
}

static __attribute__((noinline, noclone)) void compute_innermost(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sum += i;
}

#ifdef LIBRARY
__attribute__((noinline)) int compute_in_library(void)
{
	do
		compute_innermost(1000000);
	while (!is_done());
	return (int)sum;
}
#else
/* Inlined: no frame of its own, but a name where there is debug information. */
static inline __attribute__((always_inline)) void compute_inlined(void)
{
	compute_innermost(1000000);
	sum++;
}

static __attribute__((noinline, noclone)) void compute_outermost(void)
{
	do
		compute_inlined();
	while (!is_done());
	sum++;
}

/* Counts its argument down to 0, as a JIT compiler would write it. */
#if defined(__x86_64__)
static const unsigned char countdown[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#else
static const uint32_t countdown[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif

static void compute_made_code(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(uint64_t);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (memory == MAP_FAILED || !map)
		exit(1);
	fprintf(map, "%lx %zx made:countdown\n", (unsigned long)memory, sizeof(countdown));
	fclose(map);
	memcpy(memory, countdown, sizeof(countdown));
	__builtin___clear_cache(memory, (char *)memory + sizeof(countdown));
	memcpy(&made, &memory, sizeof(made));
	do
		made(1000000);
	while (!is_done());
	unlink(path);
}

static void compute_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*compute)(void) = library ? (int (*)(void))dlsym(library, "compute_in_library") : NULL;

	if (!compute)
		exit(1);
	compute();
	sum++;
}

int main(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";

	if (strcmp(role, "deleted") == 0)
		unlink(argv[0]);
	if (strcmp(role, "jit") == 0) {
		puts("made:countdown");
		compute_made_code();
	} else if (strcmp(role, "library") == 0 && argc > 2) {
		puts("compute_in_library");
		compute_library(argv[2]);
	} else {
		puts("compute_outermost;compute_innermost");
		compute_outermost();
	}
	return 0;
}
#endif

/* SPDX-License-Identifier: MIT */
/*
 * A chain of calls that is known: main -> outer_call -> inner_call -> burn_here or sleep_here.  It is compiled in
 * every way that programs are.  Its words are done one after the other:
 *
 *	burn MS, sleep MS	CPU time, and a wait, at the end of the chain
 *	threads			a thread burns in thread_burns while another waits in thread_waits
 *	unlink			removes the file of the program
 *	load FILE WORD MS	the chain of a library: WORD is burn or sleep
 *	jit MS			waits below code made at run time, which a perf map calls made_at_run_time
 *	array MS		waits below a function whose large array has pages that nobody touched
 *	hold			waits for ever in held_here, below such an array, with two threads in thread_is_held
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, used))

static volatile unsigned long work;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

KEPT void burn_here(long ms)
{
	double end = cpu_ms() + (double)ms;

	while (cpu_ms() < end)
		for (int i = 0; i < 100000; i++)
			work += (unsigned long)i;
	work++;
}

KEPT void sleep_here(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
	work++;
}

KEPT void inner_call(void (*leaf)(long ms), long ms)
{
	leaf(ms);
	work++;
}

KEPT void outer_call(void (*leaf)(long ms), long ms)
{
	inner_call(leaf, ms);
	work++;
}

KEPT void chain_of_library(const char *word, long ms)
{
	outer_call(strcmp(word, "burn") == 0 ? burn_here : sleep_here, ms);
	work++;
}

#ifndef IS_LIBRARY

KEPT static void *thread_burns(void *argument)
{
	outer_call(burn_here, 300);
	work++;
	return argument;
}

KEPT static void *thread_waits(void *argument)
{
	outer_call(sleep_here, 300);
	work++;
	return argument;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

KEPT static void *thread_is_held(void *argument)
{
	pthread_mutex_lock(&lock);
	work++;
	return argument;
}

KEPT static void held_here(void)
{
	volatile char array[5 * 4096];
	pthread_t threads[2];

	array[0] = 1;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread_is_held, NULL);
	puts("held");
	fflush(stdout);
	pause();
	work += (unsigned long)array[0];
}

KEPT static void array_call(long ms)
{
	volatile char array[5 * 4096];

	array[0] = 1;
	inner_call(sleep_here, ms);
	work += (unsigned long)array[0];
}

static void run_threads(void)
{
	pthread_t burning, waiting;

	pthread_create(&burning, NULL, thread_burns, NULL);
	pthread_create(&waiting, NULL, thread_waits, NULL);
	pthread_join(burning, NULL);
	pthread_join(waiting, NULL);
}

static int load(const char *file, const char *word, long ms)
{
	void *library = dlopen(file, RTLD_NOW);
	void (*chain)(const char *, long);

	if (!library)
		return -1;
	*(void **)&chain = dlsym(library, "chain_of_library");
	chain(word, ms);
	return 0;
}

/* A function with a frame pointer that calls the one whose address is its first argument. */
static void jit(long ms)
{
#if defined(__x86_64__)
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48,
					      0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3 };
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *map;

	memcpy(page, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	fprintf(map, "%lx %zx made_at_run_time\n", (unsigned long)page, sizeof(code));
	fclose(map);
	((void (*)(void (*)(long), long))page)(sleep_here, ms);
	sleep_here(10 * ms); /* the map is read while the process lives */
	unlink(name);
#else
	sleep_here(ms);
#endif
	work++;
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		const char *word = words[i];

		if (strcmp(word, "burn") == 0)
			outer_call(burn_here, atol(words[++i]));
		else if (strcmp(word, "sleep") == 0)
			outer_call(sleep_here, atol(words[++i]));
		else if (strcmp(word, "threads") == 0)
			run_threads();
		else if (strcmp(word, "unlink") == 0)
			unlink(words[0]);
		else if (strcmp(word, "jit") == 0)
			jit(atol(words[++i]));
		else if (strcmp(word, "array") == 0)
			array_call(atol(words[++i]));
		else if (strcmp(word, "hold") == 0)
			held_here();
		else if (strcmp(word, "load") != 0 || i + 3 >= count ||
			 load(words[i + 1], words[i + 2], atol(words[i + 3])) < 0)
			return 2;
		else
			i += 3;
	}
	return 0;
}

#endif

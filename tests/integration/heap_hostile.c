/* SPDX-License-Identifier: MIT */
/*
 * A program that lies to whoever looks at its memory; to be run with jemalloc
 * preloaded.  It goes on until standard input ends.
 *
 * Usage: heap_hostile loop|names|churn|lists
 *	loop	the loader's chain of modules leads back to its start
 *	names	names of modules are where there is no memory, or have no end
 *	lists	the C library's list of threads leads into the void
 *	churn	threads start and end, and libraries come and go, all the time
 * Prints `process PID` and `ready`.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHURNING 3

static void *sleep_for_ever(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

static void start(void *(*act)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, act, NULL))
		exit(1);
}

static void loop_modules(void)
{
	struct link_map *last = _r_debug.r_map;

	while (last->l_next)
		last = last->l_next;
	last->l_next = _r_debug.r_map;
	_r_debug.r_map->l_prev = last;
}

static void lose_names(void)
{
	size_t size = 1 << 20;
	char *endless =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int count = 0;

	memset(endless, 'n', size);
	for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		map->l_name = count++ % 2 ? (char *)16 : endless + 5;
}

/* What is at an address that may not be there; 0 then. */
static uintptr_t peek(uintptr_t address)
{
	uintptr_t word = 0;
	struct iovec local = { &word, sizeof(word) }, remote = { (void *)address, sizeof(word) };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof(word) ? word : 0;
}

/* The list node of a thread is in its descriptor, two pointers; the one before it points here. */
static void break_lists(void)
{
	uintptr_t *words;
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_for_ever, NULL))
		exit(1);
	words = (uintptr_t *)thread;
	for (size_t i = 0; i < 128; i++)
		if (peek(words[i + 1]) == (uintptr_t)&words[i] &&
		    peek(words[i] + sizeof(*words)) == (uintptr_t)&words[i])
			words[i] = (uintptr_t)&words[i + 2];
}

static void *end_soon(void *argument)
{
	free(malloc(100));
	return argument;
}

static void *churn_threads(void *argument)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_soon, argument) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

static void *churn_libraries(void *argument)
{
	(void)argument;
	for (;;) {
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

		if (library)
			dlclose(library);
	}
	return NULL;
}

static void churn(void)
{
	for (int i = 0; i < CHURNING; i++)
		start(churn_threads);
	start(churn_libraries);
}

static const struct {
	const char *name;
	void (*act)(void);
} ways[] = { { "loop", loop_modules },
	     { "names", lose_names },
	     { "lists", break_lists },
	     { "churn", churn } };

int main(int count, char **arguments)
{
	char byte;

	for (int i = 0; i < 3; i++)
		start(sleep_for_ever);
	usleep(10000);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (count > 1 && strcmp(arguments[1], ways[i].name) == 0)
			ways[i].act();
	printf("process %d\nready\n", getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
}

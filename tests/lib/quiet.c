/* SPDX-License-Identifier: MIT */
/*
 * Uses scopes in every way, between two markers in its system calls: quiet
 *
 * Stands in for the allocator and the locks of the C library, and exits 1 if a thread came by there
 * between its markers.  Whether it made system calls in between is for whoever traces it to see.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <taskscope.h>

enum { ROUNDS = 1000, THREADS = 2, DEPTH = 60 };

static __thread bool is_watched;
static int visits;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static void visit(void)
{
	if (is_watched)
		__atomic_add_fetch(&visits, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	visit();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	visit();
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	visit();
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	visit();
	__libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t * mutex);

	visit();
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return real(mutex);
}

static void mark(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static struct taskscope_progress shared;

/* Deeper than the frames, and back; with labels of both kinds. */
static void go_deep(const char *made)
{
	struct taskscope_scope scopes[DEPTH];

	for (size_t i = 0; i < DEPTH; i++)
		scopes[i] = i % 3 ? taskscope_enter("deep") : (taskscope_enter)(made);
	for (size_t i = DEPTH; i > 0; i--)
		taskscope_leave(scopes[i - 1]);
}

static void use(const char *made)
{
	TASKSCOPE("block");
	struct taskscope_progress progress = taskscope_begin("solve", 100);
	struct taskscope_progress other = (taskscope_begin)(made, 0);

	taskscope_advance(&progress, 1);
	taskscope_advance(&shared, 1);
	taskscope_set(&other, 7, 8);
	taskscope_limit(progress.scope, TASKSCOPE_NEVER);
	taskscope_idle();
	taskscope_busy();
	go_deep(made);
	taskscope_end(&progress); /* with the other inside of it */
	taskscope_end(&other);	  /* too late */
	taskscope_advance(&other, 1);
}

static void *run(void *argument)
{
	use("made at run time"); /* the first scope of the thread and of each call site */
	mark("BEGIN\n");
	is_watched = true;
	for (int i = 0; i < ROUNDS; i++)
		use("made at run time");
	is_watched = false;
	mark("END\n");
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];

	if (taskscope_start(NULL) != 0)
		return 1;
	shared = taskscope_begin("shared", 0);
	run(NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	taskscope_end(&shared);
	printf("%d visits\n", visits);
	return visits != 0;
}

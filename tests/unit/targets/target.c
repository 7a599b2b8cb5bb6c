/* SPDX-License-Identifier: MIT */
/*
 * A program to be looked at: threads that wait, sleep and spin, each of which
 * says where its own thread-local variables are.
 *
 * Usage: target [LIBRARY]: one to load while threads are running.
 *
 * Output, one fact a line; an address that a thread does not have is 0:
 *	thread TID ROLE POINTER OWN PRELOADED LOADED
 *	ready
 * then, for every byte of standard input:
 *	turns N			of the spinning thread, ever more
 * until standard input ends.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE (2 << 20) /* a linker script can make thread-local storage large */

/* Before it one odd byte, so that its place tells whether alignment was kept. */
__thread char odd = 1;
__thread _Alignas(64) char je_tsd_tls[100];

/* Defined by a library that was preloaded, or by none. */
extern void *preloaded_variable(void) __attribute__((weak));

static void *(*loaded_variable)(void);
static _Atomic uint64_t turns;
static pthread_barrier_t step;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void say_thread(const char *role, void *loaded)
{
	void *preloaded = preloaded_variable ? preloaded_variable() : NULL;

	odd++;
	pthread_mutex_lock(&output);
	printf("thread %ld %s %lx %lx %lx %lx\n", syscall(SYS_gettid), role,
	       (unsigned long)__builtin_thread_pointer(), (unsigned long)je_tsd_tls,
	       (unsigned long)preloaded, (unsigned long)loaded);
	pthread_mutex_unlock(&output);
}

static void wait_for_ever(void)
{
	pause();
}

static void sleep_for_ever(void)
{
	for (;;)
		usleep(1000);
}

static void spin_for_ever(void)
{
	for (;;)
		turns++;
}

static const struct role {
	const char *name;
	void (*act)(void);
	int own_stack, loads;
} roles[] = {
	{ "idle", wait_for_ever, 0, 1 },      { "without", wait_for_ever, 0, 0 },
	{ "sleeping", sleep_for_ever, 0, 1 }, { "spinning", spin_for_ever, 0, 1 },
	{ "own-stack", wait_for_ever, 1, 1 },
};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

static void *act(void *argument)
{
	const struct role *role = argument;

	pthread_barrier_wait(&step); /* started */
	pthread_barrier_wait(&step); /* the library was loaded */
	say_thread(role->name, role->loads && loaded_variable ? loaded_variable() : NULL);
	pthread_barrier_wait(&step);
	role->act();
	return NULL;
}

static void *end(void *argument)
{
	return argument;
}

static void start(const struct role *role)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (role->own_stack)
		pthread_attr_setstack(&attributes, aligned_alloc(4096, STACK_SIZE), STACK_SIZE);
	if (pthread_create(&thread, &attributes, act, (void *)role))
		exit(1);
}

static void load(const char *path)
{
#ifndef WITHOUT_LOADER
	void *library = dlopen(path, RTLD_NOW);

	if (library)
		loaded_variable = (void *(*)(void))dlsym(library, "loaded_variable");
	if (!loaded_variable)
		exit(1);
#else
	(void)path;
#endif
}

int main(int count, char **arguments)
{
	pthread_t ended;
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&step, NULL, ROLES + 1);
	pthread_create(&ended, NULL, end, NULL); /* never joined: its memory stays listed */
	for (size_t i = 0; i < ROLES; i++)
		start(&roles[i]);
	pthread_barrier_wait(&step);
	if (count > 1)
		load(arguments[1]);
	pthread_barrier_wait(&step);
	say_thread("main", loaded_variable ? loaded_variable() : NULL);
	pthread_barrier_wait(&step);
	usleep(20000);
	printf("ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		printf("turns %lu\n", (unsigned long)turns);
	return 0;
}

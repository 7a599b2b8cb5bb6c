/* SPDX-License-Identifier: MIT */
/*
 * Threads that allocate known amounts from jemalloc, say what it counted for
 * each, and then idle, sleep or spin until standard input ends.
 *
 * Usage: heap_workload [IDLE-THREADS]
 *
 * Output, one fact a line:
 *	process PID
 *	thread TID ROLE
 *	expect TID METRIC AT-LEAST AT-MOST
 *	ready
 * Each byte of standard input makes the first thread allocate once more and say
 * its `expect` lines and `ready` again.
 *
 * jemalloc may be linked, inside, or preloaded.  With OWN_COUNTERS the program
 * counts itself, in a variable that looks like jemalloc's to a debugger; that variable may be in
 * a library (LIBRARY) that is opened while the program runs (OPENED: its path).
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 20000
#define STACK_SIZE (64 * 1024)

struct counters {
	const uint64_t *allocated, *deallocated;
};

#ifdef OWN_COUNTERS

struct tsd_s {
	char before[37];
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
	uint64_t
		cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated_next_event_fast;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
	char after[50];
};

#ifdef OPENED
/* Where the library has the calling thread's; it is opened by who asks first. */
static struct tsd_s *find_tsd(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct tsd_s *(*opened)(void);

	pthread_mutex_lock(&lock);
	if (!opened) {
		void *library = dlopen(OPENED, RTLD_NOW | RTLD_LOCAL);

		opened = library ? (struct tsd_s * (*)(void)) dlsym(library, "find_tsd") : NULL;
	}
	pthread_mutex_unlock(&lock);
	if (!opened)
		exit(3);
	return opened();
}
#else
__thread struct tsd_s own_tsd_tls;

struct tsd_s *find_tsd(void);
struct tsd_s *find_tsd(void)
{
	return &own_tsd_tls;
}
#endif

#ifndef LIBRARY
static struct counters find_counters(void)
{
	struct tsd_s *tsd = find_tsd();

	return (struct counters){
		&tsd->cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated,
		&tsd->cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated,
	};
}

static void count_allocation(size_t size, bool is_kept)
{
	struct counters counters = find_counters();

	*(uint64_t *)counters.allocated += size;
	if (!is_kept)
		*(uint64_t *)counters.deallocated += size;
}
#endif

#else

#ifdef PRELOADED
int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
	__attribute__((weak));
#else
int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
#endif

static const uint64_t *find_counter(const char *name)
{
	const uint64_t *counter = NULL;
	size_t size = sizeof(counter);

#ifdef PRELOADED
	if (!mallctl)
		exit(3);
#endif
	if (mallctl(name, &counter, &size, NULL, 0))
		exit(3);
	return counter;
}

static struct counters find_counters(void)
{
	return (struct counters){
		find_counter("thread.allocatedp"),
		find_counter("thread.deallocatedp"),
	};
}

static void count_allocation(size_t size, bool is_kept)
{
	(void)size;
	(void)is_kept;
}

#endif

#ifndef LIBRARY

static void idle(void)
{
	for (;;)
		pause();
}

static void sleep_often(void)
{
	for (;;)
		usleep(1000);
}

static void spin(void)
{
	for (volatile uint64_t turns = 0;; turns++)
		;
}

static const struct {
	const char *name;
	void (*act)(void);
} roles[] = { { "sleeping", sleep_often }, { "spinning", spin }, { "idle", idle } };

#define ROLES (sizeof(roles) / sizeof(roles[0]))

static struct said {
	long tid;
	struct counters counters;
	uint64_t allocated, deallocated;
	size_t role;
} said[THREADS_MAX];

static pthread_barrier_t all_done;

/* Without the allocator, so that saying a number does not change it. */
static void say(const char *line, int length)
{
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		exit(1);
}

static void say_thread(long tid, const char *role)
{
	char line[128];

	say(line, snprintf(line, sizeof(line), "thread %ld %s\n", tid, role));
}

static void say_expected(const struct said *thread)
{
	char line[256];
	int length = snprintf(line, sizeof(line),
			      "expect %ld allocated_bytes %" PRIu64 " %" PRIu64 "\n"
			      "expect %ld deallocated_bytes %" PRIu64 " %" PRIu64 "\n",
			      thread->tid, thread->allocated, thread->allocated, thread->tid,
			      thread->deallocated, thread->deallocated);

	say(line, length);
}

static void allocate(size_t size, bool is_kept)
{
	char *memory = malloc(size);

	if (!memory)
		exit(1);
	memory[0] = memory[size - 1] = 1;
	__asm__ volatile("" : : "r"(memory) : "memory"); /* is used */
	count_allocation(size, is_kept);
	if (!is_kept)
		free(memory);
}

/* The numbers differ from thread to thread; small, large and huge sizes are in it. */
static void work(struct said *thread, size_t number)
{
	thread->counters = find_counters();
	for (size_t i = 0; i <= number % 50; i++) {
		allocate(1000 + i * 100, i % 3 == 0);
		allocate(40 + i, false);
	}
	allocate(100000 + number, number % 2 == 0);
	if (number < 8)
		allocate(5000000, false);
}

static void note(struct said *thread)
{
	thread->allocated = *thread->counters.allocated;
	thread->deallocated = *thread->counters.deallocated;
}

static void *thread_main(void *argument)
{
	size_t number = (size_t)argument;
	struct said *thread = &said[number];

	thread->tid = syscall(SYS_gettid);
	thread->role = number < ROLES ? number : ROLES - 1;
	work(thread, number);
	note(thread);
	pthread_barrier_wait(&all_done);
	roles[thread->role].act();
	return NULL;
}

static void start_threads(size_t count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_barrier_init(&all_done, NULL, (unsigned)count + 1);
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, thread_main, (void *)i))
			exit(1);
	pthread_barrier_wait(&all_done);
}

static void say_all(const struct said *own, size_t count)
{
	char line[64];

	say(line, snprintf(line, sizeof(line), "process %d\n", getpid()));
	say_thread(own->tid, "main");
	for (size_t i = 0; i < count; i++) {
		say_thread(said[i].tid, roles[said[i].role].name);
		say_expected(&said[i]);
	}
}

int main(int argument_count, char **arguments)
{
	size_t idle_threads = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 5;
	size_t count = idle_threads + ROLES - 1;
	struct said own = { .tid = syscall(SYS_gettid) };
	char byte;

	if (count > THREADS_MAX)
		return 2;
	work(&own, 7);
	start_threads(count);
	say_all(&own, count);
	do {
		allocate(123456, true);
		note(&own);
		say_expected(&own);
		usleep(20000); /* the threads reach what they do */
		say("ready\n", 6);
	} while (read(STDIN_FILENO, &byte, 1) > 0);
	return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Threads that come and go, each on the stack of one before it, and count their own
 * number: whoever reads another number for a thread has read another thread.
 *
 * Says `process PID` and `ready`, and goes on until standard input ends.  The
 * counters look like jemalloc's to a debugger.  They are in the program, or in a library:
 *	-DCOUNTERS	the library
 *	-DCOUNTED	the program that is linked with it
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

void count(uint64_t number);

#ifndef COUNTED

struct tsd_s {
	uint64_t before[3];
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
};

__thread struct tsd_s own_tsd_tls;
__thread char more[512]; /* as much as jemalloc has at least */

void count(uint64_t number)
{
	own_tsd_tls.cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated = number;
	own_tsd_tls.cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated =
		number;
	more[number % sizeof(more)] = 1;
}

#endif

#ifndef COUNTERS

#define CREATORS 4
#define LIFE_US 300

static void *live_shortly(void *unused)
{
	count((uint64_t)syscall(SYS_gettid));
	usleep(LIFE_US);
	return unused;
}

static void *create_often(void *unused)
{
	pthread_t thread;

	count((uint64_t)syscall(SYS_gettid));
	while (pthread_create(&thread, NULL, live_shortly, NULL) == 0)
		pthread_join(thread, NULL);
	return unused;
}

int main(void)
{
	pthread_t thread;
	char byte;

	count((uint64_t)syscall(SYS_gettid));
	for (int i = 0; i < CREATORS; i++)
		if (pthread_create(&thread, NULL, create_often, NULL))
			return 1;
	printf("process %d\nready\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}

#endif

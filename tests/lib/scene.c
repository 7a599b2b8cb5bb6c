/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <taskscope.h>

int holding_scopes;
static bool is_ending;

void say(const char *name, unsigned long long value)
{
	printf("%s %llu\n", name, value);
	fflush(stdout);
}

void say_thread(const char *name)
{
	say(name, (unsigned long long)gettid());
}

int next_command(void)
{
	char command;

	return read(STDIN_FILENO, &command, 1) == 1 ? command : -1;
}

bool was_told(unsigned int patience_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	if (poll(&input, 1, (int)patience_ms) <= 0)
		return false;
	next_command();
	return true;
}

void wait_for_end(void)
{
	while (next_command() >= 0)
		;
	stop_threads();
}

bool goes_on(void)
{
	return !__atomic_load_n(&is_ending, __ATOMIC_ACQUIRE);
}

void stop_threads(void)
{
	__atomic_store_n(&is_ending, true, __ATOMIC_RELEASE);
}

void start_thread(void *(*work)(void *context), void *context)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, context))
		abort();
	pthread_detach(thread);
}

void sleep_ms(unsigned int milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t monotonic_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void burn_cpu_ms(unsigned int milliseconds)
{
	for (uint64_t end = own_cpu_ns() + milliseconds * UINT64_C(1000000); own_cpu_ns() < end;)
		;
}

void *burn(void *context)
{
	(void)context;
	pthread_setname_np(pthread_self(), "burner");
	say_thread("burner");
	while (goes_on())
		;
	return NULL;
}

void *hold_scopes(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", (int)(intptr_t)number);
	taskscope_thread(name);
	TASKSCOPE("outer");
	snprintf(name, sizeof(name), "inner %d", (int)(intptr_t)number);
	taskscope_enter(name);
	say_thread("worker");
	__atomic_fetch_add(&holding_scopes, 1, __ATOMIC_RELEASE);
	while (goes_on())
		sleep_ms(10);
	return NULL;
}

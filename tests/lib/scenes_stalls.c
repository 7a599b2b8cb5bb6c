/* SPDX-License-Identifier: MIT */
/* Scenes with threads that stall, or that only look as if they did. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <taskscope.h>

#include "scene.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *want_lock(void *context)
{
	(void)context;
	taskscope_thread("locker");
	say_thread("locker");
	while (goes_on()) {
		TASKSCOPE("take lock");
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		taskscope_idle();
		sleep_ms(100000);
	}
	return NULL;
}

/* A byte lets the lock go. */
void scene_deadlock(void)
{
	pthread_mutex_lock(&lock);
	start_thread(want_lock, NULL);
	next_command();
	pthread_mutex_unlock(&lock);
	wait_for_end();
}

static void *wait_idle(void *context)
{
	(void)context;
	TASKSCOPE("pool");
	taskscope_idle();
	say_thread("pool");
	while (goes_on())
		sleep_ms(10);
	return NULL;
}

void scene_pool(void)
{
	start_thread(wait_idle, NULL);
	wait_for_end();
}

static void spin_for(uint64_t milliseconds)
{
	uint64_t start = monotonic_ms(), now = start;
	uint64_t cpu = own_cpu_ns();

	while (goes_on() && now < start + milliseconds)
		now = monotonic_ms();
	if (now > start)
		say("share", (own_cpu_ns() - cpu) / 10000 / (now - start));
}

static void *spin_in_scope(void *context)
{
	(void)context;
	taskscope_thread("spinner");
	say_thread("spinner");
	while (goes_on()) {
		TASKSCOPE("spin");
		spin_for(2000);
	}
	return NULL;
}

/* Anew every two seconds: on a machine with much to do, not each time is a busy one. */
void scene_spin(void)
{
	start_thread(spin_in_scope, NULL);
	wait_for_end();
}

static void stay_on_one_cpu(void)
{
	cpu_set_t allowed, only;
	int number = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (!CPU_ISSET(number, &allowed))
		number++;
	CPU_ZERO(&only);
	CPU_SET(number, &only);
	pthread_setaffinity_np(pthread_self(), sizeof(only), &only);
}

static void *starve_beside(void *context)
{
	struct sched_param parameters = { 0 };

	(void)context;
	taskscope_thread("hungry");
	stay_on_one_cpu();
	TASKSCOPE("starve");
	say_thread("hungry");
	sched_setscheduler(0, SCHED_IDLE, &parameters);
	while (goes_on())
		;
	return NULL;
}

static void *burn_there(void *context)
{
	stay_on_one_cpu();
	return burn(context);
}

void scene_starve(void)
{
	start_thread(burn_there, NULL);
	start_thread(burn_there, NULL);
	start_thread(starve_beside, NULL);
	wait_for_end();
}

/* A step takes 20 ms of CPU time, however long that takes. */
static void *work_by_cpu(void *context)
{
	struct taskscope_progress work = taskscope_begin("work", 0);

	(void)context;
	say_thread("worker");
	while (goes_on()) {
		burn_cpu_ms(20);
		taskscope_advance(&work, 1);
	}
	return NULL;
}

void scene_quota(void)
{
	start_thread(work_by_cpu, NULL);
	wait_for_end();
}

/* Each byte is a step. */
void scene_commanded(void)
{
	struct taskscope_progress steps = taskscope_begin("obey", 0);

	while (next_command() >= 0) {
		taskscope_advance(&steps, 1);
		say("step", 0);
	}
	taskscope_end(&steps);
}

/* A scope whose limit is its own, and one that has none, around it. */
void scene_limits(void)
{
	struct taskscope_scope outer = taskscope_enter("without limit");
	struct taskscope_scope inner;

	taskscope_limit(outer, TASKSCOPE_NEVER);
	inner = taskscope_enter("own limit");
	taskscope_limit(inner, 100);
	wait_for_end();
	taskscope_leave(inner);
	taskscope_leave(outer);
}

/* Twenty threads that stall at once. */
void scene_crowd(void)
{
	for (int i = 0; i < 20; i++)
		start_thread(hold_scopes, (void *)(intptr_t)i);
	wait_for_end();
}

static void *end_in_stall(void *context)
{
	TASKSCOPE("doomed");
	(void)context;
	next_command();
	return NULL;
}

/* A byte ends the thread, in its scope. */
void scene_doomed(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_in_stall, NULL))
		abort();
	pthread_join(thread, NULL);
	wait_for_end();
}

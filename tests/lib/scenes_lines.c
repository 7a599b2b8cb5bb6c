/* SPDX-License-Identifier: MIT */
/* Scenes for the lines of a heartbeat, and where they go. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <taskscope.h>

#include "scene.h"

void scene_idle(void)
{
	wait_for_end();
}

void scene_dump(void)
{
	taskscope_dump();
	wait_for_end();
}

/* Twelve threads, the first one with the oldest scope: each begins when the one before holds its. */
void scene_phases(void)
{
	for (intptr_t i = 0; i < 12; i++) {
		start_thread(hold_scopes, (void *)i);
		while (__atomic_load_n(&holding_scopes, __ATOMIC_ACQUIRE) <= i)
			sleep_ms(1);
	}
	say("ready", 12);
	wait_for_end();
}

static void count_to(uint64_t total)
{
	struct taskscope_progress rows = taskscope_begin("solve", total);

	say_thread("main");
	while (!was_told(5)) {
		TASKSCOPE("row");
		taskscope_advance(&rows, 1);
	}
	taskscope_end(&rows);
}

void scene_progress(void)
{
	count_to(1000000);
}

void scene_endless(void)
{
	count_to(0);
}

/* A byte stops it. */
void scene_burner(void)
{
	start_thread(burn, NULL);
	next_command();
	stop_threads();
	wait_for_end();
}

static void *work_steadily(void *context)
{
	struct taskscope_progress work = taskscope_begin("work", 0);

	(void)context;
	say_thread("steady");
	while (goes_on()) {
		sleep_ms(20);
		taskscope_advance(&work, 1);
	}
	return NULL;
}

void scene_steady(void)
{
	start_thread(work_steadily, NULL);
	wait_for_end();
}

void scene_labels(void)
{
	char label[] = "bell \a \"quoted\" back\\slash \xff gr\xc3\xbc\xc3\x9f";

	taskscope_thread("na\nme");
	taskscope_enter(label);
	wait_for_end();
}

static void be_long(bool until_told)
{
	TASKSCOPE("long");
	TASKSCOPE("long, inside");

	do {
		burn_cpu_ms(20);
	} while (until_told && !was_told(0));
}

/* A byte lets the long scopes begin, another one ends the last of them.  Told in nanoseconds. */
void scene_statistics(void)
{
	for (int i = 0; i < 50; i++) {
		TASKSCOPE("short");
	}
	say("short", 0);
	next_command();
	say("before", own_cpu_ns());
	for (int i = 0; i < 3; i++)
		be_long(i == 2);
	say("long", 0);
	wait_for_end();
	say("cpu", own_cpu_ns());
}

/* Both wait for the end of the same input. */
void scene_fork(void)
{
	TASKSCOPE("parent");
	pid_t child = fork();

	if (child == 0) {
		TASKSCOPE("child");
		wait_for_end();
		exit(0);
	}
	say("child", (unsigned long long)child);
	wait_for_end();
	waitpid(child, NULL, 0);
}

/* Only counts, while nobody reads the lines. */
static void *count_rounds(void *context)
{
	uint64_t *rounds = context;

	while (goes_on()) {
		TASKSCOPE("round");
		__atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
		sleep_ms(1);
	}
	return NULL;
}

/* A byte asks for the number of rounds. */
void scene_rounds(void)
{
	static uint64_t count;

	start_thread(count_rounds, &count);
	while (next_command() >= 0)
		say("rounds", __atomic_load_n(&count, __ATOMIC_RELAXED));
	taskscope_stop();
}

/* A byte stops the library, not the program. */
void scene_stopped(void)
{
	next_command();
	taskscope_stop();
	say("stopped", 0);
	wait_for_end();
}

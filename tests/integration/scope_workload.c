/* SPDX-License-Identifier: MIT */
/*
 * Threads of a program that tells what it is doing: main is in "serve", and one thread each in
 * "load matrix", in "solve" (with steps, below "load matrix"), in a label that is made at run time,
 * idle in "take work", and in no scope at all.
 *
 * Prints a line for each thread, "TID LABEL COUNT TOTAL" with tabs between and "-" for what it does
 * not have, then an empty line, and stays until its standard input ends.  Every line of that takes the
 * thread in "load matrix" to another label: "row 1", "row 2" and so on.
 *
 * With the argument "moved", the descriptor of the memory is not where the library left it.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "taskscope.h"

#define MOVED_FD 150

static pthread_barrier_t told;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned turns;

static void tell(const char *label, const char *count, const char *total)
{
	flockfile(stdout);
	printf("%d\t%s\t%s\t%s\n", gettid(), label, count, total);
	funlockfile(stdout);
}

/* Everybody is where they said. */
static void stay(void)
{
	pthread_barrier_wait(&told);
	for (;;)
		pause();
}

/* One scope after the other, each as long as until the next line. */
static void *load(void *unused)
{
	unsigned seen = 0;

	(void)unused;
	tell("load matrix", "-", "-");
	pthread_mutex_lock(&turn);
	for (;;) {
		char label[32] = "load matrix";
		struct taskscope_scope scope;

		if (seen)
			snprintf(label, sizeof(label), "row %u", seen);
		scope = taskscope_enter(label);
		if (!seen)
			pthread_barrier_wait(&told);
		while (turns == seen)
			pthread_cond_wait(&turned, &turn);
		seen = turns;
		taskscope_leave(scope);
	}
	return NULL;
}

static void *solve(void *unused)
{
	struct taskscope_progress rows;

	(void)unused;
	TASKSCOPE("load matrix");
	rows = taskscope_begin("solve", 1000);
	taskscope_advance(&rows, 412);
	tell("solve", "412", "1000");
	stay();
	return NULL;
}

static void *make_label(void *unused)
{
	char label[32];
	struct taskscope_progress parts;

	(void)unused;
	snprintf(label, sizeof(label), "part %d \x1b", 7);
	parts = taskscope_begin(label, 0);
	taskscope_advance(&parts, 3);
	tell("part 7 \\x1b", "3", "-");
	stay();
	return NULL;
}

static void *wait_for_work(void *unused)
{
	(void)unused;
	TASKSCOPE("take work");
	taskscope_idle();
	tell("take work", "-", "-");
	stay();
	return NULL;
}

static void *do_nothing(void *unused)
{
	(void)unused;
	tell("-", "-", "-");
	stay();
	return NULL;
}

/* Gives the descriptor of the memory another number. */
static void move_descriptor(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		char path[32], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) < 0 ||
		    strncmp(target, "/memfd:taskscope", 16) != 0)
			continue;
		if (dup2(fd, MOVED_FD) < 0)
			_exit(1);
		close(fd);
		return;
	}
	_exit(1);
}

int main(int argc, char **argv)
{
	static void *(*const bodies[])(void *) = { load, solve, make_label, wait_for_work,
						   do_nothing };
	enum { COUNT = sizeof(bodies) / sizeof(bodies[0]) };
	char line[64];

	taskscope_start(NULL);
	if (argc > 1 && strcmp(argv[1], "moved") == 0)
		move_descriptor();
	pthread_barrier_init(&told, NULL, COUNT + 1);
	for (size_t i = 0; i < COUNT; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, bodies[i], NULL) != 0)
			return 1;
	}
	TASKSCOPE("serve");
	tell("serve", "-", "-");
	pthread_barrier_wait(&told);
	printf("\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		pthread_mutex_lock(&turn);
		turns++;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&turn);
	}
	_exit(0);
}

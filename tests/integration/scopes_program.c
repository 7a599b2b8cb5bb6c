/* SPDX-License-Identifier: MIT */
/*
 * Programs that use libtaskscope, to be looked at from outside: the first word says which.  Each says
 * "ready" when all is as it shall be, with a number where there is one to tell, and ends when its
 * standard input does.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <taskscope.h>

static pthread_barrier_t all_there;

static void start(uint32_t flags)
{
	const struct taskscope_options options = {
		.size = sizeof(options),
		.heartbeat_ms = TASKSCOPE_NEVER,
		.flags = flags,
	};

	if (taskscope_start(&options) != 0)
		exit(1);
}

static void ready(long number)
{
	printf("ready %ld\n", number);
	fflush(stdout);
}

static void wait_for_end(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	exit(0);
}

static void nap(long milliseconds)
{
	const struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static pthread_t begin(void *(*function)(void *), void *context)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, context) != 0)
		exit(1);
	return thread;
}

static void *work_on_rows(void *context)
{
	struct taskscope_progress rows;

	(void)context;
	taskscope_thread("worker\033[31m");
	pthread_setname_np(pthread_self(), "kernels-name");
	taskscope_enter("tile 7");
	rows = taskscope_begin("rows", 0);
	taskscope_advance(&rows, 33);
	pthread_barrier_wait(&all_there);
	for (;;)
		pause();
	return NULL;
}

static void *wait_for_work(void *context)
{
	(void)context;
	taskscope_enter("queue");
	taskscope_idle();
	pthread_barrier_wait(&all_there);
	for (;;)
		pause();
	return NULL;
}

/* Three threads: one solves, one works on rows without end, one is idle. */
static void several_threads(void)
{
	struct taskscope_progress solve;

	start(0);
	pthread_barrier_init(&all_there, NULL, 3);
	taskscope_enter("load matrix");
	solve = taskscope_begin("solve", 1000);
	taskscope_advance(&solve, 412);
	begin(work_on_rows, NULL);
	begin(wait_for_work, NULL);
	pthread_barrier_wait(&all_there);
	ready(0);
	wait_for_end();
}

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static void *take_both(void *context)
{
	int first = *(const int *)context;

	taskscope_enter(first ? "b, then a" : "a, then b");
	pthread_mutex_lock(&locks[first]);
	pthread_barrier_wait(&all_there);
	taskscope_enter("the other lock");
	pthread_mutex_lock(&locks[!first]);
	return NULL;
}

static void deadlock(void)
{
	static const int orders[] = { 0, 1 };

	start(0);
	pthread_barrier_init(&all_there, NULL, 3);
	begin(take_both, (void *)&orders[0]);
	begin(take_both, (void *)&orders[1]);
	pthread_barrier_wait(&all_there);
	ready(0);
	wait_for_end();
}

/* A child that opens a scope of its own, or uses none; the number is the child's. */
static void fork_child(int uses_scopes)
{
	int pipes[2];
	char byte;
	pid_t child;

	start(0);
	taskscope_enter("parent's work");
	if (pipe(pipes) != 0)
		exit(1);
	child = fork();
	if (child == 0) {
		if (uses_scopes)
			taskscope_enter("child's work");
		if (write(pipes[1], "", 1) != 1)
			exit(1);
		wait_for_end();
	}
	if (read(pipes[0], &byte, 1) != 1)
		exit(1);
	ready(child);
	waitpid(child, NULL, 0);
}

static void fork_that_uses_scopes(void)
{
	fork_child(1);
}

static void fork_that_does_not(void)
{
	fork_child(0);
}

static void become_another_program(void)
{
	start(0);
	taskscope_enter("before");
	execlp("sh", "sh", "-c", "echo ready 0; exec cat", (char *)NULL);
}

static void close_descriptors(void)
{
	start(0);
	taskscope_enter("closed");
	closefrom(3);
	ready(0);
	wait_for_end();
}

/* Descriptors are taken far beyond where the library would like to have its own. */
static void take_descriptors(void)
{
	for (int i = 200; i < 240; i++)
		if (dup2(STDIN_FILENO, i) < 0)
			exit(1);
	start(0);
	taskscope_enter("moved");
	ready(0);
	wait_for_end();
}

static void *take_steps(void *context)
{
	(void)context;
	for (int i = 0; i < 50; i++) {
		TASKSCOPE("step");
		nap(1);
	}
	return NULL;
}

/* 100 steps of a millisecond or more, half by a thread that ended; a long one; many more labels. */
static void statistics(void)
{
	start(TASKSCOPE_STATISTICS);
	pthread_join(begin(take_steps, NULL), NULL);
	take_steps(NULL);
	{
		TASKSCOPE("long");
		nap(100);
	}
	for (int i = 0; i < 64 + 30; i++) {
		char label[32];

		snprintf(label, sizeof(label), "made %d", i);
		taskscope_leave((taskscope_enter)(label));
	}
	ready(0);
	wait_for_end();
}

static void stall(void)
{
	struct taskscope_scope scope;

	start(0);
	taskscope_enter("outer");
	scope = taskscope_enter("stuck");
	taskscope_limit(scope, 300);
	ready(0);
	wait_for_end();
}

static void stop(void)
{
	start(0);
	taskscope_enter("over");
	taskscope_stop();
	ready(0);
	wait_for_end();
}

static void enter_deeply(void)
{
	start(0);
	for (int i = 0; i < 50; i++)
		taskscope_enter("deeper");
	ready(0);
	wait_for_end();
}

/* Ends without telling anyone. */
static void *vanish(void *context)
{
	(void)context;
	taskscope_enter("gone");
	pthread_barrier_wait(&all_there);
	syscall(SYS_exit, 0);
	return NULL;
}

static void thread_that_vanishes(void)
{
	start(0);
	pthread_barrier_init(&all_there, NULL, 2);
	taskscope_enter("here");
	begin(vanish, NULL);
	pthread_barrier_wait(&all_there);
	nap(100);
	ready(0);
	wait_for_end();
}

static void *change_all_the_time(void *context)
{
	(void)context;
	taskscope_enter("outer");
	for (unsigned i = 0;; i++) {
		TASKSCOPE("first");
		if (i % 2) {
			TASKSCOPE("second");
		}
	}
	return NULL;
}

static void hot_thread(void)
{
	start(0);
	begin(change_all_the_time, NULL);
	nap(50);
	ready(0);
	wait_for_end();
}

static void no_scopes(void)
{
	ready(0);
	wait_for_end();
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "threads", several_threads },
	{ "deadlock", deadlock },
	{ "fork", fork_that_uses_scopes },
	{ "fork-unused", fork_that_does_not },
	{ "exec", become_another_program },
	{ "closefrom", close_descriptors },
	{ "descriptors", take_descriptors },
	{ "statistics", statistics },
	{ "stall", stall },
	{ "stop", stop },
	{ "deep", enter_deeply },
	{ "vanish", thread_that_vanishes },
	{ "hot", hot_thread },
	{ "none", no_scopes },
};

int main(int count, char **words)
{
	for (size_t i = 0; count > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strcmp(programs[i].name, words[1]) == 0)
			programs[i].run();
	return 1;
}

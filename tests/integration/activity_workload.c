/* SPDX-License-Identifier: MIT */
/*
 * Threads that are active in different ways, and one that is not.
 *
 *	spin	runs all the time
 *	nap	sleeps for a moment again and again, within the scope "nap often"
 *	echo	reads from a pipe what main writes to it, again and again
 *	parent	waits for its vfork child to execute something, which it never does
 *	evil	as nap, with a name that a terminal should not see
 *	idle	has been asleep since before the first line
 *
 * Prints "ROLE TID" for each, then an empty line, and stays until its standard input ends.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "taskscope.h"

#define MOMENT_NS 10000000

static int pipe_fds[2];
static pthread_barrier_t told;

static void tell(const char *role, const char *name)
{
	prctl(PR_SET_NAME, name);
	flockfile(stdout);
	printf("%s %d\n", role, gettid());
	funlockfile(stdout);
	pthread_barrier_wait(&told);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = MOMENT_NS }, NULL);
}

static void *spin(void *unused)
{
	volatile unsigned turns = 0;

	tell("spin", "spin");
	for (;;)
		turns++;
	return unused;
}

static void *nap_often(void *unused)
{
	TASKSCOPE("nap often");
	tell("nap", "nap");
	for (;;)
		nap();
	return unused;
}

static void *echo(void *unused)
{
	char byte;

	tell("echo", "echo");
	while (read(pipe_fds[0], &byte, 1) == 1)
		;
	return unused;
}

static void *have_child(void *unused)
{
	tell("parent", "parent");
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return unused;
}

static void *be_evil(void *unused)
{
	tell("evil", "\033[31m\n\";x");
	for (;;)
		nap();
	return unused;
}

static void *idle(void *unused)
{
	tell("idle", "idle");
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	static void *(*const roles[])(
		void *) = { spin, nap_often, echo, have_child, be_evil, idle };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t count = sizeof(roles) / sizeof(roles[0]);
	pthread_t thread;

	taskscope_start(NULL);
	if (pipe(pipe_fds) < 0 || pthread_barrier_init(&told, NULL, (unsigned)count + 1) != 0)
		return 1;
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, roles[i], NULL) != 0)
			return 1;
	pthread_barrier_wait(&told);
	printf("\n");
	fflush(stdout);
	while (poll(&input, 1, 10) == 0)
		if (write(pipe_fds[1], "", 1) != 1)
			return 1;
	return 0;
}

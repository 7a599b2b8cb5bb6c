/* SPDX-License-Identifier: MIT */
#include "host/deadline_run.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 1000000

/* Either the work ends first or the caller's time does; the side that comes second cleans up. */
enum state { RUNNING, DONE, ABANDONED };

struct task {
	void (*work)(void *context);
	void (*release)(void *context);
	void *context;
	atomic_int state;
};

static void *run(void *argument)
{
	struct task *task = argument;

	task->work(task->context);
	if (atomic_exchange(&task->state, DONE) == ABANDONED) {
		task->release(task->context);
		free(task);
	}
	return NULL;
}

int deadline_run(void (*work)(void *context), void (*release)(void *context), void *context,
		 unsigned timeout_ms)
{
	const struct timespec deadline = timespec_of_ns(monotonic_ns() + timeout_ms * NS_PER_MS);
	struct task *task = malloc(sizeof(*task));
	pthread_t thread;

	if (!task)
		return -EAGAIN;
	*task = (struct task){ .work = work, .release = release, .context = context };
	if (pthread_create(&thread, NULL, run, task) != 0) {
		free(task);
		return -EAGAIN;
	}
	if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &deadline) != 0) {
		if (atomic_exchange(&task->state, ABANDONED) == RUNNING) {
			pthread_detach(thread);
			return -ETIMEDOUT;
		}
		pthread_join(thread, NULL); /* it ended at the last moment */
	}
	free(task);
	return 0;
}

/*
 * Polls with waitpid(): a pidfd does not report that a traced child stopped, and SIGCHLD would
 * also report children that are not ours to handle.
 */
int deadline_wait(pid_t pid, uint64_t deadline_ns, int *ret_state)
{
	struct timespec pause = { .tv_nsec = FIRST_PAUSE_NS };

	for (;;) {
		bool late = monotonic_ns() >= deadline_ns;
		pid_t changed = waitpid(pid, ret_state, WNOHANG | __WALL);

		if (changed == pid)
			return 0;
		if (changed < 0 && errno != EINTR)
			return -errno;
		if (late)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LONGEST_PAUSE_NS)
			pause.tv_nsec *= 2;
	}
}

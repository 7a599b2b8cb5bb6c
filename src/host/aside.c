/* SPDX-License-Identifier: MIT */
#include "host/aside.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_MS 1000000
#define NS_PER_SECOND 1000000000

/* Who comes second, the thread with its work or the caller with its patience, cleans up. */
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

static struct timespec deadline_in(unsigned timeout_ms)
{
	struct timespec deadline;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += timeout_ms / 1000;
	deadline.tv_nsec += (long)(timeout_ms % 1000) * NS_PER_MS;
	if (deadline.tv_nsec >= NS_PER_SECOND) {
		deadline.tv_sec++;
		deadline.tv_nsec -= NS_PER_SECOND;
	}
	return deadline;
}

int aside_run(void (*work)(void *context), void (*release)(void *context), void *context,
	      unsigned timeout_ms)
{
	const struct timespec deadline = deadline_in(timeout_ms);
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
		pthread_join(thread, NULL); /* it ended in the last moment */
	}
	free(task);
	return 0;
}

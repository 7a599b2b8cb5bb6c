/* SPDX-License-Identifier: MIT */
/* Shapes that burn CPU time and get nowhere: each asks again and again for what is not there. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "shapes.h"

static atomic_bool ready;

static void *get_ready_at_the_end(void *argument)
{
	const struct scene *scene = argument;

	while (now_ns() < scene->end_ns)
		sleep_ms(20);
	atomic_store(&ready, true);
	return NULL;
}

/* Yields until another thread is ready, which it is at the end. */
void play_yield(const struct scene *scene)
{
	pthread_t other;

	if (pthread_create(&other, NULL, get_ready_at_the_end, (void *)(uintptr_t)scene) != 0)
		exit(3);
	while (!atomic_load(&ready))
		sched_yield();
	pthread_join(other, NULL);
}

static int empty_pipe(void)
{
	int ends[2];

	need_fd(pipe(ends));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return ends[0];
}

/* Reads from an empty pipe without waiting. */
void play_empty_reads(const struct scene *scene)
{
	int fd = empty_pipe();
	char byte;

	while (now_ns() < scene->end_ns)
		if (read(fd, &byte, 1) >= 0)
			exit(3);
}

/* Polls an empty pipe with a timeout of 0. */
void play_zero_polls(const struct scene *scene)
{
	struct pollfd wanted = { .fd = empty_pipe(), .events = POLLIN };

	while (now_ns() < scene->end_ns)
		if (poll(&wanted, 1, 0) != 0)
			exit(3);
}

/* SPDX-License-Identifier: MIT */
#include "host/deadline_read.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/*
 * A thread and its request.  If its owner has left by the time it returns, the thread frees this.
 */
struct deadline_worker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool is_busy; /* meanwhile the thread owns the rest */
	bool is_left; /* its owner has left */
	int32_t pid;
	int dir; /* a descriptor of its own */
	char path[64];
	ssize_t length;
	char text[DEADLINE_READ_BYTES];
};

static void worker_free(struct deadline_worker *worker)
{
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

/* Opens in the thread as well, since opening can block too. */
static ssize_t read_file(const struct deadline_worker *worker, char *text, size_t capacity)
{
	CLEANUP(close_fd) int fd = openat(worker->dir, worker->path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	while (length < capacity && (got > 0 || errno == EINTR)) {
		got = read(fd, text + length, capacity - length);
		length += got > 0 ? (size_t)got : 0;
		if (got == 0)
			break;
	}
	return got < 0 ? -errno : (ssize_t)length;
}

static void *work(void *argument)
{
	struct deadline_worker *worker = argument;

	pthread_mutex_lock(&worker->lock);
	while (!worker->is_left || worker->is_busy) {
		if (!worker->is_busy) {
			pthread_cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		worker->length = read_file(worker, worker->text, sizeof(worker->text));
		close(worker->dir);
		pthread_mutex_lock(&worker->lock);
		worker->is_busy = false;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	worker_free(worker);
	return NULL;
}

/* Blocks signals in the thread: they are for the threads that wait for them. */
static bool start(struct deadline_worker *worker)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (status == 0)
		pthread_detach(worker->thread);
	return status == 0;
}

static struct deadline_worker *worker_new(void)
{
	struct deadline_worker *worker = calloc(1, sizeof(*worker));
	pthread_condattr_t attributes;

	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (start(worker))
		return worker;
	worker_free(worker);
	return NULL;
}

void deadline_reader_clear(struct deadline_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++) {
		struct deadline_worker *worker = reader->workers[i];

		pthread_mutex_lock(&worker->lock);
		worker->is_left = true;
		pthread_cond_signal(&worker->changed);
		pthread_mutex_unlock(&worker->lock);
	}
	*reader = (struct deadline_reader){ 0 };
}

static bool is_busy(struct deadline_worker *worker)
{
	bool busy;

	pthread_mutex_lock(&worker->lock);
	busy = worker->is_busy;
	pthread_mutex_unlock(&worker->lock);
	return busy;
}

/* Finds an idle worker, unless another one is stuck in this process. */
static int find_worker(struct deadline_reader *reader, int32_t pid, struct deadline_worker **ret)
{
	struct deadline_worker *idle = NULL;

	for (size_t i = 0; i < reader->count; i++) {
		if (!is_busy(reader->workers[i]))
			idle = reader->workers[i];
		else if (reader->workers[i]->pid == pid)
			return -ETIMEDOUT;
	}
	if (!idle && reader->count == DEADLINE_READ_THREADS)
		return -ETIMEDOUT;
	if (!idle) {
		idle = worker_new();
		if (!idle)
			return -EAGAIN;
		reader->workers[reader->count++] = idle;
	}
	*ret = idle;
	return 0;
}

/* Called with the lock held.  False when the worker is late. */
static bool await(struct deadline_worker *worker)
{
	struct timespec until = timespec_of_ns(monotonic_ns() + DEADLINE_READ_MS * NS_PER_MS);
	int status = 0;

	while (worker->is_busy && status == 0)
		status = pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
	return !worker->is_busy;
}

ssize_t deadline_read(struct deadline_reader *reader, int32_t pid, int dir, const char *path,
		      char *buffer, size_t capacity)
{
	CLEANUP(close_fd) int own = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	struct deadline_worker *worker = NULL;
	ssize_t length = own < 0 ? -errno : find_worker(reader, pid, &worker);

	if (length < 0)
		return length;
	pthread_mutex_lock(&worker->lock);
	worker->pid = pid;
	worker->dir = TAKE_FD(own);
	snprintf(worker->path, sizeof(worker->path), "%s", path);
	worker->is_busy = true;
	pthread_cond_signal(&worker->changed);
	length = await(worker) ? worker->length : -ETIMEDOUT;
	if (length > (ssize_t)capacity - 1)
		length = (ssize_t)capacity - 1;
	if (length >= 0) {
		memcpy(buffer, worker->text, (size_t)length);
		buffer[length] = '\0';
	}
	pthread_mutex_unlock(&worker->lock);
	return length;
}

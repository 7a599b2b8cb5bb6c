/* SPDX-License-Identifier: MIT */
#include "host/deadline_run.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* For deadline_wait(). */
#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 1000000

/* A thread and its work.  If its owner has left by the time it returns, the thread frees this. */
struct deadline_thread {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_busy; /* with `work`; meanwhile the context is the thread's */
	bool is_late; /* nobody waits for the work any more: release the context */
	bool is_left; /* its owner has left */
	pid_t owner;  /* a child of its owner has the struct, but not the thread */
	int32_t pid;
	void (*work)(void *context);
	void (*release)(void *context);
	void *context;
};

static void thread_free(struct deadline_thread *thread)
{
	pthread_cond_destroy(&thread->changed);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

static void *serve(void *argument)
{
	struct deadline_thread *thread = argument;

	pthread_mutex_lock(&thread->lock);
	while (!thread->is_left || thread->is_busy) {
		if (!thread->is_busy) {
			pthread_cond_wait(&thread->changed, &thread->lock);
			continue;
		}
		pthread_mutex_unlock(&thread->lock);
		thread->work(thread->context);
		pthread_mutex_lock(&thread->lock);
		if (thread->is_late)
			thread->release(thread->context);
		thread->is_busy = false;
		pthread_cond_signal(&thread->changed);
	}
	pthread_mutex_unlock(&thread->lock);
	thread_free(thread);
	return NULL;
}

/* Blocks signals in the thread: they are for the threads that wait for them. */
static bool start(struct deadline_thread *thread)
{
	sigset_t all, before;
	pthread_t started;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&started, NULL, serve, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (status == 0)
		pthread_detach(started);
	return status == 0;
}

static struct deadline_thread *thread_new(void)
{
	struct deadline_thread *thread = calloc(1, sizeof(*thread));
	pthread_condattr_t attributes;

	if (!thread)
		return NULL;
	thread->owner = getpid();
	pthread_mutex_init(&thread->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&thread->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (start(thread))
		return thread;
	thread_free(thread);
	return NULL;
}

static void leave(struct deadline_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->is_left = true;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->lock);
}

void deadline_threads_clear(struct deadline_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		leave(threads->list[i]);
	*threads = (struct deadline_threads){ 0 };
}

static bool is_busy(struct deadline_thread *thread)
{
	bool busy;

	pthread_mutex_lock(&thread->lock);
	busy = thread->is_busy;
	pthread_mutex_unlock(&thread->lock);
	return busy;
}

/* Finds an idle thread, unless another one is stuck in this process. */
static int find_thread(struct deadline_threads *threads, int32_t pid, struct deadline_thread **ret)
{
	struct deadline_thread *idle = NULL;

	for (size_t i = 0; i < threads->count; i++) {
		if (!is_busy(threads->list[i]))
			idle = threads->list[i];
		else if (threads->list[i]->pid == pid)
			return -ETIMEDOUT;
	}
	if (!idle && threads->count == DEADLINE_THREADS)
		return -ETIMEDOUT;
	if (!idle) {
		idle = thread_new();
		if (!idle)
			return -EAGAIN;
		threads->list[threads->count++] = idle;
	}
	*ret = idle;
	return 0;
}

/* Called with the lock held.  False when the work is late. */
static bool await(struct deadline_thread *thread, unsigned timeout_ms)
{
	struct timespec until = timespec_of_ns(monotonic_ns() + timeout_ms * NS_PER_MS);
	int status = 0;

	while (thread->is_busy && status == 0)
		status = pthread_cond_timedwait(&thread->changed, &thread->lock, &until);
	return !thread->is_busy;
}

static int run_by(struct deadline_thread *thread, int32_t pid, void (*work)(void *context),
		  void (*release)(void *context), void *context, unsigned timeout_ms)
{
	int status = 0;

	pthread_mutex_lock(&thread->lock);
	thread->pid = pid;
	thread->work = work;
	thread->release = release;
	thread->context = context;
	thread->is_busy = true;
	thread->is_late = false;
	pthread_cond_signal(&thread->changed);
	if (!await(thread, timeout_ms)) {
		thread->is_late = true;
		status = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&thread->lock);
	return status;
}

/* The same as deadline_run() in one of these threads; the work concerns process `pid`. */
static int run_in(struct deadline_threads *threads, int32_t pid, void (*work)(void *context),
		  void (*release)(void *context), void *context, unsigned timeout_ms)
{
	struct deadline_thread *thread = NULL;
	int status = find_thread(threads, pid, &thread);

	if (status == -ETIMEDOUT)
		release(context);
	return status < 0 ? status : run_by(thread, pid, work, release, context, timeout_ms);
}

/* A thread that has done its work waits for more: starting one takes longer than most work. */
static _Atomic(struct deadline_thread *) spare;

static struct deadline_thread *take_spare(void)
{
	struct deadline_thread *thread = atomic_exchange(&spare, NULL);

	return thread && thread->owner == getpid() ? thread : thread_new();
}

static void keep_spare(struct deadline_thread *thread)
{
	struct deadline_thread *second = atomic_exchange(&spare, thread);

	if (second && second->owner == getpid())
		leave(second);
}

int deadline_run(void (*work)(void *context), void (*release)(void *context), void *context,
		 unsigned timeout_ms)
{
	struct deadline_thread *thread = take_spare();
	int status;

	if (!thread)
		return -EAGAIN;
	status = run_by(thread, 0, work, release, context, timeout_ms);
	if (status == 0)
		keep_spare(thread);
	else
		leave(thread);
	return status;
}

/* A read of a file in a thread. */
struct request {
	int dir; /* a descriptor of its own */
	char path[64];
	size_t wanted;
	ssize_t length;
	char text[DEADLINE_READ_BYTES];
};

static void request_free(void *context)
{
	struct request *request = context;

	if (!request)
		return;
	close_fd(&request->dir);
	free(request);
}

CLEANUP_POINTER(request_free, struct request)

/* Opens in the thread as well, since opening can block too. */
static void request_read(void *context)
{
	struct request *request = context;
	CLEANUP(close_fd) int fd = openat(request->dir, request->path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got = fd < 0 ? -1 : 1;

	while (fd >= 0 && length < request->wanted && (got > 0 || errno == EINTR)) {
		got = pread(fd, request->text + length, request->wanted - length, (off_t)length);
		length += got > 0 ? (size_t)got : 0;
		if (got == 0)
			break;
	}
	request->length = got < 0 ? -errno : (ssize_t)length;
}

ssize_t deadline_read(struct deadline_threads *threads, int32_t pid, int dir, const char *path,
		      char *buffer, size_t capacity)
{
	CLEANUP(request_free_pointer) struct request *request = malloc(sizeof(*request));
	int status;

	if (!request)
		return -ENOMEM;
	snprintf(request->path, sizeof(request->path), "%s", path);
	request->wanted = capacity <= sizeof(request->text) ? capacity - 1 : sizeof(request->text);
	request->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (request->dir < 0)
		return -errno;
	status = run_in(threads, pid, request_read, request_free, request, DEADLINE_READ_MS);
	if (status == -ETIMEDOUT)
		request = NULL;
	if (status < 0)
		return status;
	if (request->length < 0)
		return request->length;
	memcpy(buffer, request->text, (size_t)request->length);
	buffer[request->length] = '\0';
	return request->length;
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

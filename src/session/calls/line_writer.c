/* SPDX-License-Identifier: MIT */
#include "session/calls/line_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define NOTE_BYTES 128 /* room for the line that says what was left out */

struct line_writer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int fd;
	int status;
	bool is_finishing, has_ended;
	bool is_abandoned; /* the thread frees all when it ends */
	uint64_t left_out; /* lines, in all */
	uint64_t untold;   /* of them, those that no line has told yet */
	size_t size, begin, length;
	char buffer[];
};

static void writer_free(struct line_writer *writer)
{
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->changed);
	free(writer);
}

/* Copies to the end of the ring; there is room. */
static void append(struct line_writer *writer, const char *bytes, size_t length)
{
	size_t end = (writer->begin + writer->length) % writer->size;
	size_t first = length < writer->size - end ? length : writer->size - end;

	memcpy(writer->buffer + end, bytes, first);
	memcpy(writer->buffer, bytes + first, length - first);
	writer->length += length;
}

static void tell_left_out(struct line_writer *writer)
{
	char note[NOTE_BYTES];
	int length;

	if (!writer->untold || writer->status || writer->size - writer->length < NOTE_BYTES)
		return;
	length = snprintf(note, sizeof(note),
			  "# %" PRIu64 " lines were left out here: they were not taken in time\n",
			  writer->untold);
	append(writer, note, (size_t)length);
	writer->untold = 0;
}

static uint64_t count_lines(const char *bytes, size_t length)
{
	uint64_t count = 0;

	for (const char *end = bytes + length;
	     bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes))); bytes++)
		count++;
	return count;
}

/* Writes some bytes, which nobody else touches meanwhile.  How many, or a negative errno. */
static ssize_t write_some(int fd, const char *bytes, size_t length)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	ssize_t written = write(fd, bytes, length);

	if (written >= 0)
		return written;
	if (errno == EAGAIN)
		(void)poll(&ready, 1, -1);
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/* With the lock held; it is released while bytes are written. */
static void write_next(struct line_writer *writer)
{
	size_t length = writer->size - writer->begin;
	const char *bytes = writer->buffer + writer->begin;
	ssize_t written;

	if (length > writer->length)
		length = writer->length;
	pthread_mutex_unlock(&writer->lock);
	written = write_some(writer->fd, bytes, length);
	pthread_mutex_lock(&writer->lock);
	if (written < 0) {
		writer->status = (int)written;
		return;
	}
	writer->begin = (writer->begin + (size_t)written) % writer->size;
	writer->length -= (size_t)written;
	tell_left_out(writer);
}

static void *run(void *context)
{
	struct line_writer *writer = context;
	bool is_abandoned;

	pthread_mutex_lock(&writer->lock);
	while (!writer->status && !writer->is_abandoned &&
	       !(writer->is_finishing && !writer->length)) {
		if (writer->length)
			write_next(writer);
		else
			pthread_cond_wait(&writer->changed, &writer->lock);
	}
	writer->has_ended = true;
	is_abandoned = writer->is_abandoned;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	if (is_abandoned)
		writer_free(writer);
	return NULL;
}

/* Signals are for the main thread; a reader that has gone is an error of write(), not a signal. */
static int start_thread(struct line_writer *writer)
{
	sigset_t all, before;
	pthread_t thread;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&thread, NULL, run, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (status == 0)
		pthread_detach(thread);
	return -status;
}

struct line_writer *line_writer_start(int fd, size_t buffer_bytes)
{
	struct line_writer *writer = calloc(1, sizeof(*writer) + buffer_bytes);
	pthread_condattr_t attributes;

	if (!writer)
		return NULL;
	writer->fd = fd;
	writer->size = buffer_bytes;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (start_thread(writer) == 0)
		return writer;
	writer_free(writer);
	return NULL;
}

void line_writer_put(struct line_writer *writer, const char *lines, size_t length)
{
	pthread_mutex_lock(&writer->lock);
	tell_left_out(writer);
	if (!writer->status && !writer->untold &&
	    writer->size - writer->length >= length + NOTE_BYTES) {
		append(writer, lines, length);
	} else {
		uint64_t count = count_lines(lines, length);

		writer->left_out += count;
		writer->untold += count;
	}
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

int line_writer_status(struct line_writer *writer)
{
	int status;

	pthread_mutex_lock(&writer->lock);
	status = writer->status;
	pthread_mutex_unlock(&writer->lock);
	return status;
}

/* What the ring still has, in lines. */
static uint64_t count_rest(const struct line_writer *writer)
{
	size_t first = writer->size - writer->begin;

	if (first > writer->length)
		first = writer->length;
	return count_lines(writer->buffer + writer->begin, first) +
	       count_lines(writer->buffer, writer->length - first);
}

uint64_t line_writer_finish(struct line_writer *writer, uint64_t wait_ns)
{
	struct timespec until = timespec_of_ns(monotonic_ns() + wait_ns);
	uint64_t left_out;
	bool has_ended;
	int status = 0;

	pthread_mutex_lock(&writer->lock);
	if (!writer->length)
		tell_left_out(writer);
	writer->is_finishing = true;
	pthread_cond_broadcast(&writer->changed);
	while (!writer->has_ended && status != ETIMEDOUT)
		status = pthread_cond_timedwait(&writer->changed, &writer->lock, &until);
	left_out = writer->left_out + count_rest(writer);
	has_ended = writer->has_ended;
	writer->is_abandoned = true;
	pthread_mutex_unlock(&writer->lock);
	if (has_ended)
		writer_free(writer);
	return left_out;
}

/* SPDX-License-Identifier: MIT */
#include "collect/cmdline.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"

#define WAIT_NS 500000000ll
#define STUCK_NS 50000000ll /* a reader that takes so long gets help */
#define READERS_MAX 8
#define QUEUE_MAX 256 /* fds that may wait in the queue, if we may have four times as many */
#define WAKE_EVERY 32 /* waking the reader for each process costs more than reading it */
#define NS_PER_SECOND 1000000000ll

/* How a command line ends that is longer than what is kept. */
static const char cut[] = "...";

static const char late_reason[] =
	"deadline passed while another thread held the process's memory map";

struct request {
	uint32_t process;
	int dir; /* -1 when taken */
	bool ended;
	int status;    /* 0 or a negative errno */
	size_t offset; /* of the command line in `bytes` */
	size_t length;
};

/* All but the first three is guarded by the lock; so are the bytes, which move. */
struct cmdline_queue {
	bool live;
	int64_t budget_ns; /* what the capture may still wait */
	size_t room;	   /* requests that may wait */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned owners;
	unsigned readers; /* that were ever started */
	bool complete;	  /* nothing will be added */
	bool abandoned;	  /* nobody waits any more */
	bool failed;	  /* no memory */
	ARRAY_OF(struct request) requests;
	size_t taken, done;
	uint64_t refused; /* came when it was too late */
	struct text bytes;
};

static void close_waiting(struct cmdline_queue *queue)
{
	for (; queue->taken < queue->requests.count; queue->taken++)
		close_fd(&queue->requests.data[queue->taken].dir);
}

static void queue_free(struct cmdline_queue *queue)
{
	close_waiting(queue);
	array_free(&queue->requests);
	text_free(&queue->bytes);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* Gives up a share; called with the lock, which is released. */
static void queue_leave(struct cmdline_queue *queue)
{
	bool last = --queue->owners == 0;

	pthread_mutex_unlock(&queue->lock);
	if (last)
		queue_free(queue);
}

size_t cmdline_join(char *bytes, size_t length)
{
	bool is_cut = length == CMDLINE_MAX;
	size_t joined = text_words(bytes, length, &is_cut);

	for (size_t i = 0; i < joined; i++)
		if (bytes[i] == '\0')
			bytes[i] = ' ';
	if (!is_cut)
		return joined;
	memcpy(bytes + CMDLINE_MAX - strlen(cut), cut, strlen(cut));
	return CMDLINE_MAX;
}

/* A pipe in a recorded tree must not be waited for. */
static ssize_t read_cmdline(bool live, int dir, char buffer[CMDLINE_MAX])
{
	CLEANUP(close_fd)
	int fd = file_open_below(dir, "cmdline", O_RDONLY | (live ? 0 : O_NONBLOCK));
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, buffer, CMDLINE_MAX);
	if (length < 0)
		return -errno;
	return (ssize_t)cmdline_join(buffer, (size_t)length);
}

static void request_end(struct cmdline_queue *queue, struct request *request, const char *bytes,
			ssize_t length)
{
	request->ended = true;
	request->status = length < 0 ? (int)length : 0;
	request->offset = queue->bytes.length;
	request->length = length < 0 ? 0 : (size_t)length;
	text_append(&queue->bytes, bytes, request->length);
	queue->done++;
}

/* Reads the next request.  Called with the lock, which is not held meanwhile. */
static void read_next(struct cmdline_queue *queue)
{
	size_t next = queue->taken++;
	CLEANUP(close_fd) int dir = TAKE_FD(queue->requests.data[next].dir);
	char buffer[CMDLINE_MAX];
	ssize_t length;

	pthread_mutex_unlock(&queue->lock);
	length = read_cmdline(queue->live, dir, buffer);
	pthread_mutex_lock(&queue->lock);
	if (!queue->abandoned)
		request_end(queue, &queue->requests.data[next], buffer, length);
}

static void *reader(void *argument)
{
	struct cmdline_queue *queue = argument;

	pthread_mutex_lock(&queue->lock);
	while (!queue->abandoned) {
		if (queue->taken < queue->requests.count) {
			read_next(queue);
			continue;
		}
		pthread_cond_broadcast(&queue->changed); /* there is room, or all is done */
		if (queue->complete)
			break;
		pthread_cond_wait(&queue->changed, &queue->lock);
	}
	queue_leave(queue);
	return NULL;
}

/* Called with the lock, so that the reader does not run before it is counted. */
static int start_reader(struct cmdline_queue *queue)
{
	pthread_t thread;
	int error;

	error = pthread_create(&thread, NULL, reader, queue);
	if (error)
		return -error;
	pthread_detach(thread);
	queue->owners++;
	queue->readers++;
	return 0;
}

/* Others of our fds need room too. */
static size_t find_room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 4 > QUEUE_MAX)
		return QUEUE_MAX;
	return limit.rlim_cur >= 4 ? limit.rlim_cur / 4 : 1;
}

int cmdline_start(bool live, struct cmdline_queue **ret)
{
	struct cmdline_queue *queue = calloc(1, sizeof(*queue));
	pthread_condattr_t attributes;
	int status = 0;

	if (!queue)
		return -ENOMEM;
	queue->live = live;
	queue->budget_ns = WAIT_NS;
	queue->room = live ? find_room() : QUEUE_MAX;
	queue->owners = 1;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_mutex_lock(&queue->lock);
	if (live)
		status = start_reader(queue);
	pthread_mutex_unlock(&queue->lock);
	if (status < 0) {
		queue_free(queue);
		return status;
	}
	*ret = queue;
	return 0;
}

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* Sleeps, with the lock, until something changes or the time has come. */
static void wait_for_change(struct cmdline_queue *queue, int64_t until_ns)
{
	struct timespec until = { until_ns / NS_PER_SECOND, until_ns % NS_PER_SECOND };
	size_t done = queue->done;

	pthread_cond_broadcast(&queue->changed);
	if (pthread_cond_timedwait(&queue->changed, &queue->lock, &until) == ETIMEDOUT &&
	    queue->done == done && queue->taken < queue->requests.count &&
	    queue->readers < READERS_MAX)
		(void)start_reader(queue); /* without it, those that wait are late */
}

/* Waits, with the lock, until no more than `pending` requests are; false when time is up. */
static bool wait_until(struct cmdline_queue *queue, size_t pending)
{
	int64_t now, deadline;

	if (queue->requests.count - queue->done <= pending)
		return true;
	now = monotonic_ns();
	deadline = now + queue->budget_ns;
	while (queue->requests.count - queue->done > pending && now < deadline) {
		int64_t stuck = now + STUCK_NS;

		wait_for_change(queue, stuck < deadline ? stuck : deadline);
		now = monotonic_ns();
	}
	queue->budget_ns = now < deadline ? deadline - now : 0;
	return queue->requests.count - queue->done <= pending;
}

void cmdline_add(struct cmdline_queue *queue, uint32_t process_row, int dir)
{
	struct request request = { .process = process_row, .dir = dir };

	pthread_mutex_lock(&queue->lock);
	if (!wait_until(queue, queue->room - 1)) {
		queue->refused++;
		close_fd(&dir);
	} else if (array_append(&queue->requests, request) < 0) {
		queue->failed = true;
		close_fd(&dir);
	} else if (!queue->live) {
		read_next(queue);
	} else if (queue->requests.count % WAKE_EVERY == 0) {
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->lock);
}

static int store(struct cmdline_queue *queue, struct capture *capture)
{
	struct source_tally *tally = &capture->tallies[SOURCE_CMDLINE];
	uint64_t late = queue->refused + (queue->requests.count - queue->done);

	for (size_t i = 0; i < queue->requests.count; i++) {
		const struct request *request = &queue->requests.data[i];
		struct process *process = &capture->snapshot->processes[request->process];

		if (!request->ended)
			continue;
		source_count_file(capture, tally, request->status);
		if (request->length &&
		    snapshot_intern(capture->snapshot, queue->bytes.data + request->offset,
				    request->length, &process->cmdline) < 0)
			return -ENOMEM;
	}
	if (late) {
		tally->failed += late;
		tally->error = ETIMEDOUT;
		tally->reason = late_reason;
	}
	return 0;
}

int cmdline_finish(struct cmdline_queue *queue, struct capture *capture)
{
	int status;

	pthread_mutex_lock(&queue->lock);
	queue->complete = true;
	pthread_cond_broadcast(&queue->changed);
	(void)wait_until(queue, 0);
	queue->abandoned = true;
	close_waiting(queue);
	status = queue->failed || queue->bytes.failed ? -ENOMEM : store(queue, capture);
	pthread_cond_broadcast(&queue->changed);
	queue_leave(queue);
	return status;
}

/* SPDX-License-Identifier: MIT */
#include "collect/reader_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define NS_PER_SECOND 1000000000ll

enum reader_state {
	READER_NONE,  /* not started */
	READER_IDLE,  /* nothing to do */
	READER_ASKED, /* has a file to read, until until_ns */
	READER_ENDED, /* has an answer, which stays until it was given */
	READER_LATE,  /* may come back; nobody waits for it */
};

struct reader {
	struct reader_pool *pool;
	pthread_cond_t asked;
	enum reader_state state;
	uint32_t tag;
	int dir;	  /* taken when the reading begins */
	int64_t until_ns; /* late from then on */
	int64_t took_ns;
	ssize_t length;
	char buffer[POOL_BYTES]; /* the reader's own, but while ENDED */
};

/* The lock guards the readers' states and all below it. */
struct reader_pool {
	struct pool_options options;
	int status; /* first failure of an answer */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	unsigned owners;
	bool abandoned; /* nothing will be asked */
	struct reader readers[POOL_READERS];
};

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void reader_pool_free(struct reader_pool *pool)
{
	for (unsigned i = 0; i < POOL_READERS; i++) {
		close_fd(&pool->readers[i].dir);
		pthread_cond_destroy(&pool->readers[i].asked);
	}
	pthread_cond_destroy(&pool->ended);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* Gives up a share; called with the lock, which is released. */
static void reader_pool_leave(struct reader_pool *pool)
{
	bool last = --pool->owners == 0;

	pthread_mutex_unlock(&pool->lock);
	if (last)
		reader_pool_free(pool);
}

/* procfs hands out a file in one piece if there is room: less than was asked for is the end. */
static ssize_t read_file(const char *file, int dir, char buffer[POOL_BYTES])
{
	CLEANUP(close_fd) int fd = file_open_below(dir, file, O_RDONLY);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, buffer, POOL_BYTES);
	if (length < 0)
		return -errno;
	if (length == POOL_BYTES)
		return -EFBIG;
	buffer[length] = '\0';
	return length;
}

/* Called with the lock, which is not held meanwhile. */
static void serve(struct reader *reader)
{
	struct reader_pool *pool = reader->pool;
	CLEANUP(close_fd) int dir = TAKE_FD(reader->dir);
	int64_t began_ns;
	ssize_t length;

	pthread_mutex_unlock(&pool->lock);
	began_ns = monotonic_ns();
	length = read_file(pool->options.file, dir, reader->buffer);
	pthread_mutex_lock(&pool->lock);
	reader->length = length;
	reader->took_ns = monotonic_ns() - began_ns;
	reader->state = reader->state == READER_LATE ? READER_IDLE : READER_ENDED;
	pthread_cond_signal(&pool->ended);
}

static void *serve_pool(void *argument)
{
	struct reader *reader = argument;
	struct reader_pool *pool = reader->pool;

	pthread_mutex_lock(&pool->lock);
	while (!pool->abandoned) {
		if (reader->dir >= 0)
			serve(reader);
		else
			pthread_cond_wait(&reader->asked, &pool->lock);
	}
	reader_pool_leave(pool);
	return NULL;
}

/* Called with the lock, so that the reader does not run before it is counted. */
static int start_reader(struct reader *reader)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, serve_pool, reader);

	if (error)
		return -error;
	pthread_detach(thread);
	reader->pool->owners++;
	reader->state = READER_IDLE;
	return 0;
}

static void init_ended(pthread_cond_t *ended)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(ended, &attributes);
	pthread_condattr_destroy(&attributes);
}

int reader_pool_new(const struct pool_options *options, struct reader_pool **ret)
{
	struct reader_pool *pool = calloc(1, sizeof(*pool));
	int status;

	if (!pool)
		return -ENOMEM;
	pool->options = *options;
	pool->owners = 1;
	pthread_mutex_init(&pool->lock, NULL);
	init_ended(&pool->ended);
	for (unsigned i = 0; i < POOL_READERS; i++) {
		pool->readers[i].pool = pool;
		pool->readers[i].dir = -1;
		pthread_cond_init(&pool->readers[i].asked, NULL);
	}
	pthread_mutex_lock(&pool->lock);
	status = start_reader(&pool->readers[0]);
	pthread_mutex_unlock(&pool->lock);
	if (status < 0) {
		reader_pool_free(pool);
		return status;
	}
	*ret = pool;
	return 0;
}

static struct reader *find_reader(struct reader_pool *pool, enum reader_state state)
{
	for (unsigned i = 0; i < POOL_READERS; i++)
		if (pool->readers[i].state == state)
			return &pool->readers[i];
	return NULL;
}

/* Called with the lock, which is not held meanwhile: an answer is nobody else's. */
static void give_answer(struct reader_pool *pool, const struct pool_answer *answer)
{
	int status;

	pthread_mutex_unlock(&pool->lock);
	status = pool->options.answer(pool->options.context, answer);
	pthread_mutex_lock(&pool->lock);
	if (pool->status == 0)
		pool->status = status;
}

static void give_late(struct reader_pool *pool, uint32_t tag)
{
	give_answer(pool, &(struct pool_answer){ .tag = tag, .length = -ETIMEDOUT });
}

static void give_answers(struct reader_pool *pool)
{
	struct reader *reader;

	while ((reader = find_reader(pool, READER_ENDED))) {
		give_answer(pool, &(struct pool_answer){ .tag = reader->tag,
							 .length = reader->length,
							 .text = reader->buffer,
							 .took_ns = reader->took_ns });
		reader->state = READER_IDLE;
	}
}

/* Gives up those whose time has passed; how many are under way, and when the next one is late. */
static unsigned check_time(struct reader_pool *pool, int64_t *ret_until_ns)
{
	int64_t now = monotonic_ns();
	unsigned under_way = 0;

	*ret_until_ns = INT64_MAX;
	for (unsigned i = 0; i < POOL_READERS; i++) {
		struct reader *reader = &pool->readers[i];

		if (reader->state != READER_ASKED)
			continue;
		if (reader->until_ns <= now) {
			reader->state = READER_LATE;
			give_late(pool, reader->tag);
			continue;
		}
		under_way++;
		if (reader->until_ns < *ret_until_ns)
			*ret_until_ns = reader->until_ns;
	}
	return under_way;
}

/* Waits, with the lock, until all answers were given and at most `most` reads are under way. */
static void wait_until(struct reader_pool *pool, unsigned most)
{
	int64_t until_ns;

	for (;;) {
		struct timespec until;
		unsigned under_way;

		give_answers(pool);
		under_way = check_time(pool, &until_ns);
		if (find_reader(pool, READER_ENDED))
			continue;
		if (under_way <= most)
			return;
		until = (struct timespec){ until_ns / NS_PER_SECOND, until_ns % NS_PER_SECOND };
		pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
	}
}

/* One that has nothing to do, or a new one; where no thread can be started, whoever is back first. */
static struct reader *take_reader(struct reader_pool *pool)
{
	struct reader *reader = find_reader(pool, READER_IDLE);

	if (reader)
		return reader;
	reader = find_reader(pool, READER_NONE);
	if (reader && start_reader(reader) == 0)
		return reader;
	wait_until(pool, 0);
	return find_reader(pool, READER_IDLE);
}

void reader_pool_read(struct reader_pool *pool, uint32_t tag, int dir, int64_t patience_ns)
{
	struct reader *reader;

	pthread_mutex_lock(&pool->lock);
	wait_until(pool, pool->options.at_once - 1);
	reader = take_reader(pool);
	if (reader) {
		reader->state = READER_ASKED;
		reader->tag = tag;
		reader->dir = TAKE_FD(dir);
		reader->until_ns = monotonic_ns() + patience_ns;
		pthread_cond_signal(&reader->asked);
	} else {
		give_late(pool, tag);
	}
	pthread_mutex_unlock(&pool->lock);
	close_fd(&dir);
}

int reader_pool_finish(struct reader_pool *pool)
{
	int status;

	pthread_mutex_lock(&pool->lock);
	wait_until(pool, 0);
	status = pool->status;
	pool->abandoned = true;
	for (unsigned i = 0; i < POOL_READERS; i++)
		pthread_cond_signal(&pool->readers[i].asked);
	reader_pool_leave(pool);
	return status;
}

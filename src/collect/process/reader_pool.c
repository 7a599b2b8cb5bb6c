/* SPDX-License-Identifier: MIT */
#include "collect/process/reader_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "base/text.h"

#define CHECK_NS 50000000
#define FEW_REQUESTS 32 /* with more requests, waking a reader for each costs more than reading */

enum request_state {
	REQUEST_WAITING,
	REQUEST_UNDER_WAY,
	REQUEST_DONE,
	REQUEST_LATE, /* its reader may return later; nobody waits for it */
};

struct queued {
	struct pool_request request;
	enum request_state state;
	int64_t since_ns; /* when it was started; after the read, how long it took */
	ssize_t length;
	size_t offset; /* of the answer in `bytes` */
};

/* The lock guards all members below it, and also the bytes and requests, which may be moved. */
struct reader_pool {
	struct pool_options options;
	int64_t budget_ns; /* how long we may still wait */
	int status;	   /* first failure of an answer */
	pthread_mutex_t lock;
	pthread_cond_t asked;
	pthread_cond_t ended;
	unsigned owners;
	unsigned readers; /* threads that were started */
	unsigned idle;	  /* of these */
	bool abandoned;	  /* no more requests will come */
	bool failed;	  /* no memory */
	ARRAY_OF(struct queued) queue;
	size_t taken;	 /* index of the first request that is still waiting */
	size_t answered; /* index of the first request that was not answered */
	size_t open;	 /* requests that wait or are being read */
	size_t wanted;	 /* how many of these the caller waits for */
	uint64_t gone;	 /* requests that were removed from the queue */
	struct text bytes;
	struct text answer; /* the answer being delivered; not guarded */
};

/*
 * Reads that nobody waits for any more, of all pools.  A process that is captured again and again
 * and never lets go of its lock would cost a thread each time: it is not asked again until the
 * reader is back.  When the table is full, nobody is asked.
 */
static struct {
	pthread_mutex_t lock;
	struct stuck_read {
		const struct reader_pool *pool; /* NULL: this place is free */
		uint64_t number;
		int32_t pid;
	} reads[POOL_STUCK];
} stuck = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_stuck(const struct reader_pool *pool, uint64_t number, int32_t pid)
{
	pthread_mutex_lock(&stuck.lock);
	for (size_t i = 0; i < POOL_STUCK; i++)
		if (!stuck.reads[i].pool) {
			stuck.reads[i] = (struct stuck_read){ pool, number, pid };
			break;
		}
	pthread_mutex_unlock(&stuck.lock);
}

static void remove_stuck(const struct reader_pool *pool, uint64_t number)
{
	pthread_mutex_lock(&stuck.lock);
	for (size_t i = 0; i < POOL_STUCK; i++)
		if (stuck.reads[i].pool == pool && stuck.reads[i].number == number)
			stuck.reads[i].pool = NULL;
	pthread_mutex_unlock(&stuck.lock);
}

static bool would_be_stuck(int32_t pid)
{
	size_t count = 0;
	bool found = false;

	pthread_mutex_lock(&stuck.lock);
	for (size_t i = 0; i < POOL_STUCK; i++) {
		count += stuck.reads[i].pool != NULL;
		found |= stuck.reads[i].pool && pid && stuck.reads[i].pid == pid;
	}
	pthread_mutex_unlock(&stuck.lock);
	return found || count > POOL_STUCK - POOL_READERS;
}

static int64_t now_ns(void)
{
	return (int64_t)monotonic_ns();
}

static void reader_pool_free(struct reader_pool *pool)
{
	close_fd(&pool->options.dir);
	array_free(&pool->queue);
	text_free(&pool->bytes);
	text_free(&pool->answer);
	pthread_cond_destroy(&pool->asked);
	pthread_cond_destroy(&pool->ended);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* Gives up a share of the pool.  Called with the lock held, and releases it. */
static void reader_pool_leave(struct reader_pool *pool)
{
	bool last = --pool->owners == 0;

	pthread_mutex_unlock(&pool->lock);
	if (last)
		reader_pool_free(pool);
}

/* procfs returns a file in one piece if there is room: a short read means the end. */
ssize_t pool_read_file(const struct pool_request *request, const char *file,
		       char buffer[POOL_BYTES])
{
	CLEANUP(close_fd) int fd = file_open_below(request->dir, file, O_RDONLY | request->flags);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, buffer, POOL_BYTES);
	if (length < 0)
		return -errno;
	return length == POOL_BYTES ? -EFBIG : length;
}

/* The request of a reader that was late may be gone, and another one be in its place. */
static void end_request(struct reader_pool *pool, uint64_t number, const char *text, ssize_t length)
{
	struct queued *queued;

	if (number < pool->gone)
		return;
	queued = &pool->queue.data[number - pool->gone];
	if (queued->state != REQUEST_UNDER_WAY)
		return;
	queued->state = REQUEST_DONE;
	queued->since_ns = now_ns() - queued->since_ns;
	queued->length = length;
	queued->offset = pool->bytes.length;
	if (length > 0)
		text_append(&pool->bytes, text, (size_t)length);
	pool->open--;
}

/* Called with the lock held; releases it during the read. */
static void serve_next(struct reader_pool *pool)
{
	uint64_t number = pool->gone + pool->taken;
	struct queued *queued = &pool->queue.data[pool->taken++];
	struct pool_request request = queued->request;
	CLEANUP(close_fd) int own_dir = request.dir;
	char buffer[POOL_BYTES];
	ssize_t length;

	queued->state = REQUEST_UNDER_WAY;
	queued->since_ns = now_ns();
	pthread_mutex_unlock(&pool->lock);
	if (request.dir < 0)
		request.dir = pool->options.dir;
	length = would_be_stuck(request.pid) ? -ETIMEDOUT : pool->options.read(&request, buffer);
	close_fd(&own_dir);
	pthread_mutex_lock(&pool->lock);
	remove_stuck(pool, number);
	if (!pool->abandoned)
		end_request(pool, number, buffer, length);
}

static void *serve_pool(void *argument)
{
	struct reader_pool *pool = argument;

	pthread_mutex_lock(&pool->lock);
	pool->idle--;
	while (!pool->abandoned) {
		if (pool->taken < pool->queue.count) {
			serve_next(pool);
			if (pool->open <= pool->wanted)
				pthread_cond_signal(&pool->ended);
			continue;
		}
		pthread_cond_signal(&pool->ended);
		pool->idle++;
		pthread_cond_wait(&pool->asked, &pool->lock);
		pool->idle--;
	}
	reader_pool_leave(pool);
	return NULL;
}

/* Called with the lock held, so that the reader does not run before it is counted. */
static int start_reader(struct reader_pool *pool)
{
	pthread_t thread;
	int error = pool->readers < POOL_READERS ? pthread_create(&thread, NULL, serve_pool, pool) :
						   EAGAIN;

	if (error)
		return -error;
	pthread_detach(thread);
	pool->owners++;
	pool->readers++;
	pool->idle++; /* until it runs */
	return 0;
}

static void init_monotonic(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

int reader_pool_new(const struct pool_options *options, struct reader_pool **ret)
{
	struct reader_pool *pool;
	int dir = -1, status;

	if (options->dir >= 0 && (dir = fcntl(options->dir, F_DUPFD_CLOEXEC, 0)) < 0)
		return -errno;
	pool = calloc(1, sizeof(*pool));
	if (!pool) {
		close_fd(&dir);
		return -ENOMEM;
	}
	pool->options = *options;
	pool->options.dir = dir;
	pool->budget_ns = options->budget_ns;
	pool->owners = 1;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->asked, NULL);
	init_monotonic(&pool->ended);
	pthread_mutex_lock(&pool->lock);
	status = options->is_direct ? 0 : start_reader(pool);
	pthread_mutex_unlock(&pool->lock);
	if (status < 0) {
		reader_pool_free(pool);
		return status;
	}
	*ret = pool;
	return 0;
}

static void set_late(struct reader_pool *pool, struct queued *queued)
{
	if (queued->state == REQUEST_WAITING)
		close_fd(&queued->request.dir);
	else
		add_stuck(pool, pool->gone + (uint64_t)(queued - pool->queue.data),
			  queued->request.pid);
	queued->state = REQUEST_LATE;
	queued->length = -ETIMEDOUT;
	queued->since_ns = 0;
	pool->open--;
}

/*
 * Called with the lock held; releases it during the call.  The text is copied, since readers may
 * move the bytes.
 */
static void give_answer(struct reader_pool *pool, const struct queued *queued)
{
	struct text *text = &pool->answer;
	struct pool_answer answer = { .tag = queued->request.tag,
				      .length = queued->length,
				      .took_ns = queued->since_ns };
	int status;

	text_clear(text);
	if (queued->length > 0 && !pool->bytes.failed)
		text_append(text, pool->bytes.data + queued->offset, (size_t)queued->length);
	pthread_mutex_unlock(&pool->lock);
	answer.text = text_string(text);
	status = text->failed ? -ENOMEM : pool->options.answer(pool->options.context, &answer);
	pthread_mutex_lock(&pool->lock);
	if (pool->status == 0)
		pool->status = status;
}

static void give_answers(struct reader_pool *pool)
{
	while (pool->answered < pool->queue.count &&
	       pool->queue.data[pool->answered].state >= REQUEST_DONE) {
		struct queued queued = pool->queue.data[pool->answered++];

		give_answer(pool, &queued);
	}
	if (pool->answered == pool->queue.count) {
		pool->gone += pool->queue.count;
		pool->queue.count = pool->taken = pool->answered = 0;
		text_clear(&pool->bytes);
	}
}

/*
 * Gives up the request if it is late.  Else returns when it will be late, or when its reader needs
 * help.
 */
static int64_t check_request(struct reader_pool *pool, struct queued *queued, int64_t now,
			     unsigned *at_work)
{
	int64_t late_ns = queued->since_ns + queued->request.patience_ns;
	int64_t help_ns;

	if (__builtin_add_overflow(queued->since_ns, pool->options.help_ns, &help_ns))
		help_ns = INT64_MAX;
	if (late_ns <= now) {
		set_late(pool, queued);
		return INT64_MAX;
	}
	*at_work += help_ns > now;
	return help_ns > now && help_ns < late_ns ? help_ns : late_ns;
}

/* Gives up late requests and starts missing readers.  Returns when to check again. */
static int64_t check_time(struct reader_pool *pool)
{
	int64_t now = now_ns(), next_ns = INT64_MAX;
	unsigned at_work = pool->idle;

	for (size_t i = pool->answered; i < pool->taken; i++) {
		struct queued *queued = &pool->queue.data[i];
		int64_t due_ns = INT64_MAX;

		if (queued->state == REQUEST_UNDER_WAY)
			due_ns = check_request(pool, queued, now, &at_work);
		next_ns = due_ns < next_ns ? due_ns : next_ns;
	}
	if (pool->taken == pool->queue.count)
		return next_ns;
	while (at_work < pool->options.at_once && start_reader(pool) == 0)
		at_work++;
	/* All readers are stuck, and all of their requests were given up. */
	for (; at_work == 0 && next_ns == INT64_MAX && pool->taken < pool->queue.count;
	     pool->taken++)
		set_late(pool, &pool->queue.data[pool->taken]);
	/* The request that is started next has no deadline yet. */
	return next_ns < now + CHECK_NS ? next_ns : now + CHECK_NS;
}

static void end_budget(struct reader_pool *pool)
{
	for (size_t i = pool->answered; i < pool->queue.count; i++)
		if (pool->queue.data[i].state < REQUEST_DONE)
			set_late(pool, &pool->queue.data[i]);
	pool->taken = pool->queue.count;
}

/* Waits until at most `most` requests are open.  Called with the lock held. */
static void wait_until(struct reader_pool *pool, size_t most)
{
	int64_t began_ns = now_ns();

	pool->wanted = most;
	for (;;) {
		int64_t next_ns = check_time(pool);
		int64_t budget_end_ns, now = now_ns();
		struct timespec until;

		if (__builtin_add_overflow(began_ns, pool->budget_ns, &budget_end_ns))
			budget_end_ns = INT64_MAX;
		if (pool->open > most && now >= budget_end_ns)
			end_budget(pool);
		if (pool->open <= most)
			break;
		next_ns = next_ns < budget_end_ns ? next_ns : budget_end_ns;
		until = timespec_of_ns((uint64_t)next_ns);
		pthread_cond_broadcast(&pool->asked);
		pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
	}
	if (pool->budget_ns != INT64_MAX)
		pool->budget_ns -= now_ns() - began_ns;
	give_answers(pool);
}

void reader_pool_read(struct reader_pool *pool, const struct pool_request *request)
{
	struct queued queued = { .request = *request };

	queued.request.flags = pool->options.is_direct ? O_NONBLOCK : 0;
	pthread_mutex_lock(&pool->lock);
	if (pool->open >= pool->options.room)
		wait_until(pool, pool->options.room / 2);
	if (array_append(&pool->queue, queued) < 0) {
		pool->failed = true;
		close_fd(&queued.request.dir);
	} else if (++pool->open && pool->options.is_direct) {
		serve_next(pool);
		give_answers(pool);
	} else if (pool->options.room < FEW_REQUESTS) {
		pthread_cond_signal(&pool->asked);
		wait_until(pool, pool->open);
	}
	pthread_mutex_unlock(&pool->lock);
}

int reader_pool_finish(struct reader_pool *pool)
{
	int status;

	pthread_mutex_lock(&pool->lock);
	wait_until(pool, 0);
	status = pool->failed || pool->bytes.failed ? -ENOMEM : pool->status;
	pool->abandoned = true;
	pthread_cond_broadcast(&pool->asked);
	reader_pool_leave(pool);
	return status;
}

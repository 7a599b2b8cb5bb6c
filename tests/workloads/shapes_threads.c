/* SPDX-License-Identifier: MIT */
/* Shapes in which threads or processes wait for each other. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "shapes.h"

#define MILLISECOND 1000000ULL
#define WORKERS 4

static void start(pthread_t *thread, const char *name, void *(*work)(void *), void *argument)
{
	if (pthread_create(thread, NULL, work, argument) != 0)
		exit(3);
	pthread_setname_np(*thread, name);
}

/* Two threads, each with one lock, that want the other's. */
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_have_one;

static void *take_left_first(void *unused)
{
	pthread_mutex_lock(&left);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(&right);
	return unused;
}

static void *take_right_first(void *unused)
{
	pthread_mutex_lock(&right);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(&left);
	return unused;
}

void play_deadlock(const struct scene *scene)
{
	pthread_t threads[2];

	(void)scene;
	pthread_barrier_init(&both_have_one, NULL, 2);
	start(&threads[0], "left-first", take_left_first, NULL);
	start(&threads[1], "right-first", take_right_first, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* Writers of one rwlock, which compute while they have it. */
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static void *write_table(void *argument)
{
	const struct scene *scene = argument;

	while (now_ns() < scene->end_ns) {
		pthread_rwlock_wrlock(&table);
		spin_until(now_ns() + MILLISECOND);
		pthread_rwlock_unlock(&table);
		spin_until(now_ns() + MILLISECOND / 50);
	}
	return NULL;
}

void play_rwlock(const struct scene *scene)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		start(&threads[i], "writer", write_table, (void *)(uintptr_t)scene);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
}

/* Processes that compute under one semaphore in shared memory. */
void play_semaphore(const struct scene *scene)
{
	sem_t *turn = need(mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	sem_init(turn, 1, 1);
	for (int i = 0; i < WORKERS; i++) {
		if (fork() != 0)
			continue;
		while (now_ns() < scene->end_ns) {
			sem_wait(turn);
			spin_until(now_ns() + MILLISECOND);
			sem_post(turn);
			spin_until(now_ns() + MILLISECOND / 50);
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

/* Rounds that end when both threads are through: one has twenty times the work of the other. */
static pthread_barrier_t round_over;

struct share {
	uint64_t rounds;
	unsigned milliseconds;
};

static void *work_in_rounds(void *argument)
{
	const struct share *share = argument;

	for (uint64_t i = 0; i < share->rounds; i++) {
		spin_until(now_ns() + share->milliseconds * MILLISECOND);
		pthread_barrier_wait(&round_over);
	}
	return NULL;
}

void play_imbalance(const struct scene *scene)
{
	uint64_t rounds = (scene->end_ns - now_ns()) / (20 * MILLISECOND);
	struct share light = { rounds, 1 }, heavy = { rounds, 20 };
	pthread_t threads[2];

	pthread_barrier_init(&round_over, NULL, 2);
	start(&threads[0], "light", work_in_rounds, &light);
	start(&threads[1], "heavy", work_in_rounds, &heavy);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* Computes, beside a thread that wakes up every 10 ms and has next to nothing to do. */
static void *tick(void *argument)
{
	const struct scene *scene = argument;

	while (now_ns() < scene->end_ns)
		sleep_ms(10);
	return NULL;
}

void play_ticker(const struct scene *scene)
{
	pthread_t ticker;

	start(&ticker, "ticker", tick, (void *)(uintptr_t)scene);
	spin_until(scene->end_ns);
	pthread_join(ticker, NULL);
}

/* Consumers that wait for a producer, which sleeps 20 ms for each item. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static unsigned items;
static bool closed;

static void *consume(void *unused)
{
	pthread_mutex_lock(&queue_lock);
	while (!closed) {
		while (!items && !closed)
			pthread_cond_wait(&queue_filled, &queue_lock);
		items = 0;
	}
	pthread_mutex_unlock(&queue_lock);
	return unused;
}

void play_hand_over(const struct scene *scene)
{
	pthread_t consumers[2];

	start(&consumers[0], "consumer", consume, NULL);
	start(&consumers[1], "consumer", consume, NULL);
	while (!closed) {
		sleep_ms(20);
		pthread_mutex_lock(&queue_lock);
		items++;
		closed = now_ns() >= scene->end_ns;
		pthread_cond_broadcast(&queue_filled);
		pthread_mutex_unlock(&queue_lock);
	}
	pthread_join(consumers[0], NULL);
	pthread_join(consumers[1], NULL);
}

/* A mutator that stands still for 9 ms of every 10, while a thread named after it collects garbage. */
static pthread_mutex_t world = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t world_changed = PTHREAD_COND_INITIALIZER;
static bool collecting, ended;

static void *collect_garbage(void *unused)
{
	pthread_mutex_lock(&world);
	while (!ended) {
		while (!collecting && !ended)
			pthread_cond_wait(&world_changed, &world);
		pthread_mutex_unlock(&world);
		spin_until(now_ns() + 9 * MILLISECOND);
		pthread_mutex_lock(&world);
		collecting = false;
		pthread_cond_broadcast(&world_changed);
	}
	pthread_mutex_unlock(&world);
	return unused;
}

void play_collector(const struct scene *scene)
{
	pthread_t collector;

	start(&collector, "GC Thread#0", collect_garbage, NULL);
	while (!ended) {
		spin_until(now_ns() + MILLISECOND);
		pthread_mutex_lock(&world);
		ended = now_ns() >= scene->end_ns;
		collecting = !ended;
		pthread_cond_broadcast(&world_changed);
		while (collecting)
			pthread_cond_wait(&world_changed, &world);
		pthread_mutex_unlock(&world);
	}
	pthread_join(collector, NULL);
}

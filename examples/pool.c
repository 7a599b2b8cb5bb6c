/* SPDX-License-Identifier: MIT */
/*
 * A pool of threads: one counter that all of them advance, names for threads, and workers that wait
 * for work without being taken for stalled.
 *
 *	pool [JOBS [SIZE]]
 *
 * Counts the primes below JOBS x SIZE; a job is a range of SIZE numbers.  `pool 2 1000000000` has two
 * workers busy and two idle.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <taskscope.h>

#define WORKERS 4
#define CHUNK 1000

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t offered, taken, done; /* jobs */
	bool is_closed;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static uint64_t size;
static struct taskscope_progress numbers; /* opened and ended by main(), advanced by all */
static uint64_t primes;
static taskscope_due_state line_state; /* which worker prints the next line */

static bool is_prime(uint64_t number)
{
	for (uint64_t divisor = 2; divisor * divisor <= number; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

/*
 * The counter of all numbers belongs to main(): that it moves does not tell that this worker does.  So
 * a job that may take long has a counter of its own, and is no stall as long as that moves.
 */
static void count_primes(uint64_t job)
{
	struct taskscope_progress range = taskscope_begin("count primes", size);
	uint64_t end = (job + 1) * size;
	uint64_t found = 0;

	for (uint64_t number = job * size; number < end;) {
		uint64_t stop = end - number > CHUNK ? number + CHUNK : end;
		uint64_t steps = stop - number;

		for (; number < stop; number++)
			found += is_prime(number);
		taskscope_advance(&range, steps);
		taskscope_advance(&numbers, steps);
		if (taskscope_due(&line_state, 10000))
			fprintf(stderr, "pool: job %" PRIu64 ", at %" PRIu64 "\n", job, number);
	}
	taskscope_end(&range);
	__atomic_fetch_add(&primes, found, __ATOMIC_RELAXED);
}

/* Under the lock; false when no job will come. */
static bool wait_for_job(void)
{
	while (pool.taken == pool.offered && !pool.is_closed) {
		taskscope_idle(); /* ends with the scope of the next job */
		pthread_cond_wait(&pool.changed, &pool.lock);
	}
	return pool.taken < pool.offered;
}

static void *work(void *name)
{
	taskscope_thread(name);
	TASKSCOPE("worker");
	pthread_mutex_lock(&pool.lock);
	while (wait_for_job()) {
		uint64_t job = pool.taken++;

		pthread_mutex_unlock(&pool.lock);
		count_primes(job);
		pthread_mutex_lock(&pool.lock);
		pool.done++;
		pthread_cond_broadcast(&pool.changed);
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

/* Waiting is all that is left to do here, so it is no stall however long it takes. */
static void do_jobs(uint64_t jobs)
{
	TASKSCOPE("wait for workers");
	taskscope_idle();
	pthread_mutex_lock(&pool.lock);
	pool.offered = jobs;
	pthread_cond_broadcast(&pool.changed);
	while (pool.done < jobs)
		pthread_cond_wait(&pool.changed, &pool.lock);
	pool.is_closed = true;
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.lock);
}

int main(int count, char **words)
{
	static char names[WORKERS][32];
	pthread_t threads[WORKERS];
	uint64_t jobs = count > 1 ? strtoull(words[1], NULL, 10) : 100;

	size = count > 2 ? strtoull(words[2], NULL, 10) : 20000;
	taskscope_start(NULL);
	numbers = taskscope_begin("all numbers", jobs * size);
	for (int i = 0; i < WORKERS; i++) {
		snprintf(names[i], sizeof(names[i]), "primes-%d", i);
		if (pthread_create(&threads[i], NULL, work, names[i]) != 0)
			return 1;
	}
	do_jobs(jobs);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	taskscope_end(&numbers);
	printf("%" PRIu64 " primes below %" PRIu64 "\n", primes, jobs * size);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A small job to be watched: what `make run` profiles.  It compresses nothing and solves nothing,
 * but does a bit of what real jobs do: workers behind one lock, short children, a log that is synced, a
 * wait for an event.  It prints what it did, so that the report can be checked.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define TURNS 250
#define CHILDREN 20
#define LOG_LINES 100

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long table_updates;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void compute_us(unsigned microseconds)
{
	uint64_t end = now_ns() + microseconds * 1000ULL;

	while (now_ns() < end)
		;
}

/* Most of a turn is under the lock: that is what limits this job. */
static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&table_lock);
		compute_us(1500);
		table_updates++;
		pthread_mutex_unlock(&table_lock);
		compute_us(300);
	}
	return NULL;
}

static void run_workers(void)
{
	pthread_t workers[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		char name[16];

		if (pthread_create(&workers[i], NULL, work, NULL) != 0)
			exit(1);
		snprintf(name, sizeof(name), "worker-%d", i);
		pthread_setname_np(workers[i], name);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
}

static void run_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			execlp("true", "true", (char *)NULL);
			_exit(127);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

static void write_log(void)
{
	FILE *log = tmpfile();

	if (!log)
		return;
	for (int i = 0; i < LOG_LINES; i++) {
		fprintf(log, "update %d of %lu\n", i, table_updates);
		fflush(log);
		fsync(fileno(log));
	}
	fclose(log);
}

int main(void)
{
	const struct timespec pause = { 0, 200000000 };

	run_children();
	run_workers();
	write_log();
	nanosleep(&pause, NULL);
	printf("demo: %lu updates by %d workers behind one lock, %d children, %d syncs\n",
	       table_updates, WORKERS, CHILDREN, LOG_LINES);
	return 0;
}

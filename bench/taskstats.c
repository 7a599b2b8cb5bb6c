/* SPDX-License-Identifier: MIT */
/*
 * Asks for the taskstats of the threads of some processes in two ways, by batches and one by one,
 * and prints what each cost in nanoseconds of CPU time (user and kernel) for a thread, and how many
 * threads answered:
 *
 *	taskstats PID...
 *	batched NANOSECONDS THREADS
 *	single NANOSECONDS THREADS
 *
 * The two take turns, and the best of some rounds counts.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/collection/array.h"
#include "host/taskstats/taskstats_socket.h"

#define ROUNDS 5

struct threads {
	ARRAY_OF(int32_t) tids;
};

struct way {
	const char *name;
	size_t batch;
	long long best_ns; /* of all threads, 0 before the first round */
	size_t answered;
};

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static bool list_threads(struct threads *threads, const char *pid)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	folder = opendir(path);
	if (!folder)
		return false;
	while ((entry = readdir(folder))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && array_append(&threads->tids, tid) < 0)
			break;
	}
	closedir(folder);
	return entry == NULL;
}

static int ask_all(struct taskstats_socket *socket, const struct threads *threads, struct way *way)
{
	static struct taskstats_answer answers[TASKSTATS_BATCH];
	size_t count;

	way->answered = 0;
	for (size_t done = 0; done < threads->tids.count; done += count) {
		int status;

		count = threads->tids.count - done;
		if (count > way->batch)
			count = way->batch;
		for (size_t i = 0; i < count; i++)
			answers[i].tid = threads->tids.data[done + i];
		status = taskstats_socket_ask(socket, answers, count);
		if (status < 0)
			return status;
		for (size_t i = 0; i < count; i++)
			way->answered += answers[i].status == 0;
	}
	return 0;
}

static int measure(struct taskstats_socket *socket, const struct threads *threads, struct way *way)
{
	long long start = cpu_ns();
	int status = ask_all(socket, threads, way);
	long long cost = cpu_ns() - start;

	if (!way->best_ns || cost < way->best_ns)
		way->best_ns = cost;
	return status;
}

int main(int argc, char **argv)
{
	struct way ways[] = { { "batched", TASKSTATS_BATCH, 0, 0 }, { "single", 1, 0, 0 } };
	struct threads threads = { 0 };
	struct taskstats_socket *socket;
	int status = taskstats_socket_open(&socket);

	if (status < 0) {
		fprintf(stderr, "no taskstats: %s\n", strerror(-status));
		return 1;
	}
	for (int i = 1; i < argc; i++)
		if (!list_threads(&threads, argv[i]))
			fprintf(stderr, "there is no process %s\n", argv[i]);
	for (int round = 0; round < ROUNDS && status == 0; round++)
		for (size_t i = 0; i < ARRAY_SIZE(ways) && status == 0; i++)
			status = measure(socket, &threads, &ways[i]);
	for (size_t i = 0; i < ARRAY_SIZE(ways) && threads.tids.count; i++)
		printf("%s %lld %zu\n", ways[i].name,
		       ways[i].best_ns / (long long)threads.tids.count, ways[i].answered);
	if (!threads.tids.count)
		status = -ESRCH;
	array_free(&threads.tids);
	taskstats_socket_free(socket);
	return status < 0;
}

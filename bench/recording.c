/* SPDX-License-Identifier: MIT */
/*
 * What the ticks of a recording cost to keep: usage: recording FILE COUNT INTERVAL-MS
 *
 * Samples this host into a new recording.  Prints for each tick: threads, processes, bytes of its
 * frame, CPU time of storing it in nanoseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history.h"

static int keep(struct history *history, struct sampling *sampling, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct host_sample sample = { .unix_ns = clock_ns(CLOCK_REALTIME) };
	int status = sampling_take(sampling, &snapshot, error);
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (status == 0)
		status = history_add_tick(
			history, &(struct history_tick){ .snapshot = snapshot, .sample = &sample },
			error);
	if (status == 0)
		status = history_commit(history, error);
	if (status == 0)
		printf("%zu %zu %llu\n", snapshot->task_count, snapshot->process_count,
		       (unsigned long long)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin));
	return status;
}

int main(int argc, char **argv)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(sampling_close_pointer) struct sampling *sampling = NULL;
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(free_pointer) char *note = NULL;
	const struct capture_options options = { 0 };
	struct error error = { 0 };
	long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	uint64_t interval = argc == 4 ? strtoull(argv[3], NULL, 10) * NS_PER_MS : 0;
	uint64_t next = monotonic_ns();
	int status = count > 0 ? host_open(&host, NULL, &error) : -1;

	if (status == 0)
		status = sampling_open(host, &options, &sampling, &error);
	if (status == 0)
		status = history_create(argv[1], &history_retention_defaults, &history, &note,
					&error);
	for (long i = 0; i < count && status == 0; i++) {
		struct timespec until = timespec_of_ns(next += interval);

		status = keep(history, sampling, &error);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	if (status < 0)
		fprintf(stderr, "%s\n",
			count > 0 ? error.message : "usage: recording FILE COUNT INTERVAL-MS");
	return status < 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * What samples of a sampling that stays open cost: usage: samples COUNT
 *
 * Prints the CPU time, in nanoseconds, of opening it together with the first sample, and then that of
 * each later one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

/* Helpers that were waited for count too. */
static uint64_t used_ns(void)
{
	struct rusage usage;
	struct timespec own;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
	getrusage(RUSAGE_CHILDREN, &usage);
	return (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec +
	       time_ns(&usage.ru_utime) + time_ns(&usage.ru_stime);
}

static int take(struct sampling *sampling, uint64_t since_ns, struct error *error)
{
	struct snapshot *snapshot;
	int status = sampling_take(sampling, &snapshot, error);

	if (status < 0)
		return status;
	snapshot_free(snapshot);
	printf("%llu\n", (unsigned long long)(used_ns() - since_ns));
	return 0;
}

int main(int argc, char **argv)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(sampling_close_pointer) struct sampling *sampling = NULL;
	const struct capture_options options = { 0 };
	struct error error = { 0 };
	long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	int status = count > 0 ? host_open(&host, NULL, &error) : -1;

	if (status == 0)
		status = sampling_open(host, &options, &sampling, &error);
	for (long i = 0; i < count && status == 0; i++)
		status = take(sampling, i ? used_ns() : 0, &error);
	if (status < 0)
		fprintf(stderr, "%s\n", count > 0 ? error.message : "usage: samples COUNT");
	return status < 0;
}

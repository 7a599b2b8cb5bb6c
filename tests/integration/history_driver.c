/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording of made ticks as fast as it can.
 *
 *	history_driver write PATH TICKS		prints the number of each tick that is committed, or
 *						"failed" and the sentence; 0 ticks: until it is killed
 *	history_driver days PATH DAYS BYTES	ticks of so many days, every 5 s, expired hourly
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "made_ticks.h"
#include "store/history/history.h"

#define BEGIN_NS (UINT64_C(1700000040) * SECOND_NS)
#define TICKS_PER_HOUR 720

static const struct made_host host = {
	.processes = 50, .threads = 4, .begin_unix_ns = BEGIN_NS, .interval_ns = 5 * SECOND_NS
};

static int add_tick(struct history *history, uint64_t tick, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = made_snapshot(&host, tick);
	struct host_sample sample = made_sample(&host, tick);
	struct life_event event = { .kind = LIFE_SPAWN,
				    .unix_ns = sample.unix_ns,
				    .task = { 1300, 1300, tick + 1 },
				    .comm = "made-3" };
	int status = history_add_tick(
		history, &(struct history_tick){ .snapshot = snapshot, .sample = &sample }, error);

	if (status == 0)
		status = history_add_event(history, &event, error);
	return status < 0 ? status : history_commit(history, error);
}

/* Goes on after a failure, as a recorder does. */
static int write_ticks(struct history *history, uint64_t count)
{
	struct history_span span;
	uint64_t first = 0;

	if (history_extent(history, &span))
		first = (span.to_unix_ns - BEGIN_NS) / host.interval_ns + 1;
	for (uint64_t tick = first; !count || tick < first + count; tick++) {
		struct error error = { 0 };

		if (add_tick(history, tick, &error) < 0)
			printf("failed %s\n", error.message);
		else
			printf("%" PRIu64 "\n", tick);
		fflush(stdout);
	}
	return 0;
}

static int write_days(struct history *history, uint64_t days)
{
	for (uint64_t tick = 0; tick < days * 24 * TICKS_PER_HOUR; tick++) {
		uint64_t now = BEGIN_NS + tick * host.interval_ns;
		struct error error = { 0 };
		int status = add_tick(history, tick, &error);

		if (status == 0 && tick % TICKS_PER_HOUR == TICKS_PER_HOUR - 1)
			status = history_expire(history, now, &error);
		if (status < 0) {
			fprintf(stderr, "%s\n", error.message);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(free_pointer) char *note = NULL;
	struct history_retention kept = history_retention_defaults;
	struct error error = { 0 };

	if (argc < 4)
		return 2;
	if (argc == 5)
		kept.bytes = strtoull(argv[4], NULL, 10);
	if (history_create(argv[2], &kept, &history, &note, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 2;
	}
	if (note)
		fprintf(stderr, "%s\n", note);
	if (strcmp(argv[1], "days") == 0)
		return write_days(history, strtoull(argv[3], NULL, 10));
	return write_ticks(history, strtoull(argv[3], NULL, 10));
}

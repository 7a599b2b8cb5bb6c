/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of a host that does not exist, one after the other: processes with threads whose
 * counters grow, one of which ends now and then while another begins.
 */
#ifndef MADE_TICKS_H
#define MADE_TICKS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/record/host_sample.h"
#include "model/snapshot/snapshot.h"

#define MADE_BOOT_ID "5d1c3a9e-0000-4000-8000-000000000001"
#define SECOND_NS UINT64_C(1000000000)

/* How large the host is. */
struct made_host {
	uint32_t processes, threads; /* threads of each */
	uint64_t begin_unix_ns, interval_ns;
};

static inline void made_check(int status)
{
	if (status < 0)
		abort();
}

static inline uint32_t made_text(struct snapshot *snapshot, const char *format, uint32_t number)
{
	char text[64];
	uint32_t id = 0;

	snprintf(text, sizeof(text), format, number);
	made_check(snapshot_intern(snapshot, text, strlen(text), &id));
	return id;
}

static inline void made_set(struct snapshot *snapshot, enum metric_id id, uint32_t row,
			    uint64_t value)
{
	made_check(snapshot_need_column(snapshot, id));
	snapshot_set(snapshot, id, row, value);
}

/* Every tenth process uses its CPU for a tenth of the time; the others are idle. */
static inline void made_process(struct snapshot *snapshot, const struct made_host *host, uint32_t i,
				uint64_t tick)
{
	/* Process 3 is another one every 7 ticks. */
	uint64_t life = i == 3 ? tick / 7 : 0;
	int32_t tgid = (int32_t)(1000 + i * 100);
	uint32_t process, row;

	made_check(snapshot_process(snapshot, tgid, &process));
	snapshot->processes[process] =
		(struct process){ .tgid = tgid,
				  .parent = 1,
				  .start_time_ns = SECOND_NS + life * 7 * host->interval_ns,
				  .pcomm = made_text(snapshot, "made-%" PRIu32, i % 20),
				  .cmdline = made_text(snapshot, "made --number %" PRIu32, i),
				  .user = made_text(snapshot, "nobody", 0) };
	made_set(snapshot, METRIC_rss_bytes, process, (uint64_t)(i + 1) << 20);
	made_set(snapshot, METRIC_nr_threads, process, host->threads);
	made_set(snapshot, METRIC_open_fds, process, 8 + (i % 10 ? 0 : tick % 5));
	made_set(snapshot, METRIC_uid, process, 65534);
	for (uint32_t j = 0; j < host->threads; j++) {
		struct task task = { .tid = tgid + (int32_t)j,
				     .process = process,
				     .start_time_ns = snapshot->processes[process].start_time_ns,
				     .comm = made_text(snapshot, "thread-%" PRIu32, j),
				     .cgroup = made_text(snapshot, "/made.slice", 0) };

		made_check(snapshot_add_task(snapshot, &task, &row));
		made_set(snapshot, METRIC_run_time_ns, row,
			 i % 10 || j ? 1000 * j : tick * (host->interval_ns / 10));
		made_set(snapshot, METRIC_read_bytes, row, 4096);
		made_set(snapshot, METRIC_write_bytes, row, i % 10 || j ? 0 : tick * 8192);
		made_set(snapshot, METRIC_voluntary_csw, row, i % 10 || j ? 7 : tick * 3);
	}
}

/* The snapshot of that tick, to be freed. */
static inline struct snapshot *made_snapshot(const struct made_host *host, uint64_t tick)
{
	struct snapshot *snapshot = NULL;

	made_check(snapshot_new(&snapshot));
	for (uint32_t i = 0; i < host->processes; i++)
		made_process(snapshot, host, i, tick);
	made_check(snapshot_set_fact_text(snapshot, FACT_boot_id, MADE_BOOT_ID));
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns,
				 host->begin_unix_ns + tick * host->interval_ns);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns,
				 100 * SECOND_NS + tick * host->interval_ns);
	made_check(
		snapshot_note_number(snapshot, SHEET_HOST, "pressure cpu some total", tick * 11));
	made_check(snapshot_finish(snapshot));
	made_check(snapshot_finish_sheets(snapshot));
	return snapshot;
}

static inline struct host_sample made_sample(const struct made_host *host, uint64_t tick)
{
	struct host_sample sample = { .unix_ns = host->begin_unix_ns + tick * host->interval_ns,
				      .recorder_pid = 4711 };

	host_sample_set(&sample, HOST_VALUE_load1, (double)(tick % 10));
	host_sample_set(&sample, HOST_VALUE_processes, host->processes);
	return sample;
}

#endif

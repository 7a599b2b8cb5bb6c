/* SPDX-License-Identifier: MIT */
/*
 * What the recorder itself could not do, counted: in the table `meta` of the store, and in a
 * sentence at the end.  Events that were not kept are events of their own, and ticks that were
 * missed are counted in the next one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "record/job/job_tracker.h"
#include "record/recorder_state.h"
#include "record/socket/server.h"
#include "record/strace_watch.h"
#include "store/history/history.h"
#include "trace/calls/calls.h"

static const struct {
	const char *key;   /* in `meta` */
	const char *words; /* for people */
} losses[RECORDER_LOSSES] = {
	{ "failed_samples", "samples that failed" },
	{ "failed_writes", "writes to the store that failed" },
	{ "failed_event_reads", "reads of events that failed" },
	{ "lost_lines", "JSON lines that could not be written" },
	{ "skipped_commands", "commands of --on-anomaly not started, because too many ran" },
	{ "failed_commands", "commands of --on-anomaly that failed" },
	{ "dropped_clients", "clients dropped or refused" },
	{ "failed_activity", "looks at activity that failed" },
	{ "missed_activity", "seconds without a look at activity, which came too late" },
	{ "dropped_rows", "rows dropped before their age, because the store was full" },
	{ "failed_syscalls", "reads of system calls that failed" },
	{ "lost_syscalls", "system calls for which the kernel had no room" },
	{ "lost_syscall_threads", "threads whose system calls were not seen, for lack of memory" },
	{ "untraced_processes", "processes that strace could not trace" },
	{ "lost_summaries", "summaries of strace that were lost" },
	{ "left_out_lines", "JSON lines left out, of users who wrote too many" },
	{ "lost_strace_rows", "rows of strace's summaries lost for lack of memory" },
	{ "lost_job_calls",
	  "processes whose last system calls are in no job, because too many ended" },
	{ "lost_detections",
	  "times that a process or an anomaly was left out, because there were too many" },
};

static void count_losses(const struct recorder *recorder, uint64_t ret[RECORDER_LOSSES])
{
	struct strace_losses straces = recorder_strace_losses(recorder);
	struct calls_losses lost = recorder_syscall_losses(recorder);
	const uint64_t counts[RECORDER_LOSSES] = {
		recorder->sample_fault.count,
		recorder->store_fault.count,
		recorder->events_fault.count,
		recorder->lines.lines.lost + recorder->lines.failures,
		recorder->hooks.skipped,
		recorder->hooks.failed,
		recorder->server ? server_dropped(recorder->server) : 0,
		recorder->activity_fault.count,
		recorder->has_activity ? recorder->activity_schedule.missed : 0,
		history_dropped_rows(recorder->history),
		recorder->syscalls_fault.count,
		lost.calls,
		lost.threads,
		straces.processes,
		straces.summaries,
		recorder->lines.shares.left_out,
		recorder->syscalls.lost_rows,
		job_tracker_lost_calls(recorder->jobs),
		recorder->undetected,
	};

	for (int i = 0; i < RECORDER_LOSSES; i++)
		ret[i] = counts[i];
}

void recorder_keep_losses(struct recorder *recorder)
{
	uint64_t counts[RECORDER_LOSSES];
	struct error error = { 0 };
	char number[32];

	count_losses(recorder, counts);
	for (int i = 0; i < RECORDER_LOSSES; i++) {
		if (counts[i] == recorder->losses[i])
			continue;
		snprintf(number, sizeof(number), "%" PRIu64, counts[i]);
		if (history_set_meta(recorder->history, losses[i].key, number, &error) == 0)
			recorder->losses[i] = counts[i];
	}
}

void recorder_say_losses(const struct recorder *recorder)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	uint64_t counts[RECORDER_LOSSES];

	count_losses(recorder, counts);
	for (int i = 0; i < RECORDER_LOSSES; i++)
		if (counts[i])
			text_format(&sentence, "%s%" PRIu64 " %s", sentence.length ? "; " : "",
				    counts[i], losses[i].words);
	if (sentence.length)
		recorder->options->note(text_string(&sentence));
}

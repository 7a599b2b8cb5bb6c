/* SPDX-License-Identifier: MIT */
/*
 * One tick: takes a snapshot, judges it, and keeps and shows it.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/anomaly/detector.h"
#include "analyze/anomaly/host_figures.h"
#include "analyze/anomaly/scope_figures.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "host/host.h"
#include "model/record/activity.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"
#include "record/job/job_tracker.h"
#include "record/recorder_state.h"
#include "record/socket/server.h"
#include "render/record/record_json.h"
#include "trace/life/lifecycle.h"

void recorder_tick_clear(struct recorder_tick *tick)
{
	snapshot_free(tick->snapshot);
	free(tick->cpu);
	free(tick->jobs);
	*tick = (struct recorder_tick){ 0 };
}

/* One that has ended is no member any more, but stays with its parent until that waits for it. */
static bool is_in_tree(const struct recorder *recorder, const struct snapshot *snapshot,
		       uint32_t row)
{
	const struct process *process = &snapshot->processes[row];
	int32_t parent = snapshot_parent(snapshot, row);

	return lifecycle_is_member(recorder->life, process->tgid, process->start_time_ns) ||
	       (parent && lifecycle_is_member(recorder->life, parent, 0));
}

/* Drops the tasks of the snapshot that do not belong to the tree that is recorded. */
static int keep_tree(struct recorder *recorder, struct snapshot *snapshot)
{
	CLEANUP(free_pointer) uint8_t *keep = calloc(snapshot->task_count + 1, 1);
	char scope[32];

	if (!keep)
		return -ENOMEM;
	snprintf(scope, sizeof(scope), "tree of %" PRId32, recorder->options->tree_pid);
	snapshot_set_fact_text(snapshot, FACT_filter, scope);
	for (uint32_t row = 0; row < snapshot->task_count; row++)
		keep[row] = is_in_tree(recorder, snapshot, snapshot->tasks[row].process);
	return snapshot_keep(snapshot, keep);
}

/* The second number of statm is what is in memory, in pages. */
static bool read_own_rss(const struct host *host, uint64_t *ret)
{
	char line[128];
	const char *cursor = line;
	uint64_t pages;

	if (!host_read_line(host->proc, "self/statm", line, sizeof(line)) ||
	    !scan_u64(&cursor, &pages))
		return false;
	cursor += *cursor == ' ';
	if (!scan_u64(&cursor, &pages))
		return false;
	*ret = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

/* What the recorder knows of itself, whether or not it is in the scope that is recorded. */
static void note_self(struct recorder *recorder, struct host_sample *sample)
{
	uint64_t now_ns = monotonic_ns(), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t rss;

	sample->recorder_pid = getpid();
	if (read_own_rss(recorder->host, &rss))
		host_sample_set(sample, HOST_VALUE_recorder_rss_bytes, (double)rss);
	if (recorder->cpu_read_ns && now_ns > recorder->cpu_read_ns)
		host_sample_set(sample, HOST_VALUE_recorder_cpu_percent,
				100.0 * (double)(cpu_ns - recorder->cpu_ns) /
					(double)(now_ns - recorder->cpu_read_ns));
	host_sample_set(sample, HOST_VALUE_recorder_uptime_seconds,
			floor((double)(now_ns - recorder->begin_ns) / 1e9));
	recorder->cpu_ns = cpu_ns;
	recorder->cpu_read_ns = now_ns;
}

static void add_self(struct host_sample *sample, const struct host_sample *self)
{
	sample->recorder_pid = self->recorder_pid;
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		if (host_sample_has(self, (enum host_value)i))
			host_sample_set(sample, (enum host_value)i, self->values[i]);
}

static void set_figures(struct recorder *recorder, struct recorder_tick *tick)
{
	const struct recorder_tick *before = &recorder->last;
	const struct scope_work work = {
		.before = before->snapshot,
		.now = tick->snapshot,
		.cpu_before = before->cpu,
		.cpu_now = tick->cpu,
		.ended_cpu_ns = ended_take(&recorder->ended, before, tick->snapshot),
	};

	host_figures(before->snapshot, tick->snapshot, &tick->sample);
	scope_cpu_figure(&work, &tick->sample);
}

/* Takes a sample into `last`; what was there becomes `previous`. */
static int take_sample(struct recorder *recorder, struct error *error)
{
	CLEANUP(recorder_tick_clear) struct recorder_tick tick = { 0 };
	struct host_sample self = { 0 };
	int status = sampling_take(recorder->sampling, &tick.snapshot, error);

	if (status < 0)
		return status;
	note_self(recorder, &self);
	/* Events up to now say which processes belong to the tree. */
	recorder_poll(recorder, tick.snapshot);
	if (recorder->options->tree_pid && recorder->life)
		status = keep_tree(recorder, tick.snapshot);
	if (status == 0)
		status = process_totals(tick.snapshot, METRIC_run_time_ns, &tick.cpu);
	if (status < 0)
		return error_set(error, status, "a sample was lost: %s", strerror(-status));
	set_figures(recorder, &tick);
	add_self(&tick.sample, &self);
	recorder_tick_clear(&recorder->previous);
	recorder->previous = recorder->last;
	recorder->last = tick;
	tick = (struct recorder_tick){ 0 };
	return 0;
}

struct process_figures recorder_figures(const struct recorder *recorder, uint32_t row)
{
	const struct recorder_tick *before = &recorder->previous, *now = &recorder->last;
	struct process_figures figures = { .unix_ns = now->sample.unix_ns };

	figures.has_cpu = before->snapshot &&
			  process_cpu_percent(before->snapshot, before->cpu, now->snapshot,
					      now->cpu, row, &figures.cpu_percent);
	figures.cpu_is_least = now->cpu[row].is_least;
	recorder_syscall_figures(recorder, &now->snapshot->processes[row], &figures);
	return figures;
}

/* Whether a line about the process would say anything new. */
static bool has_changed(const struct recorder *recorder, uint32_t row, double cpu)
{
	static const enum metric_id watched[] = { METRIC_rss_bytes, METRIC_nr_threads,
						  METRIC_open_fds };
	const struct snapshot *before = recorder->previous.snapshot;
	const struct snapshot *now = recorder->last.snapshot;
	int64_t old = before ? process_find_same(before, now, row) : -1;

	if (old < 0 || cpu > 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++) {
		uint64_t was = 0, is = 0;
		bool had = snapshot_get(before, watched[i], (uint32_t)old, &was);

		if (had != snapshot_get(now, watched[i], row, &is) || was != is)
			return true;
	}
	return false;
}

static void write_process_lines(struct recorder *recorder)
{
	const struct snapshot *snapshot = recorder->last.snapshot;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		struct process_figures figures = recorder_figures(recorder, row);
		struct json json;
		uint64_t uid;
		FILE *out;

		if (!has_changed(recorder, row, figures.has_cpu ? figures.cpu_percent : 0))
			continue;
		out = rotated_lines_begin_of(&recorder->lines,
					     snapshot_get(snapshot, METRIC_uid, row, &uid) ?
						     (int64_t)uid :
						     LINE_USER_UNKNOWN);
		if (!out)
			continue;
		json = json_line_writer(out);
		process_json(&json, snapshot, row, &figures, true);
		rotated_lines_end(&recorder->lines);
	}
}

/* Users whose lines were left out are named, with how many there were. */
static void write_left_out(struct recorder *recorder)
{
	struct life_event event = {
		.kind = LIFE_LOST,
		.unix_ns = recorder->last.sample.unix_ns,
		.details =
			"lines of this user were left out: they would have been more than half of "
			"a file in 10 minutes",
	};
	struct json json;
	int64_t uid;

	while (line_shares_take(&recorder->lines.shares, &uid, &event.lost)) {
		FILE *out = rotated_lines_begin(&recorder->lines);

		if (!out)
			return;
		event.present = uid == LINE_USER_UNKNOWN ? 0 : LIFE_HAS_UID;
		event.uid = (uint32_t)uid;
		json = json_line_writer(out);
		life_event_json(&json, &event, true);
		rotated_lines_end(&recorder->lines);
	}
}

static void write_lines(struct recorder *recorder)
{
	FILE *out = rotated_lines_begin(&recorder->lines);
	struct error error = { 0 };
	struct json json;

	if (out) {
		json = json_line_writer(out);
		host_sample_json(&json, &recorder->last.sample);
		rotated_lines_end(&recorder->lines);
		write_process_lines(recorder);
		write_left_out(recorder);
	}
	recorder_judge(recorder, &recorder->lines_fault, rotated_lines_flush(&recorder->lines),
		       &error, "JSON lines can be written");
}

static void leave_out(struct recorder *recorder)
{
	static const struct {
		enum budget_shed from;
		int source;
	} shed[] = {
		{ SHED_HEAPS, SOURCE_JEMALLOC },
		{ SHED_SCOPES, SOURCE_SCOPES },
		{ SHED_CGROUPS, SOURCE_CGROUP_FILES },
	};
	uint32_t without = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shed); i++)
		if (recorder->budget.shed >= shed[i].from)
			without |= 1u << shed[i].source;
	sampling_leave_out(recorder->sampling, without);
	recorder_shed_syscalls(recorder);
	recorder->schedule.interval_ns = recorder->options->interval_ns
					 << (recorder->budget.shed >= SHED_TICKS);
}

/*
 * The first tick looks at every program once; that says nothing about those to come.  Samples out of
 * turn since the tick before count with it.
 */
static void spend(struct recorder *recorder, uint64_t cost_ns, uint64_t threads)
{
	const struct host_sample *sample = &recorder->last.sample;
	bool has_rss = host_sample_has(sample, HOST_VALUE_recorder_rss_bytes);
	double rss = has_rss ? sample->values[HOST_VALUE_recorder_rss_bytes] : 0;

	/* What was freed is given back where it counts: one large tick would look like all others. */
	if (rss > (double)BUDGET_RSS_BYTES)
		malloc_trim(0);
	cost_ns += TAKE(recorder->burst_cost_ns, 0);
	if (recorder->ticks > 1 &&
	    budget_spent(&recorder->budget, cost_ns, threads, has_rss, (uint64_t)rss))
		leave_out(recorder);
}

/*
 * Rows of threads are dropped after the tick was judged, so that shedding them changes neither the
 * figures of the host nor what is an anomaly.  A tick that the store could not keep is counted there.
 */
static int keep_tick(struct recorder *recorder, uint64_t cost_ns, struct error *error)
{
	struct history_tick tick = {
		.snapshot = recorder->last.snapshot,
		.sample = &recorder->last.sample,
		.missed = recorder->missed,
		.cost_ns = cost_ns,
		.shed = budget_words(recorder->budget.shed == SHED_NOTHING ?
					     recorder->activity_budget.shed :
					     recorder->budget.shed),
	};
	const struct activity *activity = sampling_activity(recorder->sampling);
	int status = 0, committed;

	tick.cost_ns -= activity ? activity->walk_ns / 2 : 0;
	if (recorder->budget.shed >= SHED_THREADS)
		status = snapshot_fold_threads(recorder->last.snapshot);
	if (status < 0)
		recorder->missed++;
	else
		status = history_add_tick(recorder->history, &tick, error);
	if (status == 0)
		status = recorder_keep_syscalls(recorder, error);
	if (status == 0)
		status = job_tracker_keep(recorder->jobs, error);
	if (status == 0 && activity)
		status = recorder_keep_activity(recorder, clock_ns(CLOCK_PROCESS_CPUTIME_ID), true,
						error);
	recorder_keep_losses(recorder);
	committed = history_commit(recorder->history, error);
	recorder->pending = 0;
	recorder->commit_due.deadline_ns = LOOP_NEVER;
	if (status == 0)
		status = committed;
	if (status == 0)
		recorder->missed = 0;
	return status;
}

static void expire(struct recorder *recorder)
{
	uint64_t unix_ns = clock_ns(CLOCK_REALTIME);
	enum expiry_answer answer =
		expiry_ask(&recorder->expiry, clock_ns(CLOCK_BOOTTIME), unix_ns);
	struct error error = { 0 };

	if (answer == EXPIRY_CLOCK_WAS_SET)
		recorder->options->note("the clock was set: nothing is dropped by its age before "
					"an hour has passed");
	if (answer != EXPIRY_NOW)
		return;
	recorder_judge(recorder, &recorder->store_fault,
		       history_expire(recorder->history, unix_ns, &error), &error,
		       "the store can be written");
}

/* Recording ends with the tree that is recorded. */
static bool is_over(const struct recorder *recorder)
{
	return recorder->options->tree_pid && recorder->last.snapshot->process_count == 0;
}

/* A store that was damaged has been set aside; the new one knows nothing of our losses. */
static void say_renewal(struct recorder *recorder)
{
	CLEANUP(free_pointer) char *note = history_take_note(recorder->history);

	if (!note)
		return;
	memset(recorder->losses, 0, sizeof(recorder->losses));
	recorder->options->note(note);
}

static void judge_anomalies(struct recorder *recorder)
{
	struct error error = { 0 };
	int status = detector_take(recorder->detector, recorder->last.snapshot,
				   &recorder->last.sample, recorder_take_anomaly, recorder);

	recorder->undetected += detector_lost(recorder->detector);
	recorder_judge(recorder, &recorder->anomaly_fault, status, &error,
		       "anomalies can be found");
}

void recorder_take_tick(void *context)
{
	struct recorder *recorder = context;
	uint64_t begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), threads;
	struct error error = { 0 };
	int status;

	recorder_plan_activity(recorder);
	status = take_sample(recorder, &error);
	recorder_judge(recorder, &recorder->sample_fault, status, &error, "samples can be taken");
	recorder->missed += schedule_taken(&recorder->schedule, monotonic_ns());
	recorder->tick_due.deadline_ns = recorder->schedule.next_ns;
	if (status < 0) {
		recorder->missed++;
		return;
	}
	recorder->ticks++;
	recorder_note_gpu(recorder);
	recorder_take_syscalls(recorder);
	threads = recorder->last.snapshot->task_count;
	job_tracker_take_tick(recorder->jobs, &recorder->last.sample, &recorder->last.jobs);
	recorder->last.sample.jobs = recorder->last.jobs;
	judge_anomalies(recorder);
	status = keep_tick(recorder, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns, &error);
	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
	say_renewal(recorder);
	write_lines(recorder);
	server_publish_sample(recorder->server, &recorder->last.sample);
	spend(recorder, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns, threads);
	expire(recorder);
	if (is_over(recorder))
		loop_stop(&recorder->loop);
}

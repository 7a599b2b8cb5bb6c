/* SPDX-License-Identifier: MIT */
/*
 * Lists tasks by walking proc: all of them, or those that the task iterator has missed.
 *
 * The walk adds a row for each task, and a job for each process; then the jobs are read
 * (proc_reader.h), and rows of tasks that have ended by then are dropped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/order.h"
#include "base/error.h"
#include "base/text.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"
#include "collect/proc/proc_parse.h"
#include "collect/proc/proc_reader.h"

struct walk {
	struct capture *capture;
	size_t known_tasks; /* rows that existed before */
	struct proc_numbers tgids, tids;
	struct proc_buffer buffer;
	ARRAY_OF(struct proc_job) jobs;
	ARRAY_OF(uint64_t) known; /* process row and tid of the rows that existed, ascending */
};

static void walk_clear(struct walk *walk)
{
	proc_numbers_clear(&walk->tgids);
	proc_numbers_clear(&walk->tids);
	proc_buffer_clear(&walk->buffer);
	array_free(&walk->jobs);
	array_free(&walk->known);
}

static void walk_begin(struct walk *walk, struct capture *capture)
{
	*walk = (struct walk){
		.capture = capture,
		.known_tasks = capture->snapshot->task_count,
	};
}

static int list_processes(struct walk *walk)
{
	return proc_list(walk->capture->host->proc, ".", &walk->tgids);
}

static uint64_t known_key(uint32_t process, int32_t tid)
{
	return (uint64_t)process << 32 | (uint32_t)tid;
}

static bool is_known(const struct walk *walk, uint32_t process, int32_t tid)
{
	uint64_t key = known_key(process, tid);

	return array_find(&walk->known, &key, compare_u64);
}

/* Adds rows for the listed threads that have none, and a job to read them. */
static int add_threads(struct walk *walk, uint32_t process, bool whole)
{
	struct snapshot *snapshot = walk->capture->snapshot;
	struct proc_job job = {
		.process = process,
		.first_task = (uint32_t)snapshot->task_count,
		.whole = whole,
	};

	for (size_t i = 0; i < walk->tids.list.count; i++) {
		struct task task = { .tid = walk->tids.list.data[i], .process = process };
		uint32_t row;

		if (is_known(walk, process, task.tid))
			continue;
		snapshot->tally.tids_walked++;
		if (snapshot_add_task(snapshot, &task, &row) < 0)
			return -ENOMEM;
		job.task_count++;
	}
	return job.task_count ? array_append(&walk->jobs, job) : 0;
}

/* Counts a task that could not be read. */
static void lose_task(struct capture *capture, enum source_id source, int status)
{
	capture->snapshot->tally.tids_walked++;
	capture->snapshot->tally.vanished += is_vanished(status);
	source_count(&capture->tallies[source], status);
}

static int add_process(struct walk *walk, int32_t tgid)
{
	struct capture *capture = walk->capture;
	int status = proc_list_threads(capture->host->proc, tgid, &walk->tids);
	uint32_t process;

	if (status == -ENOMEM)
		return status;
	if (status < 0 || !walk->tids.list.count) {
		lose_task(capture, SOURCE_STAT, status < 0 ? status : -ESRCH);
		return 0;
	}
	if (snapshot_process(capture->snapshot, tgid, &process) < 0)
		return -ENOMEM;
	return add_threads(walk, process, true);
}

/*
 * Reads the jobs and drops the rows that are not to be kept.  *ret_kept is the number of new rows
 * that are left.
 */
static int read_jobs(struct walk *walk, size_t *ret_kept)
{
	struct snapshot *snapshot = walk->capture->snapshot;
	size_t rows = snapshot->task_count;
	CLEANUP(free_pointer) uint8_t *keep = malloc(rows + 1);
	size_t dropped = 0;
	int status;

	if (!keep)
		return -ENOMEM;
	memset(keep, 1, rows);
	status = proc_reader_run(walk->capture, walk->jobs.data, walk->jobs.count, keep);
	if (status < 0)
		return status;
	for (size_t row = walk->known_tasks; row < rows; row++)
		dropped += !keep[row];
	*ret_kept = rows - walk->known_tasks - dropped;
	return dropped ? snapshot_keep(snapshot, keep) : 0;
}

static int add_all(struct walk *walk)
{
	for (size_t i = 0; i < walk->tgids.list.count; i++) {
		int32_t tgid = walk->tgids.list.data[i];

		if (capture_wants_process(walk->capture, tgid) && add_process(walk, tgid) < 0)
			return -ENOMEM;
	}
	return 0;
}

int procfs_list(struct capture *capture)
{
	struct error *error = capture->error;
	CLEANUP(walk_clear) struct walk walk;
	size_t kept;
	int status;

	walk_begin(&walk, capture);
	status = list_processes(&walk);
	if (status < 0)
		return error_set(error, status, "proc cannot be listed: %s", strerror(-status));
	if (!walk.tgids.list.count)
		return error_set(error, -ENOENT, "proc has no processes: is it mounted?");
	status = add_all(&walk);
	if (status == 0)
		status = read_jobs(&walk, &kept);
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

/* Counts the rows of each process, to compare with the number of threads that it reports. */
static uint32_t *count_rows(const struct snapshot *snapshot)
{
	uint32_t *counts = calloc(snapshot->process_count + 1, sizeof(*counts));

	for (size_t row = 0; counts && row < snapshot->task_count; row++)
		counts[snapshot->tasks[row].process]++;
	return counts;
}

/* Notes which tasks have rows.  Done only when there is a gap, since it takes time. */
static int know_rows(struct walk *walk)
{
	const struct snapshot *snapshot = walk->capture->snapshot;

	if (walk->known.count || !walk->known_tasks)
		return 0;
	if (array_reserve(&walk->known, walk->known_tasks) < 0)
		return -ENOMEM;
	for (size_t row = 0; row < walk->known_tasks; row++)
		walk->known.data[row] =
			known_key(snapshot->tasks[row].process, snapshot->tasks[row].tid);
	walk->known.count = walk->known_tasks;
	array_sort(&walk->known, compare_u64);
	return 0;
}

/*
 * Lists the threads of a process that has a row; none when its pid belongs to another process now.
 */
static int list_again(struct walk *walk, const struct process *process)
{
	struct capture *capture = walk->capture;
	CLEANUP(close_fd) int dir = proc_open_number(capture->host->proc, process->tgid);
	int status = dir < 0 ? dir : process_check(capture, dir, process, &walk->buffer);

	walk->tids.list.count = 0;
	if (status == 0)
		status = proc_list(dir, "task", &walk->tids);
	if (status < 0) {
		walk->tids.list.count = 0;
		source_count(&capture->tallies[SOURCE_STAT], status);
	}
	return status == -ENOMEM ? status : 0;
}

static int add_missing_threads(struct walk *walk)
{
	struct snapshot *snapshot = walk->capture->snapshot;
	CLEANUP(free_pointer) uint32_t *counts = count_rows(snapshot);
	int status = counts ? 0 : -ENOMEM;

	for (uint32_t row = 0; status == 0 && row < snapshot->process_count; row++) {
		uint64_t threads;

		if (snapshot_get(snapshot, METRIC_nr_threads, row, &threads) &&
		    threads <= counts[row])
			continue;
		status = know_rows(walk);
		if (status == 0)
			status = list_again(walk, &snapshot->processes[row]);
		if (status == 0)
			status = add_threads(walk, row, false);
	}
	return status;
}

/*
 * Whether the leader of a process is in the cgroup that was asked for.  All processes outside of
 * it look like gaps, so their threads are not listed.
 */
static bool is_inside(struct walk *walk, int32_t tgid)
{
	struct capture *capture = walk->capture;
	const char *path;
	ssize_t status;
	char name[32];

	if (!capture->options->cgroup)
		return true;
	snprintf(name, sizeof(name), "%" PRId32 "/cgroup", tgid);
	status = proc_read_cgroup(capture, capture->host->proc, name, &walk->buffer, &path);
	if (status < 0)
		lose_task(capture, SOURCE_CGROUP, (int)status);
	return status >= 0 && path && capture_wants_cgroup(capture, path);
}

static int add_missing_processes(struct walk *walk)
{
	const struct capture *capture = walk->capture;

	for (size_t i = 0; i < walk->tgids.list.count; i++) {
		int32_t tgid = walk->tgids.list.data[i];

		if (snapshot_find_process(capture->snapshot, tgid) < 0 &&
		    capture_wants_process(capture, tgid) && is_inside(walk, tgid) &&
		    add_process(walk, tgid) < 0)
			return -ENOMEM;
	}
	return 0;
}

uint64_t procfs_count_tasks(const struct host *host)
{
	char line[64];
	const char *slash;
	uint64_t count;

	if (!host->live || !host_read_line(host->proc, "loadavg", line, sizeof(line)))
		return 0;
	slash = strchr(line, '/');
	return slash && slash++ && scan_u64(&slash, &count) ? count : 0;
}

/* Whether every task of the kernel has a row: nothing was started or ended, and none is missing. */
static bool has_all_tasks(const struct capture *capture)
{
	return capture->tasks_before && capture->tasks_before == capture->snapshot->task_count &&
	       capture->tasks_before == procfs_count_tasks(capture->host);
}

/* Lists the parents of listed processes that were not listed themselves. */
static int list_parents(struct walk *walk)
{
	const struct snapshot *snapshot = walk->capture->snapshot;
	int status = 0;

	for (uint32_t row = 0; row < snapshot->process_count && status == 0; row++) {
		uint64_t parent;

		if (snapshot_get(snapshot, METRIC_ppid, row, &parent) && parent &&
		    snapshot_find_process(snapshot, (int32_t)parent) < 0 &&
		    !proc_numbers_have(&walk->tgids, (int32_t)parent))
			status = array_append(&walk->tgids.list, (int32_t)parent);
	}
	return status;
}

/*
 * Adds the processes that the iterator did not list.  proc is slow to list processes, so it is
 * asked only if tasks are still missing after the parents of others were added.
 */
static int find_missing_processes(struct walk *walk)
{
	const struct capture *capture = walk->capture;
	int status = capture->tasks_before ? list_parents(walk) : 0;

	if (status == 0)
		status = add_missing_processes(walk);
	if (status < 0 || has_all_tasks(capture))
		return status;
	status = list_processes(walk);
	return status < 0 ? status : add_missing_processes(walk);
}

int procfs_fill_gaps(struct capture *capture)
{
	CLEANUP(walk_clear) struct walk walk;
	size_t kept = 0;
	int status;

	walk_begin(&walk, capture);
	status = add_missing_threads(&walk);
	if (status == 0)
		status = find_missing_processes(&walk);
	if (status == 0 && walk.jobs.count)
		status = read_jobs(&walk, &kept);
	capture->snapshot->tally.gap_filled += kept;
	return status;
}

/* A leader is never younger than its threads: a younger one belongs to another process. */
static int name_leader(struct capture *capture, const struct task *task, struct process *process,
		       struct proc_buffer *buffer)
{
	struct proc_identity identity;
	char path[64];
	ssize_t status;
	uint64_t start_ns;

	snprintf(path, sizeof(path), "%" PRId32 "/task/%" PRId32 "/stat", process->tgid,
		 process->tgid);
	status = proc_read(capture->host->proc, path, buffer);
	if (status >= 0 && !proc_parse_identity(buffer->data, &identity))
		status = -EBADMSG;
	if (status < 0) {
		source_count(&capture->tallies[SOURCE_STAT], status);
		return status == -ENOMEM ? -ENOMEM : 0;
	}
	start_ns = metric_from_raw(identity.start_ticks, RAW_TICKS, &capture->scale);
	if (start_ns > task->start_time_ns)
		return 0;
	process->start_time_ns = start_ns;
	return snapshot_intern(capture->snapshot, identity.comm, identity.comm_length,
			       &process->pcomm);
}

int procfs_name_leaders(struct capture *capture)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	struct snapshot *snapshot = capture->snapshot;
	int status = 0;

	for (size_t row = 0; row < snapshot->task_count && status == 0; row++) {
		const struct task *task = &snapshot->tasks[row];
		struct process *process = &snapshot->processes[task->process];

		if (process->start_time_ns == 0 && process->pcomm == 0)
			status = name_leader(capture, task, process, &buffer);
	}
	return status;
}

/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc_task.h"

#include <string.h>

#include "base/cleanup.h"

/* clang-format off */
const struct proc_file_info proc_files[PROC_FILES] = {
	[PROC_STATUS] = { "status", SOURCE_STATUS, PLACE_STATUS, 0, proc_parse_keyed,
			  "this kernel has no status files" },
	[PROC_SCHEDSTAT] = { "schedstat", SOURCE_SCHEDSTAT, PLACE_SCHEDSTAT, 0, proc_parse_row,
			     "this kernel was built without CONFIG_SCHED_INFO" },
	[PROC_SCHED] = { "sched", SOURCE_SCHED, PLACE_SCHED, 0, proc_parse_sched,
			 "this kernel was built without CONFIG_SCHED_DEBUG" },
	[PROC_IO] = { "io", SOURCE_IO, PLACE_IO, PLACE_GROUP_IO, proc_parse_keyed,
		      "this kernel was built without CONFIG_TASK_IO_ACCOUNTING" },
	[PROC_STAT] = { "stat", SOURCE_STAT, PLACE_STAT, PLACE_GROUP_STAT, proc_parse_stat,
			"this kernel has no stat files" },
};
/* clang-format on */

enum task_result {
	TASK_KEPT,
	TASK_GONE,
	TASK_OUTSIDE, /* it is not in the cgroup that was asked for */
	TASK_REFUSED, /* it exists, but its stat cannot be read */
	TASK_NO_MEMORY,
};

static enum task_result result_of(int64_t status)
{
	if (status == -ENOMEM)
		return TASK_NO_MEMORY;
	return is_vanished((int)status) ? TASK_GONE : TASK_REFUSED;
}

void proc_reader_clear(struct proc_reader *reader)
{
	proc_buffer_clear(&reader->buffer);
	text_free(&reader->comm.text);
	text_free(&reader->cgroup.text);
	text_free(&reader->cpus.text);
}

int proc_intern(struct proc_reader *reader, struct proc_interned *last, const char *text,
		size_t length, uint32_t *ret)
{
	struct proc_context *context = reader->context;
	int status;

	if (last->id && last->text.length == length && memcmp(last->text.data, text, length) == 0) {
		*ret = last->id;
		return 0;
	}
	pthread_mutex_lock(&context->strings);
	status = snapshot_intern(context->capture->snapshot, text, length, ret);
	pthread_mutex_unlock(&context->strings);
	if (status < 0)
		return status;
	text_clear(&last->text);
	text_append(&last->text, text, length);
	last->id = last->text.failed ? 0 : *ret;
	return 0;
}

void proc_set_outcome(struct proc_reader *reader, enum source_id source, int64_t status)
{
	reader->outcomes[source] = status;
	reader->tried |= 1u << source;
}

/*
 * Counts a missing file.  The task lives, so the kernel, or the recording, does not have the file.
 */
static void count_missing(struct proc_reader *reader, enum source_id source, int error)
{
	struct source_tally *tally = &reader->tallies[source];
	bool live = reader->context->capture->host->live;

	tally->failed++;
	tally->error = error;
	if (!live)
		tally->reason = NOT_RECORDED;
	for (int file = 0; live && error == ENOENT && file < PROC_FILES; file++) {
		if (proc_files[file].source != source)
			continue;
		tally->reason = proc_files[file].missing;
		atomic_store(&reader->context->missing[file], true);
	}
}

static void count_outcomes(struct proc_reader *reader)
{
	for (uint32_t tried = reader->tried; tried; tried &= tried - 1) {
		int source = __builtin_ctz(tried);
		int64_t status = reader->outcomes[source];

		if (is_vanished((int)status))
			count_missing(reader, source, (int)-status);
		else
			source_count(&reader->tallies[source], status);
		if (source == SOURCE_AFFINITY && status < 0)
			reader->tallies[source].reason = proc_no_cpus_reason((int)status);
	}
	reader->tally.negative_dotted_values += reader->negative;
	reader->tally.discarded_values += reader->discarded;
}

/* The kernel shows a negative id for a task that is just being destroyed. */
static bool is_possible(const struct metric *metric, uint64_t value)
{
	return metric->unit != UNIT_ID || (int64_t)value >= 0;
}

void proc_store_item(struct proc_reader *reader, const struct proc_item *item, uint64_t raw,
		     uint32_t row)
{
	struct capture *capture = reader->context->capture;
	uint64_t value = metric_from_raw(raw, item->raw, &capture->scale);

	if (is_possible(&metrics[item->id], value))
		snapshot_set(capture->snapshot, item->id, row, value);
	else
		reader->discarded++;
}

static void store_values(struct proc_reader *reader, const struct proc_plan *plan,
			 const struct proc_job *job, uint32_t row, bool speaks)
{
	const struct proc_values *values = &reader->values;

	for (uint64_t bits = values->present & plan->own; bits; bits &= bits - 1) {
		int i = __builtin_ctzll(bits);
		const struct proc_item *item = &plan->items[i];

		if (metrics[item->id].scope == METRIC_OF_THREAD)
			proc_store_item(reader, item, values->raw[i], row);
		else if (speaks)
			proc_store_item(reader, item, values->raw[i], job->process);
	}
}

static void take_values(struct proc_reader *reader, enum proc_file file, const struct proc_job *job,
			uint32_t row, bool speaks)
{
	const struct proc_plan *plan = &reader->context->plans[file];

	proc_files[file].parse(reader->buffer.data, plan, &reader->values);
	reader->negative += reader->values.negative;
	store_values(reader, plan, job, row, speaks);
	if (plan->group)
		proc_group_add(reader, file);
}

bool proc_is_read(const struct proc_context *context, enum proc_file file)
{
	return context->plans[file].count && !atomic_load(&context->missing[file]);
}

ssize_t proc_read_cgroup(const struct capture *capture, int dir, const char *name,
			 struct proc_buffer *buffer, const char **ret_path)
{
	ssize_t status = proc_read(dir, name, buffer);
	size_t length;

	if (status < 0)
		return status;
	*ret_path = cgroup_path(buffer->data, &capture->host->cgroup, &length);
	if (*ret_path)
		buffer->data[*ret_path - buffer->data + (ptrdiff_t)length] = '\0';
	return status;
}

static enum task_result read_cgroup(struct proc_reader *reader, int dir, struct task *task)
{
	const struct capture *capture = reader->context->capture;
	const char *path;
	int64_t status;

	if (!reader->context->wants_cgroup)
		return TASK_KEPT;
	status = proc_read_cgroup(capture, dir, "cgroup", &reader->buffer, &path);
	proc_set_outcome(reader, SOURCE_CGROUP, status);
	if (status < 0)
		return capture->options->cgroup ? result_of(status) : TASK_KEPT;
	if (!path)
		return capture->options->cgroup ? TASK_OUTSIDE : TASK_KEPT;
	if (!capture_wants_cgroup(capture, path))
		return TASK_OUTSIDE;
	if (proc_intern(reader, &reader->cgroup, path, strlen(path), &task->cgroup) < 0)
		return TASK_NO_MEMORY;
	return TASK_KEPT;
}

static void read_files(struct proc_reader *reader, int dir, const struct proc_job *job,
		       uint32_t row, bool speaks)
{
	int32_t tid = reader->context->capture->snapshot->tasks[row].tid;
	bool cpus_missing = proc_needs_cpus(reader, tid, row);

	for (int file = 0; file < PROC_STAT; file++) {
		int64_t status;

		if (!proc_is_read(reader->context, file))
			continue;
		status = proc_read(dir, proc_files[file].name, &reader->buffer);
		proc_set_outcome(reader, proc_files[file].source, status);
		if (status >= 0)
			take_values(reader, file, job, row, speaks);
		if (file != PROC_STATUS || !cpus_missing)
			continue;
		if (status >= 0)
			status = proc_find_cpus(reader, row);
		if (status < 0)
			proc_set_outcome(reader, SOURCE_AFFINITY, status);
	}
}

/* Counts a task of which nothing can be read. */
static enum task_result refuse(struct proc_reader *reader, int64_t status)
{
	proc_set_outcome(reader, SOURCE_STAT, status);
	for (int file = 0; reader->context->is_listed && file < PROC_FILES; file++)
		if (proc_is_read(reader->context, file))
			proc_set_outcome(reader, proc_files[file].source, status);
	return result_of(status);
}

static enum task_result read_identity(struct proc_reader *reader, int dir,
				      struct proc_identity *ret)
{
	int64_t status = proc_read(dir, proc_files[PROC_STAT].name, &reader->buffer);

	if (status == 0)
		return TASK_GONE; /* the task ended while it was recorded */
	if (status > 0 && !proc_parse_identity(reader->buffer.data, ret))
		status = -EBADMSG;
	if (status < 0)
		return refuse(reader, status);
	proc_set_outcome(reader, SOURCE_STAT, status);
	return TASK_KEPT;
}

static uint64_t start_time_ns(const struct proc_reader *reader,
			      const struct proc_identity *identity)
{
	return metric_from_raw(identity->start_ticks, RAW_TICKS, &reader->context->capture->scale);
}

/* Checks that the directory belongs to the task that the iterator listed. */
static enum task_result check_identity(struct proc_reader *reader, int dir, const struct task *task)
{
	struct proc_identity identity;
	enum task_result result = read_identity(reader, dir, &identity);

	if (result == TASK_KEPT && start_time_ns(reader, &identity) != task->start_time_ns)
		return TASK_GONE;
	return result;
}

static enum task_result name_task(struct proc_reader *reader, const struct proc_identity *identity,
				  struct task *task)
{
	task->start_time_ns = start_time_ns(reader, identity);
	if (proc_intern(reader, &reader->comm, identity->comm, identity->comm_length, &task->comm) <
	    0)
		return TASK_NO_MEMORY;
	return TASK_KEPT;
}

/*
 * The values of a process are the same in the files of all its threads.  They are taken from its
 * leader, or from a thread inside the cgroup when the leader is outside.
 */
static bool speaks_for_process(const struct proc_reader *reader, const struct proc_job *job,
			       bool is_leader)
{
	return is_leader ||
	       (job->whole && reader->context->capture->options->cgroup && !reader->leader_spoke);
}

/* A new row gets its names; one that the iterator made has them. */
static enum task_result finish_task(struct proc_reader *reader, int dir, struct task *task)
{
	struct proc_identity identity;
	enum task_result result = read_identity(reader, dir, &identity);

	if (result != TASK_KEPT || reader->context->is_listed)
		return result;
	return name_task(reader, &identity, task);
}

static void keep_task(struct proc_reader *reader, struct process *process, struct task *task,
		      uint32_t row)
{
	const struct capture *capture = reader->context->capture;

	/* A v1 hierarchy shows every ended task at its root. */
	if (task_has_ended(capture->snapshot, row) && capture->host->cgroup.version == 1)
		task->cgroup = 0;
	if (task->tid != process->tgid)
		return;
	process->pcomm = task->comm;
	process->start_time_ns = task->start_time_ns;
}

static enum task_result read_task(struct proc_reader *reader, int tasks, const struct proc_job *job,
				  uint32_t row)
{
	struct snapshot *snapshot = reader->context->capture->snapshot;
	struct process *process = &snapshot->processes[job->process];
	struct task *task = &snapshot->tasks[row];
	bool is_leader = task->tid == process->tgid, is_listed = reader->context->is_listed;
	bool speaks = speaks_for_process(reader, job, is_leader);
	CLEANUP(close_fd) int dir = proc_open_number(tasks, task->tid);
	enum task_result result;

	if (dir < 0)
		return refuse(reader, dir);
	result = is_listed ? check_identity(reader, dir, task) : read_cgroup(reader, dir, task);
	if (result != TASK_KEPT)
		return result;
	read_files(reader, dir, job, row, speaks);
	result = finish_task(reader, dir, task);
	if (result != TASK_KEPT)
		return result;
	if (proc_is_read(reader->context, PROC_STAT))
		take_values(reader, PROC_STAT, job, row, speaks);
	if (!is_listed)
		keep_task(reader, process, task, row);
	reader->leader_spoke |= is_leader;
	return TASK_KEPT;
}

/* Counts the result of a task; false when its row is not kept. */
static bool end_task(struct proc_reader *reader, uint32_t row, enum task_result result)
{
	struct proc_context *context = reader->context;

	if (!context->is_listed)
		context->keep[row] = result == TASK_KEPT;
	if (result == TASK_KEPT || result == TASK_REFUSED)
		count_outcomes(reader);
	if (result == TASK_GONE)
		*(context->is_listed ? &reader->tasks_ended : &reader->tally.vanished) += 1;
	if (result == TASK_NO_MEMORY)
		reader->status = -ENOMEM;
	return result == TASK_KEPT;
}

static void begin_task(struct proc_reader *reader)
{
	reader->tried = 0;
	reader->negative = 0;
	reader->discarded = 0;
}

/*
 * Opens the task directory.  If threads are added to a known process, checks that it is still the
 * same.
 */
static int open_tasks(struct proc_reader *reader, const struct proc_job *job, int process)
{
	const struct capture *capture = reader->context->capture;
	const struct process *known = &capture->snapshot->processes[job->process];
	int status = process;

	if (status >= 0 && !job->whole)
		status = process_check(capture, process, known, &reader->buffer);
	return status < 0 ? status : proc_open(process, "task");
}

bool proc_read_job(struct proc_reader *reader, const struct proc_job *job)
{
	const struct capture *capture = reader->context->capture;
	bool split = job->whole && reader->context->wants_group;
	int32_t tgid = capture->snapshot->processes[job->process].tgid;
	CLEANUP(close_fd) int process = proc_open_number(capture->host->proc, tgid);
	CLEANUP(close_fd) int tasks = open_tasks(reader, job, process);

	if (split && tasks >= 0)
		proc_group_begin(reader, process);
	reader->leader_spoke = false;
	for (uint32_t i = 0; i < job->task_count && reader->status == 0; i++) {
		uint32_t row = job->first_task + i;
		enum task_result result;

		begin_task(reader);
		result = tasks < 0 ? refuse(reader, tasks) : read_task(reader, tasks, job, row);
		split &= end_task(reader, row, result);
	}
	if (split && tasks >= 0)
		proc_group_end(reader, job, process);
	return reader->status == 0;
}

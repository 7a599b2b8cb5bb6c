/* SPDX-License-Identifier: MIT */
/*
 * Restores a run from its snapshot.  The file may come from a stranger: impossible values are left
 * out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "model/run/run_profile.h"
#include "model/run/run_records.h"
#include "model/run/run_sheets.h"
#include "model/run/run_snapshot.h"
#include "model/run/words.h"

/*
 * Bounds what a file can make us keep: a thread or a call takes twenty times as much memory here
 * as in the file.
 */
#define THREADS_MAX (128 * 1024)
#define CALLS_MAX (512 * 1024)
#define NAMES_MAX 4096 /* names of calls in one table: more than any kernel has */

struct restorer {
	const struct snapshot *snapshot;
	struct run *run;
	struct tree_process **processes; /* by row; NULL: the tree did not keep it */
	struct tree_thread **threads;	 /* by row, live threads only; NULL: not one of these */
	bool *is_restored;		 /* by row: a record of that thread was read */
	size_t thread_count;		 /* of the live threads */
};

static uint64_t note_of(const struct snapshot *snapshot, const char *name, uint64_t otherwise)
{
	uint64_t value;

	return column_get(sheet_find(&snapshot->sheets[SHEET_RUN], name), 0, &value) ==
			       CELL_NUMBER ?
		       value :
		       otherwise;
}

static void read_amounts(const struct snapshot *snapshot, const char *prefix, struct amounts *ret)
{
	char name[SHEET_NAME_SIZE];
	uint64_t value;

	for (int i = 0; i < AMOUNT_COUNT; i++) {
		snprintf(name, sizeof(name), "%s %s", prefix, metrics[amount_metrics[i]].name);
		if (column_get(sheet_find(&snapshot->sheets[SHEET_RUN], name), 0, &value) ==
		    CELL_NUMBER)
			amounts_set(ret, i, value);
	}
}

static void read_row_amounts(const struct snapshot *snapshot, uint32_t row, struct amounts *ret)
{
	uint64_t value;

	for (int i = 0; i < AMOUNT_COUNT; i++)
		if (snapshot_get(snapshot, amount_metrics[i], row, &value))
			amounts_set(ret, i, value);
}

static int restore_command(struct run *run, const char *text)
{
	CLEANUP(text_free) struct text word = { 0 };
	ARRAY_OF(char *) words = { 0 };
	int status = 0;

	while (status == 0 && words_next(&text, &word)) {
		char *copy = arena_copy(&run->arena, text_string(&word), word.length);

		status = copy && !word.failed ? array_append(&words, copy) : -ENOMEM;
	}
	run->command = arena_alloc(&run->arena, (words.count + 1) * sizeof(char *));
	if (run->command && words.count)
		memcpy(run->command, words.data, words.count * sizeof(char *));
	array_free(&words);
	return run->command ? status : -ENOMEM;
}

/* An older file has only the first of several. */
static int restore_pids(struct run *run, const char *text)
{
	CLEANUP(text_free) struct text word = { 0 };
	ARRAY_OF(int32_t) pids = { 0 };
	uint64_t number;
	int status = 0;

	while (status == 0 && words_next(&text, &word))
		if (parse_u64(text_string(&word), &number) && number && number <= INT32_MAX)
			status = array_append(&pids, (int32_t)number);
	if (status == 0 && pids.count)
		status = run_set_pids(run, pids.data, pids.count);
	array_free(&pids);
	return word.failed ? -ENOMEM : status;
}

/* A run that was saved without its host has no kernel. */
static int restore_host(struct run *run, const struct snapshot *snapshot)
{
	if (!snapshot->facts[FACT_kernel_release].present)
		return 0;
	return snapshot_new(&run->host) < 0 ? -ENOMEM : run_copy_host(run->host, snapshot);
}

static int restore_about(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	struct run *run = restorer->run;
	uint64_t end = 0;
	int status = 0;

	run->mode = strcmp(snapshot->facts[FACT_recording].text, "attach") == 0 ? RUN_ATTACH :
										  RUN_COMMAND;
	if (snapshot->facts[FACT_command].present)
		status = (run->mode == RUN_COMMAND ? restore_command : restore_pids)(
			run, snapshot->facts[FACT_command].text);
	for (size_t i = 0; i < snapshot->source_count && status == 0; i++) {
		const struct source_report *source = &snapshot->sources[i];

		status = run_add_source(run, source->name, source->state, source->reason);
	}
	if (status < 0 && status != -ENOSPC)
		return status;
	if (restore_host(run, snapshot) < 0)
		return -ENOMEM;
	if (!snapshot->sheets[SHEET_RUN].row_count)
		return 0;
	if (record_read(snapshot, &run_record, 0, &run->arena, run) < 0 ||
	    record_read(snapshot, &tree_record, 0, &run->arena, run->tree) < 0)
		return -ENOMEM;
	if (run_restore_profile(snapshot, run) < 0 || run_restore_past(snapshot, run) < 0)
		return -ENOMEM;
	run_fields_read(snapshot, run);
	if (column_get(sheet_find(&snapshot->sheets[SHEET_RUN], "end"), 0, &end) == CELL_TEXT)
		run_end_find(snapshot_text(snapshot, (uint32_t)end), &run->end);
	read_amounts(snapshot, "total", &run->tree->amounts);
	read_amounts(snapshot, "folded", &run->tree->folded);
	return 0;
}

static int restore_arguments(struct tree_process *process, const char *text)
{
	CLEANUP(text_free) struct text word = { 0 };
	struct text words = { 0 };

	while (words_next(&text, &word))
		text_append(&words, text_string(&word), word.length + 1);
	if (words.failed || word.failed) {
		text_free(&words);
		return -ENOMEM;
	}
	process->arguments = words.data;
	process->arguments_length = words.length;
	return 0;
}

static int restore_process(struct restorer *restorer, uint32_t record)
{
	const struct snapshot *snapshot = restorer->snapshot;
	uint32_t row = snapshot->sheets[SHEET_RUN_PROCESSES].keys[record];
	const struct process *mine = &snapshot->processes[row];
	struct tree_process *process;

	if (mine->tgid <= 0 || restorer->processes[row])
		return 0;
	if (restorer->run->tree->count >= TREE_READ_MAX)
		return 0; /* the sums include it */
	process = tree_add_process(restorer->run->tree);
	if (!process)
		return -ENOMEM;
	restorer->processes[row] = process;
	process->key = (struct task_key){ mine->tgid, mine->tgid, mine->start_time_ns };
	process->parent_pid = mine->parent;
	if (record_read(snapshot, &process_record, record, NULL, process) < 0)
		return -ENOMEM;
	process->facts.present &= TREE_PROCESS_STATUS | TREE_PROCESS_PEAK_RSS | TREE_PROCESS_RSS |
				  TREE_PROCESS_FDS | TREE_PROCESS_FD_LIMIT | TREE_PROCESS_SENDER |
				  TREE_PROCESS_UID;
	return mine->cmdline ? restore_arguments(process, snapshot_text(snapshot, mine->cmdline)) :
			       0;
}

static void read_syscall(const struct snapshot *snapshot, uint32_t record, struct tree_now *ret)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_RUN_THREADS];
	uint64_t name;
	int number = -1;

	if (column_get(sheet_find(sheet, "syscall"), record, &name) == CELL_TEXT)
		number = syscall_number(snapshot_text(snapshot, (uint32_t)name));
	ret->in_syscall = number >= 0;
	ret->syscall = number >= 0 ? (uint32_t)number : 0;
}

/* Threads without a row of their own are only in the sums of their process. */
static int restore_thread(struct restorer *restorer, uint32_t record)
{
	const struct snapshot *snapshot = restorer->snapshot;
	uint32_t row = snapshot->sheets[SHEET_RUN_THREADS].keys[record];
	const struct task *task = &snapshot->tasks[row];
	struct tree_process *process = restorer->processes[task->process];
	struct tree_thread read = { .key = { snapshot->processes[task->process].tgid, task->tid,
					     task->start_time_ns } };
	struct tree_thread *thread = NULL;

	if (restorer->is_restored[row])
		return 0;
	restorer->is_restored[row] = true;
	if (record_read(snapshot, &thread_record, record, NULL, &read) < 0)
		return -ENOMEM;
	read_row_amounts(snapshot, row, &read.amounts);
	snprintf(read.comm, sizeof(read.comm), "%s", snapshot_text(snapshot, task->comm));
	if (process)
		amounts_add(&process->amounts, &read.amounts);
	if (task->tid <= 0)
		return 0;
	if (process && !read.ended && restorer->thread_count++ >= THREADS_MAX)
		return 0;
	if (process && !read.ended)
		thread = tree_attach_thread(process);
	else if (restorer->run->tree->ended_count < TREE_KEPT)
		thread = tree_add_thread(restorer->run->tree);
	else
		return 0;
	if (!thread)
		return -ENOMEM;
	read.process = thread->process;
	read.slot = thread->slot;
	read_syscall(snapshot, record, &read.now);
	*thread = read;
	if (thread->process)
		restorer->threads[row] = thread;
	return 0;
}

/* The table that the calls of a row belong to; NULL when its owner was not restored. */
static struct syscall_table *table_of(const struct restorer *restorer, uint32_t row)
{
	const struct snapshot *snapshot = restorer->snapshot;
	const struct sheet *sheet = &snapshot->sheets[SHEET_SYSCALLS];
	uint64_t owner;

	if (column_get(sheet_find(sheet, "process"), row, &owner) == CELL_NUMBER)
		return owner < snapshot->process_count && restorer->processes[owner] ?
			       &restorer->processes[owner]->syscalls :
			       NULL;
	if (column_get(sheet_find(sheet, "task"), row, &owner) == CELL_NUMBER)
		return owner < snapshot->task_count && restorer->threads[owner] ?
			       &restorer->threads[owner]->syscalls :
			       NULL;
	return &restorer->run->tree->syscalls;
}

static int restore_calls(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	const struct sheet *sheet = &snapshot->sheets[SHEET_SYSCALLS];
	struct syscall_table *table;
	char name[SHEET_NAME_SIZE];

	for (uint32_t row = 0; row < sheet->row_count && row < CALLS_MAX; row++) {
		const char *call = snapshot_text(snapshot, sheet->keys[row]);
		struct syscall_row *mine;

		table = table_of(restorer, row);
		if (!table || table->count >= NAMES_MAX || strlen(call) >= SYSCALL_NAME_SIZE)
			continue;
		mine = syscall_table_row(table, call);
		if (!mine || record_read(snapshot, &call_record, row, NULL, &mine->stats) < 0)
			return -ENOMEM;
	}
	table = &restorer->run->tree->syscalls;
	for (int i = 0; i < SYSCALL_CATEGORY_COUNT; i++) {
		snprintf(name, sizeof(name), "category %s count", syscall_category_names[i]);
		table->by_category[i] = note_of(snapshot, name, 0);
		snprintf(name, sizeof(name), "category %s ns", syscall_category_names[i]);
		table->category_ns[i] = note_of(snapshot, name, 0);
	}
	return 0;
}

static int restore_waits_and_phases(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	struct tree *tree = restorer->run->tree;
	int status = 0;

	for (uint32_t row = 0; row < snapshot->sheets[SHEET_TOP_WAITS].row_count && status == 0 &&
			       tree->top_wait_count < TREE_TOP_WAITS;
	     row++)
		status = record_read(snapshot, &wait_record, row, NULL,
				     &tree->top_waits[tree->top_wait_count++]);
	for (uint32_t row = 0;
	     row < snapshot->sheets[SHEET_PHASES].row_count && row < PHASES_MAX && status == 0;
	     row++) {
		struct phase phase = { 0 };

		status = record_read(snapshot, &phase_record, row, NULL, &phase);
		phase.process.tid = phase.process.pid;
		if (status == 0)
			status = array_append(&restorer->run->phases.list, phase);
	}
	return status;
}

static int restore_path(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	const struct sheet *sheets = snapshot->sheets;
	struct critical_path *path = &restorer->run->path;
	int status = 0;

	if (sheets[SHEET_RUN].row_count)
		status = record_read(snapshot, &path_record, 0, NULL, path);
	for (uint32_t row = 0; row < sheets[SHEET_PATH].row_count && status == 0; row++) {
		struct path_part part = { .kind = WAIT_OTHER, .via = PATH_DIRECT };

		status = record_read(snapshot, &part_record, row, NULL, &part);
		if (status == 0)
			status = critical_path_add_part(path, &part);
	}
	for (uint32_t row = 0; row < sheets[SHEET_PATH_SEGMENTS].row_count && status == 0; row++) {
		struct path_segment segment = { .kind = WAIT_OTHER, .via = PATH_DIRECT };

		status = record_read(snapshot, &segment_record, row, NULL, &segment);
		if (status == 0)
			status = critical_path_add_segment(path, &segment);
	}
	return status;
}

static int restore_deadlock(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	struct run_deadlock *deadlock = &restorer->run->deadlock;
	uint32_t count = snapshot->sheets[SHEET_DEADLOCK].row_count;
	int status = 0;

	for (uint32_t row = 0; row < count && row < RUN_WAITERS_MAX && status == 0; row++)
		status = record_read(snapshot, &waiter_record, row, NULL,
				     &deadlock->waiters[deadlock->count++]);
	return status;
}

static int restore_segments(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	struct run_segments *segments = &restorer->run->segments;
	uint32_t count = snapshot->sheets[SHEET_SEGMENTS].row_count;
	int status = 0;

	for (uint32_t row = 0; row < count && row < RUN_SEGMENTS_MAX && status == 0; row++)
		status = record_read(snapshot, &stretch_record, row, NULL,
				     &segments->list[segments->count++]);
	return status;
}

static int restore_gpu_users(struct restorer *restorer)
{
	const struct snapshot *snapshot = restorer->snapshot;
	struct run_gpu_users *users = &restorer->run->gpu_users;
	uint32_t count = snapshot->sheets[SHEET_GPU_USERS].row_count;
	int status = 0;

	for (uint32_t row = 0; row < count && row < RUN_GPU_USERS_MAX && status == 0; row++)
		status = record_read(snapshot, &gpu_user_record, row, NULL,
				     &users->list[users->count++]);
	return status;
}

/* Finds the process nearest to its descriptor limit, by its number and start time. */
static void restore_fullest(struct restorer *restorer)
{
	uint64_t row = note_of(restorer->snapshot, "fullest", UINT64_MAX);

	if (row < restorer->snapshot->process_count)
		restorer->run->tree->fullest = restorer->processes[row];
}

static int restore(struct restorer *restorer)
{
	const struct sheet *sheets = restorer->snapshot->sheets;
	int status = restore_about(restorer);

	for (uint32_t i = 0; i < sheets[SHEET_RUN_PROCESSES].row_count && status == 0; i++)
		status = restore_process(restorer, i);
	for (uint32_t i = 0; i < sheets[SHEET_RUN_THREADS].row_count && status == 0; i++)
		status = restore_thread(restorer, i);
	if (status == 0)
		status = restore_calls(restorer);
	if (status == 0)
		status = restore_waits_and_phases(restorer);
	if (status == 0)
		status = restore_path(restorer);
	if (status == 0)
		status = restore_deadlock(restorer);
	if (status == 0)
		status = restore_segments(restorer);
	if (status == 0)
		status = restore_gpu_users(restorer);
	restore_fullest(restorer);
	run_find_root(restorer->run);
	return status;
}

int run_from_snapshot(const struct snapshot *snapshot, struct run **ret)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct restorer restorer = { .snapshot = snapshot };
	int status = run_new(&run);

	restorer.run = run;
	restorer.processes = calloc(snapshot->process_count + 1, sizeof(*restorer.processes));
	restorer.threads = calloc(snapshot->task_count + 1, sizeof(*restorer.threads));
	restorer.is_restored = calloc(snapshot->task_count + 1, sizeof(*restorer.is_restored));
	if (status == 0)
		status = restorer.processes && restorer.threads && restorer.is_restored ?
				 restore(&restorer) :
				 -ENOMEM;
	free(restorer.processes);
	free(restorer.threads);
	free(restorer.is_restored);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(run);
	return 0;
}

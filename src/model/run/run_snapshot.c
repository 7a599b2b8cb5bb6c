/* SPDX-License-Identifier: MIT */
#include "model/run/run_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "model/run/run_records.h"
#include "model/run/run_sheets.h"
#include "model/run/words.h"

/* A process of the tree, with the sums over its threads that have rows. */
struct known_process {
	const struct tree_process *process;
	uint32_t row;
	uint64_t threads;
	struct amounts sums;
};

struct builder {
	const struct run *run;
	struct snapshot *snapshot;
	struct known_process *known; /* sorted by number, then by start */
	size_t known_count;
	struct amounts sums; /* of all rows so far */
};

static const enum metric_id process_metrics[] = {
	METRIC_process_count, METRIC_failures,	  METRIC_begin_ns,  METRIC_end_ns,
	METRIC_exit_code,     METRIC_exit_signal, METRIC_rss_bytes, METRIC_hiwater_rss_bytes,
	METRIC_open_fds,      METRIC_fd_limit,	  METRIC_uid,
};

static int need_columns(struct snapshot *snapshot)
{
	int status = snapshot_need_column(snapshot, METRIC_thread_count);

	for (size_t i = 0; i < ARRAY_SIZE(process_metrics) && status == 0; i++)
		status = snapshot_need_column(snapshot, process_metrics[i]);
	for (size_t i = 0; i < AMOUNT_COUNT && status == 0; i++)
		status = snapshot_need_column(snapshot, amount_metrics[i]);
	return status;
}

static int set_text(struct snapshot *snapshot, const char *text, uint32_t *ret)
{
	return text[0] ? snapshot_intern(snapshot, text, strlen(text), ret) : 0;
}

static uint64_t since_begin(const struct builder *builder, uint64_t time_ns)
{
	return time_ns > builder->run->begin_ns ? time_ns - builder->run->begin_ns : 0;
}

/* Written by name, since numbers differ between machines. */
static int note_syscall(struct snapshot *snapshot, uint32_t record, const struct tree_now *now)
{
	char buffer[SYSCALL_NAME_SIZE];
	const char *name = syscall_name((enum syscall_abi)now->syscall_abi, now->syscall, buffer);
	uint32_t id;

	if (snapshot_intern(snapshot, name, strlen(name), &id) < 0)
		return -ENOMEM;
	return sheet_set(&snapshot->sheets[SHEET_RUN_THREADS], record, "syscall", CELL_TEXT, id);
}

/* Adds a row for a thread, or, with tid 0, for `threads` threads. */
static int add_task(struct builder *builder, const struct tree_thread *thread, uint32_t process,
		    uint64_t threads)
{
	struct snapshot *snapshot = builder->snapshot;
	struct task task = {
		.tid = thread->key.tid,
		.process = process,
		.start_time_ns = thread->key.start_ns,
	};
	uint32_t row, record;

	if (set_text(snapshot, thread->comm, &task.comm) < 0 ||
	    snapshot_add_task(snapshot, &task, &row) < 0 ||
	    sheet_add_row(&snapshot->sheets[SHEET_RUN_THREADS], row, &record) < 0)
		return -ENOMEM;
	if (threads)
		snapshot_set(snapshot, METRIC_thread_count, row, threads);
	for (int i = 0; i < AMOUNT_COUNT; i++)
		if (amounts_has(&thread->amounts, i))
			snapshot_set(snapshot, amount_metrics[i], row,
				     amounts_get(&thread->amounts, i));
	amounts_add(&builder->sums, &thread->amounts);
	if (thread->now.in_syscall && note_syscall(snapshot, record, &thread->now) < 0)
		return -ENOMEM;
	return record_write(snapshot, &thread_record, record, thread);
}

/* Adds a row that stands for threads without rows of their own. */
static int add_rest(struct builder *builder, const char *comm, uint32_t process, uint64_t threads,
		    const struct amounts *sums)
{
	struct tree_thread rest = { .ended = true, .amounts = *sums };

	snprintf(rest.comm, sizeof(rest.comm), "%s", comm);
	return add_task(builder, &rest, process, threads);
}

static int add_process_row(struct builder *builder, const struct task_key *key, const char *comm,
			   uint32_t *ret)
{
	struct snapshot *snapshot = builder->snapshot;

	if (snapshot_add_process(snapshot, key->pid, ret) < 0)
		return -ENOMEM;
	snapshot->processes[*ret].start_time_ns = key->start_ns;
	return set_text(snapshot, comm, &snapshot->processes[*ret].pcomm);
}

static void set_facts(struct builder *builder, uint32_t row, const struct tree_process *process)
{
	const struct tree_process_facts *known = &process->facts;
	const struct {
		enum metric_id id;
		bool present;
		uint64_t value;
	} cells[] = {
		{ METRIC_process_count, true, 1 },
		{ METRIC_failures, known->present & TREE_PROCESS_STATUS,
		  tree_process_failed(process) },
		{ METRIC_begin_ns, true, since_begin(builder, process->begin_ns) },
		{ METRIC_end_ns, process->exited, since_begin(builder, process->end_ns) },
		{ METRIC_rss_bytes, known->present & TREE_PROCESS_RSS && !process->exited,
		  known->rss_bytes },
		{ METRIC_hiwater_rss_bytes, known->present & TREE_PROCESS_PEAK_RSS,
		  known->peak_rss_bytes },
		{ METRIC_open_fds, known->present & TREE_PROCESS_FDS && !process->exited,
		  known->fds },
		{ METRIC_fd_limit, known->present & TREE_PROCESS_FD_LIMIT, known->fd_limit },
		{ METRIC_uid, known->present & TREE_PROCESS_UID, known->uid },
	};
	int number;

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		if (cells[i].present)
			snapshot_set(builder->snapshot, cells[i].id, row, cells[i].value);
	if (tree_process_exit_code(process, &number))
		snapshot_set(builder->snapshot, METRIC_exit_code, row, (uint64_t)number);
	if (tree_process_signal(process, &number))
		snapshot_set(builder->snapshot, METRIC_exit_signal, row, (uint64_t)number);
}

static int add_process(struct builder *builder, struct known_process *known)
{
	const struct tree_process *process = known->process;
	struct snapshot *snapshot = builder->snapshot;
	CLEANUP(text_free) struct text words = { 0 };
	struct process *mine;
	uint32_t record;
	int status = add_process_row(builder, &process->key, process->comm, &known->row);

	if (status < 0)
		return status;
	mine = &snapshot->processes[known->row];
	mine->parent = process->parent_pid;
	words_join(&words, process->arguments, process->arguments_length);
	if (words.failed || set_text(snapshot, text_string(&words), &mine->cmdline) < 0 ||
	    sheet_add_row(&snapshot->sheets[SHEET_RUN_PROCESSES], known->row, &record) < 0)
		return -ENOMEM;
	set_facts(builder, known->row, process);
	return record_write(snapshot, &process_record, record, process);
}

static int compare_known(const void *one, const void *other)
{
	const struct tree_process *first = ((const struct known_process *)one)->process;
	const struct tree_process *second = ((const struct known_process *)other)->process;

	if (first->key.pid != second->key.pid)
		return first->key.pid < second->key.pid ? -1 : 1;
	return (first->begin_ns > second->begin_ns) - (first->begin_ns < second->begin_ns);
}

static int add_processes(struct builder *builder)
{
	const struct tree *tree = builder->run->tree;
	int status = 0;

	builder->known = calloc(tree->count + 1, sizeof(*builder->known));
	if (!builder->known)
		return -ENOMEM;
	builder->known_count = tree->count;
	for (size_t i = 0; i < tree->count; i++)
		builder->known[i].process = tree->all[i];
	qsort(builder->known, tree->count, sizeof(*builder->known), compare_known);
	for (size_t i = 0; i < tree->count && status == 0; i++)
		status = add_process(builder, &builder->known[i]);
	return status;
}

/* The last process with that number that had begun when the thread did. */
static struct known_process *find_owner(const struct builder *builder,
					const struct tree_thread *thread)
{
	size_t count = array_bisect(builder->known, builder->known_count,
				    item->process->key.pid < thread->key.pid ||
					    (item->process->key.pid == thread->key.pid &&
					     item->process->begin_ns <= thread->begin_ns));
	struct known_process *last = count ? &builder->known[count - 1] : NULL;

	return last && last->process->key.pid == thread->key.pid ? last : NULL;
}

/*
 * The thread's process was not kept and is part of its program's row; what the thread did is
 * subtracted there.
 */
static int add_orphan(struct builder *builder, const struct tree_thread *thread,
		      struct amounts *programs)
{
	const struct tree *tree = builder->run->tree;
	size_t program = 0;
	uint32_t row;

	/* The file does not say which program: the thread stays part of its program's row. */
	if (!thread->program[0])
		return 0;
	while (program < tree->program_count &&
	       strcmp(tree->programs[program].comm, thread->program) != 0)
		program++;
	/*
	 * The entry behind the last program is for all others.  A process that nobody saw is in no
	 * row.
	 */
	if (strcmp(thread->program, TREE_UNSEEN) != 0)
		amounts_add(&programs[program], &thread->amounts);
	if (add_process_row(builder, &thread->key, thread->program, &row) < 0)
		return -ENOMEM;
	return add_task(builder, thread, row, 0);
}

struct thread_walk {
	struct builder *builder;
	struct amounts
		*programs; /* by program: threads that have rows but whose process has none */
};

static int add_thread(void *context, const struct tree_process *process_or_null,
		      const struct tree_thread *thread)
{
	struct thread_walk *walk = context;
	struct known_process *owner = find_owner(walk->builder, thread);

	(void)process_or_null;
	if (!owner)
		return add_orphan(walk->builder, thread, walk->programs);
	owner->threads++;
	amounts_add(&owner->sums, &thread->amounts);
	return add_task(walk->builder, thread, owner->row, 1);
}

/* A process none of whose threads has a row gets one row that stands for all of them. */
static int add_process_rest(struct builder *builder, const struct known_process *known)
{
	const struct tree_process *process = known->process;
	struct amounts rest;
	uint64_t threads =
		process->threads > known->threads ? process->threads - known->threads : 0;

	if (!amounts_rest(&process->amounts, &known->sums, &rest) && !threads && known->threads)
		return 0;
	return add_rest(builder, process->comm, known->row, threads, &rest);
}

static int add_program(struct builder *builder, const struct program_sums *program,
		       const char *name, const struct amounts *parts)
{
	const struct task_key key = { 0 };
	struct snapshot *snapshot = builder->snapshot;
	struct amounts rest;
	uint32_t row;
	int status = program->processes ? add_process_row(builder, &key, name, &row) : 0;

	if (status < 0 || !program->processes)
		return status;
	snapshot_set(snapshot, METRIC_process_count, row, program->processes);
	snapshot_set(snapshot, METRIC_failures, row, program->failures);
	snapshot_set(snapshot, METRIC_begin_ns, row, since_begin(builder, program->begin_ns));
	snapshot_set(snapshot, METRIC_end_ns, row, since_begin(builder, program->end_ns));
	if (program->has_peak_rss)
		snapshot_set(snapshot, METRIC_hiwater_rss_bytes, row, program->peak_rss_bytes);
	amounts_rest(&program->amounts, parts, &rest);
	return add_rest(builder, name, row, program->threads, &rest);
}

/* Adds the row for children that nobody saw and for what was lost. */
static int add_unseen(struct builder *builder)
{
	const struct tree *tree = builder->run->tree;
	const struct task_key key = { 0 };
	struct amounts rest;
	uint32_t row;

	if (!amounts_rest(&tree->amounts, &builder->sums, &rest))
		return 0;
	if (add_process_row(builder, &key, TREE_UNSEEN, &row) < 0)
		return -ENOMEM;
	return add_rest(builder, TREE_UNSEEN, row, 0, &rest);
}

static int add_tasks(struct builder *builder)
{
	const struct tree *tree = builder->run->tree;
	CLEANUP(free_pointer)
	struct amounts *programs = calloc(tree->program_count + 1, sizeof(*programs));
	struct thread_walk walk = { builder, programs };
	int status = programs ? tree_visit_threads(tree, add_thread, &walk) : -ENOMEM;

	for (size_t i = 0; i < builder->known_count && status == 0; i++)
		status = add_process_rest(builder, &builder->known[i]);
	for (size_t i = 0; i < tree->program_count && status == 0; i++)
		status = add_program(builder, &tree->programs[i], tree->programs[i].comm,
				     &programs[i]);
	if (status == 0)
		status = add_program(builder, &tree->other_programs, RUN_OTHER_PROGRAMS,
				     &programs[tree->program_count]);
	return status == 0 ? add_unseen(builder) : status;
}

static int build(struct builder *builder)
{
	struct snapshot *snapshot = builder->snapshot;
	int status = need_columns(snapshot);

	if (status == 0)
		status = run_add_sheets(snapshot, builder->run);
	if (status == 0)
		status = add_processes(builder);
	if (status == 0)
		status = add_tasks(builder);
	if (status == 0)
		status = snapshot_finish(snapshot);
	if (status == 0)
		status = run_add_references(snapshot, builder->run);
	return status < 0 ? status : snapshot_finish_sheets(snapshot);
}

int run_to_snapshot(const struct run *run, struct snapshot **ret)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct builder builder = { .run = run };
	int status = snapshot_new(&snapshot);

	builder.snapshot = snapshot;
	if (status == 0)
		status = build(&builder);
	free(builder.known);
	if (status < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(snapshot);
	return 0;
}

unsigned run_snapshot_bounds(const struct snapshot *snapshot)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_RUN];
	uint64_t bounds = 0;

	if (sheet->row_count)
		(void)column_get(sheet_find(sheet, "lower_bounds"), 0, &bounds);
	return (unsigned)bounds;
}

/* SPDX-License-Identifier: MIT */
#include "record/job/book/job_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/recorder_state.h"
#include "record/recorder_syscalls.h"
#include "store/history/job/history_jobs.h"

#define FORMER_MOST JOB_MEMBERS_MOST
#define CALLS_KEPT 64

struct call_table {
	uint64_t job;
	char *step; /* NULL: of the whole job */
	struct call_lines lines;
	bool has_changed;
};

static void table_free(struct call_table *table)
{
	call_lines_clear(&table->lines);
	free(table->step);
	free(table);
}

void job_calls_clear(struct job_calls *calls)
{
	for (size_t i = 0; i < calls->tables.count; i++)
		table_free(calls->tables.data[i]);
	array_free(&calls->tables);
	array_free(&calls->former);
}

static int take_saved(void *context, const struct job_syscall *call)
{
	struct call_line line = {
		.calls = call->calls,
		.errors = call->errors,
		.time_ns = call->time_ns,
	};

	snprintf(line.name, sizeof(line.name), "%s", call->name);
	return call_lines_add(context, &line);
}

/* An earlier recorder may have written calls of it, and sums never fall. */
static struct call_table *open_table(struct job_calls *calls, struct recorder *recorder,
				     uint64_t job, const char *step)
{
	struct call_table *table = calloc(1, sizeof(*table));
	struct error ignored = { 0 };

	if (!table)
		return NULL;
	table->job = job;
	table->step = step ? strdup(step) : NULL;
	if ((step && !table->step) ||
	    history_job_syscalls(recorder->history, job, step, 0, take_saved, &table->lines,
				 &ignored) < 0 ||
	    array_append(&calls->tables, table) < 0) {
		table_free(table);
		return NULL;
	}
	return table;
}

static struct call_table *find_table(struct job_calls *calls, struct recorder *recorder,
				     uint64_t job, const char *step)
{
	for (size_t i = 0; i < calls->tables.count; i++) {
		struct call_table *table = calls->tables.data[i];

		if (table->job == job && !table->step == !step &&
		    (!step || strcmp(table->step, step) == 0))
			return table;
	}
	return open_table(calls, recorder, job, step);
}

void job_calls_note(struct job_calls *calls, struct recorder *recorder,
		    const struct book_member *member)
{
	const struct book_step *step = job_book_step_of(member);
	struct former_member former = { .key = member->key };

	if (!recorder_has_syscalls(recorder) || member->is_ours)
		return;
	if (calls->former.count >= FORMER_MOST) {
		calls->lost++;
		return;
	}
	former.job = find_table(calls, recorder, member->job->row.id, NULL);
	if (step)
		former.step = find_table(calls, recorder, member->job->row.id, step->row.name);
	calls->lost += !former.job || array_append(&calls->former, former) < 0;
}

static int compare_keys(const void *one_pointer, const void *other_pointer)
{
	const struct former_member *one = one_pointer, *other = other_pointer;

	if (one->key.pid != other->key.pid)
		return one->key.pid < other->key.pid ? -1 : 1;
	return (one->key.start_ns > other->key.start_ns) -
	       (one->key.start_ns < other->key.start_ns);
}

struct addition {
	struct job_calls *calls;
	struct recorder *recorder;
	const struct job_book *book;
};

static int take_call(void *context, const struct process_call *call)
{
	struct addition *addition = context;
	struct job_calls *calls = addition->calls;
	const struct former_member wanted = { .key = call->process };
	const struct former_member *former =
		calls->former.count ? bsearch(&wanted, calls->former.data, calls->former.count,
					      sizeof(wanted), compare_keys) :
				      NULL;
	const struct book_member *found = job_book_member(addition->book, &call->process);
	const struct book_member *member = found && !found->is_ours ? found : NULL;
	const struct book_step *step = member ? job_book_step_of(member) : NULL;
	struct call_table *tables[2] = { former ? former->job : NULL,
					 former ? former->step : NULL };

	if (!former && member && call->process.pid)
		tables[0] = find_table(calls, addition->recorder, member->job->row.id, NULL);
	if (!former && step && call->process.pid)
		tables[1] =
			find_table(calls, addition->recorder, member->job->row.id, step->row.name);
	for (int i = 0; i < 2; i++) {
		if (!tables[i])
			continue;
		if (call_lines_add(&tables[i]->lines, &call->line) < 0)
			return -ENOMEM;
		tables[i]->has_changed = true;
	}
	return 0;
}

static int write_table(struct recorder *recorder, struct call_table *table, struct error *error)
{
	const struct call_line *lines = table->lines.list.data;
	struct job_syscall kept[CALLS_KEPT];
	size_t count = 0;
	int status;

	call_lines_sort(&table->lines);
	for (size_t i = 0; i < table->lines.list.count && count < CALLS_KEPT; i++)
		kept[count++] = (struct job_syscall){
			.name = lines[i].name[0] ? lines[i].name : "(others)",
			.calls = lines[i].calls,
			.errors = lines[i].errors,
			.time_ns = lines[i].time_ns,
		};
	status = history_put_job_syscalls(recorder->history, table->job, table->step, kept, count,
					  error);
	table->has_changed = status < 0;
	return status;
}

/* Tables of jobs that are over are written a last time, later if the store cannot be written now. */
static int write_tables(struct addition *addition, struct error *error)
{
	struct job_calls *calls = addition->calls;
	size_t kept = 0, i = 0;
	int status = 0;

	for (; i < calls->tables.count; i++) {
		struct call_table *table = calls->tables.data[i];

		if (status == 0 && table->has_changed)
			status = write_table(addition->recorder, table, error);
		if (table->has_changed || job_book_find(addition->book, table->job))
			calls->tables.data[kept++] = table;
		else
			table_free(table);
	}
	calls->tables.count = kept;
	return status;
}

int job_calls_keep(struct job_calls *calls, struct recorder *recorder, const struct job_book *book,
		   struct error *error)
{
	struct addition addition = { calls, recorder, book };
	int status;

	if (!recorder_has_syscalls(recorder) ||
	    (!book->jobs.count && !calls->former.count && !calls->tables.count))
		return 0;
	if (calls->former.count)
		qsort(calls->former.data, calls->former.count, sizeof(calls->former.data[0]),
		      compare_keys);
	status = recorder_syscalls_since_tick(recorder, take_call, &addition);
	if (status == 0)
		status = write_tables(&addition, error);
	calls->former.count = 0;
	return status < 0 ? error_set(error, status, "calls of jobs: %s", strerror(-status)) : 0;
}

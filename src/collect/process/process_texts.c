/* SPDX-License-Identifier: MIT */
#include "collect/process/process_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/process/cmdline.h"
#include "collect/process/executable.h"
#include "collect/process/process_facts.h"
#include "collect/process/reader_pool.h"
#include "collect/task/task_iterator.h"

void process_texts_begin(struct process_texts *texts, struct capture *capture)
{
	texts->capture = capture;
}

/* Later samples mostly have nothing to read: readers are started for the first command line. */
static struct reader_pool *find_readers(struct process_texts *texts)
{
	struct capture *capture = texts->capture;
	int status;

	if (texts->cmdlines || texts->lacks_readers || !source_wanted(capture, SOURCE_CMDLINE))
		return texts->cmdlines;
	status = cmdline_start(capture, &texts->cmdlines);
	if (status == 0)
		return texts->cmdlines;
	texts->lacks_readers = true;
	source_count(&capture->tallies[SOURCE_CMDLINE], status);
	if (status != -EMFILE && status != -ENFILE)
		capture->tallies[SOURCE_CMDLINE].reason = "no thread could be started to read it";
	return NULL;
}

void process_texts_read_cmdline(struct process_texts *texts, uint32_t row, int dir)
{
	struct reader_pool *readers = find_readers(texts);

	if (readers)
		cmdline_add(readers, row, dir);
	else
		close_fd(&dir);
}

/* Uses what an earlier sample read of the process, if it still runs the same program. */
static int recall_process(struct process_texts *texts, uint32_t row,
			  const struct walked_process *walked, const struct process_fact *fact)
{
	struct capture *capture = texts->capture;
	struct process *process = &capture->snapshot->processes[row];
	int status = 0;

	if (capture->images)
		capture->images[row].lacks_jemalloc =
			fact->lacks_jemalloc && fact->executable_pages == walked->executable_pages;
	if (source_wanted(capture, SOURCE_EXE)) {
		source_count(&capture->tallies[SOURCE_EXE], 0);
		status = snapshot_intern(capture->snapshot, fact->exe, strlen(fact->exe),
					 &process->exe);
	}
	if (status == 0 && source_wanted(capture, SOURCE_CMDLINE)) {
		source_count(&capture->tallies[SOURCE_CMDLINE], 0);
		status = snapshot_intern(capture->snapshot, fact->cmdline, strlen(fact->cmdline),
					 &process->cmdline);
	}
	return status;
}

int process_texts_add(struct process_texts *texts, uint32_t row,
		      const struct walked_process *walked)
{
	struct capture *capture = texts->capture;
	const struct process_fact *fact;
	struct reader_pool *readers;
	uint32_t reader = row;
	int status;

	if (!walked->has_memory) {
		executable_note_none(capture);
		return 0;
	}
	executable_note(capture, row, walked);
	fact = process_facts_find(&capture->sampling->facts, &capture->snapshot->processes[row],
				  walked);
	if (fact)
		return recall_process(texts, row, walked, fact);
	status = array_append(&texts->fresh, row);
	if (status == 0)
		status = executable_find(capture, row, walked, &reader);
	if (status == 0)
		status = array_append(&texts->readers, reader);
	readers = status == 0 ? find_readers(texts) : NULL;
	if (readers)
		cmdline_add_number(readers, capture, row);
	return status;
}

static int compare_rows(const void *a, const void *b)
{
	const uint32_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/*
 * A process can execute another program before its path is read.  Then that path must not be used
 * for other processes: each of these reads its own path again.
 */
static int confirm_path(struct process_texts *texts, size_t index,
			const enum process_change *changes)
{
	uint32_t row = texts->fresh.data[index];
	const uint32_t *reader = bsearch(&texts->readers.data[index], texts->fresh.data,
					 texts->fresh.count, sizeof(*reader), compare_rows);
	CLEANUP(close_fd) int dir = -1;

	if (!reader || *reader == row || changes[reader - texts->fresh.data] == PROCESS_SAME)
		return 0;
	dir = process_open(texts->capture, row, &texts->buffer);
	if (dir >= 0)
		return executable_read_path(texts->capture, dir, row);
	texts->capture->snapshot->processes[row].exe = 0;
	return dir == -ENOMEM ? dir : 0;
}

/*
 * Drops what was read by pid if the process has ended meanwhile: its pid may have been another
 * process's.
 */
static int confirm(struct process_texts *texts)
{
	struct capture *capture = texts->capture;
	CLEANUP(free_pointer)
	enum process_change *changes = calloc(texts->fresh.count + 1, sizeof(*changes));
	int status;

	if (!changes)
		return -ENOMEM;
	if (!texts->fresh.count)
		return 0;
	status =
		task_iterator_confirm(capture->sampling->iterator, capture, texts->fresh.data,
				      changes, texts->fresh.count, &capture->sampling->no_iterator);
	for (size_t i = 0; i < texts->readers.count && status == 0; i++) {
		struct process *process = &capture->snapshot->processes[texts->fresh.data[i]];

		if (changes[i] != PROCESS_GONE) {
			status = confirm_path(texts, i, changes);
			continue;
		}
		process->cmdline = process->exe = 0;
		capture->snapshot->tally.processes_ended++;
	}
	return status;
}

int process_texts_end(struct process_texts *texts)
{
	int status = texts->cmdlines ? reader_pool_finish(texts->cmdlines) : 0;

	if (status == 0)
		status = confirm(texts);
	array_free(&texts->fresh);
	array_free(&texts->readers);
	proc_buffer_clear(&texts->buffer);
	return status;
}

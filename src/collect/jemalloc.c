#include "collect/jemalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/jemalloc_layout.h"
#include "collect/jemalloc_scout.h"
#include "collect/jemalloc_tally.h"
#include "collect/jemalloc_target.h"
#include "collect/proc_file.h"
#include "host/aside.h"
#include "host/offset_cache.h"

#define ROUNDS 3 /* of looking: a process that stood for others may have ended */
#define TARGET_TIMEOUT_MS 2000
#define STOPPING_TIMEOUT_MS 4000 /* for one whose threads may have to be stopped */
#define BLOCKED_MAX 4		 /* targets that may hold us up before no other is tried */

/*
 * A process that may have jemalloc.  Those of one program with equally many pages of code have the
 * same libraries: one of them is looked at for all.
 */
struct candidate {
	uint32_t row;
	const struct process_image *image;
	uint64_t pages; /* executable, 0 when not known: then it stands for itself alone */
	bool is_settled;
};

struct known_layout {
	struct file_id file;
	bool is_executable;
	struct jemalloc_layout layout;
};

struct collection {
	struct capture *capture;
	ARRAY_OF(struct candidate) candidates;
	struct scout scout;
	ARRAY_OF(struct known_layout) layouts;
	struct offset_cache cache;
	bool has_cache;
	unsigned blocked;
	uint32_t *first_tasks; /* rows of each process's tasks: from its own up to the next one's */
	struct proc_buffer buffer;
	struct jemalloc_tally tally;
};

/* ---- which processes to look at ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = compare_numbers(a->image->inode, b->image->inode);

	if (!order)
		order = compare_numbers(a->image->device, b->image->device);
	if (!order)
		order = compare_numbers((uint64_t)a->image->changed_ns,
					(uint64_t)b->image->changed_ns);
	if (!order)
		order = compare_numbers(a->pages, b->pages);
	return order ? order : compare_numbers(a->row, b->row);
}

static bool is_same_program(const struct candidate *one, const struct candidate *other)
{
	return one->pages && one->pages == other->pages &&
	       one->image->inode == other->image->inode &&
	       one->image->device == other->image->device &&
	       one->image->changed_ns == other->image->changed_ns;
}

static int find_candidates(struct collection *collection)
{
	const struct capture *capture = collection->capture;
	const struct snapshot *snapshot = capture->snapshot;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process_image *image = &capture->images[row];
		const struct process_seen *seen =
			collector_process_seen(capture, snapshot->processes[row].tgid);
		struct candidate candidate = {
			.row = row,
			.image = image,
			.pages = seen ? seen->executable_pages : 0,
		};

		collection->tally.walked += image->present || image->error;
		if (image->error)
			jemalloc_tally_count(&collection->tally, JEMALLOC_READLINK_FAILURE,
					     image->error);
		if (image->present && array_append(&collection->candidates, candidate) < 0)
			return -ENOMEM;
	}
	if (collection->candidates.count)
		qsort(collection->candidates.data, collection->candidates.count,
		      sizeof(struct candidate), compare_candidates);
	return 0;
}

/* ---- what becomes of one process ---- */

static int note_process(struct collection *collection, uint32_t process, const char *note)
{
	struct snapshot *snapshot = collection->capture->snapshot;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t row, text;
	int status = snapshot_intern(snapshot, note, strlen(note), &text);

	if (status == 0)
		status = snapshot_process_row(snapshot, process, &row);
	return status < 0 ? status : sheet_set(sheet, row, "jemalloc", CELL_TEXT, text);
}

/* A process with jemalloc that was not read. */
static int lose(struct collection *collection, uint32_t process, enum jemalloc_tag tag, int error)
{
	jemalloc_tally_count(&collection->tally, tag, error);
	return note_process(collection, process, jemalloc_tags[tag].name);
}

static int keep(struct collection *collection, uint32_t process,
		const struct jemalloc_target *target)
{
	struct snapshot *snapshot = collection->capture->snapshot;
	char note[128];

	for (size_t i = 0; i < target->count; i++) {
		const struct target_thread *thread = &target->threads[i];

		if (!thread->is_read)
			continue;
		snapshot_set(snapshot, METRIC_allocated_bytes, thread->row, thread->allocated);
		snapshot_set(snapshot, METRIC_deallocated_bytes, thread->row, thread->deallocated);
	}
	collection->tally.threads_read += target->read;
	collection->tally.threads_missed += target->count - target->read;
	jemalloc_tally_count(&collection->tally, JEMALLOC_READ, 0);
	snprintf(note, sizeof(note), "%s, %s, %s", target->in_executable ? "executable" : "library",
		 target->layout.route, target->pointers);
	return note_process(collection, process, note);
}

/* Tasks are in order of their processes. */
static int find_first_tasks(struct collection *collection)
{
	const struct snapshot *snapshot = collection->capture->snapshot;
	uint32_t next = 0;

	if (collection->first_tasks)
		return 0;
	collection->first_tasks =
		calloc(snapshot->process_count + 1, sizeof(*collection->first_tasks));
	if (!collection->first_tasks)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		collection->first_tasks[row] = next;
		while (next < snapshot->task_count && snapshot->tasks[next].process == row)
			next++;
	}
	collection->first_tasks[snapshot->process_count] = next;
	return 0;
}

static int list_threads(struct collection *collection, uint32_t process,
			struct jemalloc_target *target)
{
	const struct capture *capture = collection->capture;
	uint32_t first, end;

	if (find_first_tasks(collection) < 0)
		return -ENOMEM;
	first = collection->first_tasks[process];
	end = collection->first_tasks[process + 1];
	target->threads = calloc(end - first + 1, sizeof(*target->threads));
	if (!target->threads)
		return -ENOMEM;
	for (uint32_t row = first; row < end; row++) {
		int32_t tid = capture->snapshot->tasks[row].tid;
		const struct thread_seen *seen = collector_thread_seen(capture, tid);

		if (task_has_ended(capture->snapshot, row))
			continue;
		target->threads[target->count++] = (struct target_thread){
			.tid = tid,
			.row = row,
			.pointer = seen ? seen->thread_pointer : 0,
		};
	}
	return 0;
}

/* The places are those of the process that was looked at, which may be another. */
static void copy_parts(const struct scout *scout, const struct scouted_process *scouted,
		       uint32_t process, struct jemalloc_target *target)
{
	for (int part = 0; part < PART_COUNT; part++) {
		struct target_part *copy = &target->parts[part];

		if (scouted->parts[part] == SCOUT_NONE)
			continue;
		copy->present = true;
		memcpy(&copy->file, &scout->files.data[scouted->parts[part]], sizeof(copy->file));
		if (scouted->row == process)
			copy->place = scouted->places[part];
	}
}

static bool is_in_executable(const struct scouted_process *scouted)
{
	return scouted->parts[PART_HOLDER] == scouted->parts[PART_EXECUTABLE];
}

static struct jemalloc_target *make_target(struct collection *collection, uint32_t process,
					   const struct scouted_process *scouted,
					   const struct jemalloc_layout *layout)
{
	struct jemalloc_target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->process = -1;
	target->tgid = collection->capture->snapshot->processes[process].tgid;
	target->layout = *layout;
	target->in_executable = is_in_executable(scouted);
	copy_parts(&collection->scout, scouted, process, target);
	if (list_threads(collection, process, target) < 0) {
		jemalloc_target_free(target);
		return NULL;
	}
	return target;
}

/* The directory of the very process that was captured, or a negative errno. */
static int open_process(struct collection *collection, uint32_t row)
{
	const struct process *process = &collection->capture->snapshot->processes[row];
	CLEANUP(close_fd)
	int dir = proc_open_number(collection->capture->host->proc, process->tgid);
	int status = dir < 0 ?
			     dir :
			     process_check(collection->capture, dir, process, &collection->buffer);

	return status < 0 ? status : TAKE_FD(dir);
}

static int settle_target(struct collection *collection, uint32_t process,
			 struct jemalloc_target *target)
{
	const struct process *known = &collection->capture->snapshot->processes[process];

	collection->tally.stopped_ns += target->stopped_ns;
	if (target->tag != JEMALLOC_READ)
		return lose(collection, process, target->tag, target->error);
	/* Memory is read by number: who answers to it now must still be the same. */
	if (process_check(collection->capture, target->process, known, &collection->buffer) < 0)
		return lose(collection, process, JEMALLOC_PROCESS_CHANGED, 0);
	return keep(collection, process, target);
}

static int read_target(struct collection *collection, uint32_t process,
		       const struct scouted_process *scouted, const struct jemalloc_layout *layout)
{
	struct jemalloc_target *target;
	int dir = open_process(collection, process);
	int status;

	if (dir < 0)
		return lose(collection, process, JEMALLOC_PID_MISSING, dir);
	target = make_target(collection, process, scouted, layout);
	if (!target) {
		close(dir);
		return -ENOMEM;
	}
	target->process = dir;
	status = aside_run(jemalloc_target_read, target,
			   collection->capture->threads_seen.count ? TARGET_TIMEOUT_MS :
								     STOPPING_TIMEOUT_MS);
	if (status == -ETIMEDOUT) { /* the target is its thread's, for ever */
		collection->blocked++;
		return lose(collection, process, JEMALLOC_TARGET_BLOCKED, 0);
	}
	status = status < 0 ? lose(collection, process, JEMALLOC_TARGET_BLOCKED, status) :
			      settle_target(collection, process, target);
	jemalloc_target_free(target);
	return status;
}

/* ---- where its jemalloc keeps the counters ---- */

static const struct jemalloc_layout *known_layout(const struct collection *collection,
						  struct file_id file, bool is_executable)
{
	for (size_t i = 0; i < collection->layouts.count; i++) {
		const struct known_layout *known = &collection->layouts.data[i];

		if (known->file.device == file.device && known->file.inode == file.inode &&
		    known->is_executable == is_executable)
			return &known->layout;
	}
	return NULL;
}

static void open_cache(struct collection *collection)
{
	if (collection->has_cache)
		return;
	collection->has_cache = true;
	offset_cache_open(&collection->cache, NULL); /* without it all is learned anew */
}

/* The layout of a file is the same for all processes; one that ended tells nothing about it. */
static int find_layout(struct collection *collection, const struct scouted_process *scouted,
		       uint32_t process, struct jemalloc_layout *ret)
{
	const struct capture *capture = collection->capture;
	const struct scouted_file *file =
		&collection->scout.files.data[scouted->parts[PART_HOLDER]];
	bool is_executable = is_in_executable(scouted);
	const struct jemalloc_layout *known = known_layout(collection, file->id, is_executable);
	struct known_layout found = { .file = file->id, .is_executable = is_executable };
	struct jemalloc_question question = {
		.host = capture->host,
		.cache = &collection->cache,
		.may_ask_oracle = !capture->options->no_jemalloc_oracle,
		.tgid = capture->snapshot->processes[process].tgid,
		.file = file,
		.is_executable = is_executable,
	};

	if (known) {
		*ret = *known;
		return 0;
	}
	open_cache(collection);
	jemalloc_layout_find(&question, ret);
	collection->blocked += ret->tag == JEMALLOC_TARGET_BLOCKED;
	found.layout = *ret;
	if (ret->tag == JEMALLOC_PID_MISSING)
		return 0;
	return array_append(&collection->layouts, found);
}

static int read_holder(struct collection *collection, uint32_t process,
		       const struct scouted_process *scouted)
{
	struct jemalloc_layout layout;

	collection->tally.detected++;
	if (collection->blocked >= BLOCKED_MAX)
		return lose(collection, process, JEMALLOC_TARGET_BLOCKED, 0);
	if (find_layout(collection, scouted, process, &layout) < 0)
		return -ENOMEM;
	if (layout.tag != JEMALLOC_READ)
		return lose(collection, process, layout.tag, layout.error);
	return read_target(collection, process, scouted, &layout);
}

/* ---- all of them ---- */

static const enum jemalloc_tag state_tags[] = {
	[SCOUT_LOOKED] = JEMALLOC_NOT_FOUND,	      [SCOUT_GONE] = JEMALLOC_PID_MISSING,
	[SCOUT_NO_MAPS] = JEMALLOC_MAPS_READ_FAILURE, [SCOUT_BLOCKED] = JEMALLOC_TARGET_BLOCKED,
	[SCOUT_DAMAGED] = JEMALLOC_WORKER_PANIC,
};

static int settle(struct collection *collection, struct candidate *candidate,
		  const struct scouted_process *scouted)
{
	candidate->is_settled = true;
	if (scouted->parts[PART_HOLDER] != SCOUT_NONE)
		return read_holder(collection, candidate->row, scouted);
	jemalloc_tally_count(&collection->tally, state_tags[scouted->state], scouted->error);
	return 0;
}

/* The candidates of one program, up to the next one's. */
static size_t count_alike(const struct collection *collection, size_t first)
{
	size_t count = 1;

	while (first + count < collection->candidates.count &&
	       is_same_program(&collection->candidates.data[first],
			       &collection->candidates.data[first + count]))
		count++;
	return count;
}

static struct candidate *first_unsettled(struct candidate *candidates, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!candidates[i].is_settled)
			return &candidates[i];
	return NULL;
}

/* The first of each program that is still to be looked at. */
static int choose(struct collection *collection)
{
	const struct snapshot *snapshot = collection->capture->snapshot;
	size_t count;

	collection->scout.processes.count = 0;
	for (size_t i = 0; i < collection->candidates.count; i += count) {
		const struct candidate *candidate;
		struct scouted_process process = { 0 };

		count = count_alike(collection, i);
		candidate = first_unsettled(&collection->candidates.data[i], count);
		if (!candidate)
			continue;
		process.row = candidate->row;
		process.tgid = snapshot->processes[candidate->row].tgid;
		if (array_append(&collection->scout.processes, process) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What one process showed holds for all that are like it, unless it had ended. */
static int settle_alike(struct collection *collection, struct candidate *candidates, size_t count,
			const struct scouted_process *scouted)
{
	for (size_t i = 0; i < count; i++) {
		if (candidates[i].is_settled ||
		    (scouted->state == SCOUT_GONE && candidates[i].row != scouted->row))
			continue;
		if (settle(collection, &candidates[i], scouted) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_scouted(const void *left, const void *right)
{
	const struct scouted_process *a = left, *b = right;

	return compare_numbers(a->row, b->row);
}

static int settle_all(struct collection *collection)
{
	struct scout *scout = &collection->scout;
	size_t count;

	qsort(scout->processes.data, scout->processes.count, sizeof(struct scouted_process),
	      compare_scouted);
	for (size_t i = 0; i < collection->candidates.count; i += count) {
		const struct candidate *candidate;
		const struct scouted_process *scouted;
		struct scouted_process key;

		count = count_alike(collection, i);
		candidate = first_unsettled(&collection->candidates.data[i], count);
		if (!candidate)
			continue;
		key.row = candidate->row;
		scouted = bsearch(&key, scout->processes.data, scout->processes.count, sizeof(key),
				  compare_scouted);
		if (scouted &&
		    settle_alike(collection, &collection->candidates.data[i], count, scouted) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int look(struct collection *collection)
{
	for (int round = 0; round < ROUNDS; round++) {
		int status = choose(collection);

		if (status < 0 || !collection->scout.processes.count)
			return status;
		collection->scout.files.count = 0;
		status = scout_run(&collection->scout, collection->capture->host);
		if (status == 0)
			status = settle_all(collection);
		if (status < 0)
			return status;
	}
	for (size_t i = 0; i < collection->candidates.count; i++)
		if (!collection->candidates.data[i].is_settled)
			jemalloc_tally_count(&collection->tally, JEMALLOC_PID_MISSING, 0);
	return 0;
}

/* ---- what is told at the end ---- */

static int tell_source(struct collection *collection, const char *reason)
{
	struct capture *capture = collection->capture;
	const struct jemalloc_tally *tally = &collection->tally;
	struct source_tally *source = &capture->tallies[SOURCE_JEMALLOC];
	uint64_t failed = tally->failed + tally->tags[JEMALLOC_READLINK_FAILURE];

	source->read = tally->walked - failed;
	source->failed = failed;
	if (tally->walked && !failed)
		return 0;
	source->error = failed ? EPERM : 0;
	source->reason = tally->walked ?
				 arena_copy(&capture->snapshot->arena, reason, strlen(reason)) :
				 "there is no process to look at";
	return source->reason ? 0 : -ENOMEM;
}

/* Most processes use another allocator, which is no failure but why they have no counters. */
static void absent_text(const struct jemalloc_tally *tally, const char *reason, struct text *out)
{
	uint64_t others = tally->tags[JEMALLOC_NOT_FOUND];

	if (others && (tally->read || reason[0]) && others < tally->walked)
		text_format(out, "%" PRIu64 " of %" PRIu64 " processes do not use jemalloc%s",
			    others, tally->walked, reason[0] ? "; " : "");
	text_append_string(out, reason);
	if (!out->length)
		text_append_string(out, "the process does not use jemalloc");
}

static int tell(struct collection *collection)
{
	static const enum metric_id counters[] = { METRIC_allocated_bytes,
						   METRIC_deallocated_bytes };
	CLEANUP(text_free) struct text reason = { 0 };
	CLEANUP(text_free) struct text absent = { 0 };
	struct snapshot *snapshot = collection->capture->snapshot;
	int status;

	jemalloc_tally_reason(&collection->tally, &reason);
	absent_text(&collection->tally, text_string(&reason), &absent);
	if (reason.failed || absent.failed)
		return -ENOMEM;
	status = tell_source(collection, text_string(&reason));
	for (size_t i = 0; i < ARRAY_SIZE(counters) && status == 0; i++)
		if (snapshot_measured(snapshot, counters[i]) < snapshot->task_count)
			status = snapshot_set_absent(snapshot, counters[i], text_string(&absent));
	return status < 0 ? status : jemalloc_tally_note(&collection->tally, snapshot);
}

static void collection_clear(struct collection *collection)
{
	array_free(&collection->candidates);
	array_free(&collection->layouts);
	scout_clear(&collection->scout);
	proc_buffer_clear(&collection->buffer);
	free(collection->first_tasks);
	if (collection->has_cache)
		offset_cache_close(&collection->cache);
}

int jemalloc_collect(struct capture *capture)
{
	CLEANUP(collection_clear) struct collection collection = { .capture = capture };
	struct snapshot *snapshot = capture->snapshot;
	int status;

	if (!source_wanted(capture, SOURCE_JEMALLOC))
		return 0;
	if (!capture->host->live) {
		capture->tallies[SOURCE_JEMALLOC].reason = "a recorded tree has no memory to read";
		return 0;
	}
	if (!capture->images)
		return 0;
	status = find_candidates(&collection);
	if (status == 0 && collection.candidates.count &&
	    (snapshot_need_column(snapshot, METRIC_allocated_bytes) < 0 ||
	     snapshot_need_column(snapshot, METRIC_deallocated_bytes) < 0))
		status = -ENOMEM;
	if (status == 0)
		status = look(&collection);
	return status < 0 ? status : tell(&collection);
}

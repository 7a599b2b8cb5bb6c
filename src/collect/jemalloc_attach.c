/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/jemalloc_target.h"
#include "collect/jemalloc_users.h"
#include "host/aside.h"

#define TARGET_TIMEOUT_MS 2000
#define STOPPING_TIMEOUT_MS 4000 /* for one whose threads may have to be stopped */

void attachment_clear(struct attachment *attachment)
{
	array_free(&attachment->layouts);
	proc_buffer_clear(&attachment->buffer);
	free(attachment->first_tasks);
	if (attachment->has_cache)
		offset_cache_close(&attachment->cache);
}

uint64_t attachment_user(const struct attachment *attachment, uint32_t process)
{
	const struct snapshot *snapshot = attachment->capture->snapshot;
	uint64_t user;

	return snapshot_get(snapshot, METRIC_uid, snapshot->processes[process].first_task, &user) ?
		       user :
		       UNKNOWN_USER;
}

static int note_process(struct attachment *attachment, uint32_t process, const char *note)
{
	struct snapshot *snapshot = attachment->capture->snapshot;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t row, text;
	int status = snapshot_intern(snapshot, note, strlen(note), &text);

	if (status == 0)
		status = snapshot_process_row(snapshot, process, &row);
	return status < 0 ? status : sheet_set(sheet, row, "jemalloc", CELL_TEXT, text);
}

/* A process with jemalloc that was not read. */
static int lose(struct attachment *attachment, uint32_t process, enum jemalloc_tag tag, int error)
{
	jemalloc_tally_count(&attachment->tally, tag, error);
	return note_process(attachment, process, jemalloc_tags[jemalloc_tag_for(tag, error)].name);
}

static int lose_slow(struct attachment *attachment, uint32_t process, enum jemalloc_tag tag,
		     int error)
{
	if (slow_users_add(attachment->slow, attachment_user(attachment, process)) < 0)
		return -ENOMEM;
	return lose(attachment, process, tag, error);
}

static int keep(struct attachment *attachment, uint32_t process,
		const struct jemalloc_target *target)
{
	struct snapshot *snapshot = attachment->capture->snapshot;
	char note[128];

	for (size_t i = 0; i < target->count; i++) {
		const struct target_thread *thread = &target->threads[i];

		if (!thread->is_read)
			continue;
		snapshot_set(snapshot, METRIC_allocated_bytes, thread->row, thread->allocated);
		snapshot_set(snapshot, METRIC_deallocated_bytes, thread->row, thread->deallocated);
	}
	attachment->tally.threads_read += target->read;
	attachment->tally.threads_missed += target->count - target->read;
	jemalloc_tally_count(&attachment->tally, JEMALLOC_READ, 0);
	snprintf(note, sizeof(note), "%s, %s, %s", target->in_executable ? "executable" : "library",
		 target->layout.route, target->pointers);
	return note_process(attachment, process, note);
}

/* Tasks are in order of their processes. */
static int find_first_tasks(struct attachment *attachment)
{
	const struct snapshot *snapshot = attachment->capture->snapshot;
	uint32_t next = 0;

	if (attachment->first_tasks)
		return 0;
	collector_sort_threads_seen(attachment->capture);
	attachment->first_tasks =
		calloc(snapshot->process_count + 1, sizeof(*attachment->first_tasks));
	if (!attachment->first_tasks)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		attachment->first_tasks[row] = next;
		while (next < snapshot->task_count && snapshot->tasks[next].process == row)
			next++;
	}
	attachment->first_tasks[snapshot->process_count] = next;
	return 0;
}

static int list_threads(struct attachment *attachment, uint32_t process,
			struct jemalloc_target *target)
{
	const struct capture *capture = attachment->capture;
	uint32_t first, end;

	if (find_first_tasks(attachment) < 0)
		return -ENOMEM;
	first = attachment->first_tasks[process];
	end = attachment->first_tasks[process + 1];
	target->threads = calloc(end - first + 1, sizeof(*target->threads));
	if (!target->threads)
		return -ENOMEM;
	target->listed = end - first;
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

static void copy_parts(const struct scout *scout, const struct scouted_process *scouted,
		       struct jemalloc_target *target)
{
	for (int part = 0; part < PART_COUNT; part++) {
		struct target_part *copy = &target->parts[part];

		if (scouted->parts[part] == SCOUT_NONE)
			continue;
		copy->present = true;
		memcpy(&copy->file, &scout->files.data[scouted->parts[part]], sizeof(copy->file));
		copy->place = scouted->places[part];
	}
	target->misses_files = scouted->unreadable > 0;
}

static bool is_in_executable(const struct scouted_process *scouted)
{
	return scouted->parts[PART_HOLDER] == scouted->parts[PART_EXECUTABLE];
}

static struct jemalloc_target *make_target(struct attachment *attachment, uint32_t process,
					   const struct scouted_process *scouted,
					   const struct jemalloc_layout *layout)
{
	struct jemalloc_target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->process = -1;
	target->tgid = attachment->capture->snapshot->processes[process].tgid;
	target->layout = *layout;
	target->in_executable = is_in_executable(scouted);
	copy_parts(attachment->scout, scouted, target);
	if (list_threads(attachment, process, target) < 0) {
		jemalloc_target_free(target);
		return NULL;
	}
	return target;
}

/* The directory of the very process that was captured, or a negative errno. */
static int open_process(struct attachment *attachment, uint32_t row)
{
	const struct process *process = &attachment->capture->snapshot->processes[row];
	CLEANUP(close_fd)
	int dir = proc_open_number(attachment->capture->host->proc, process->tgid);
	int status = dir < 0 ?
			     dir :
			     process_check(attachment->capture, dir, process, &attachment->buffer);

	return status < 0 ? status : TAKE_FD(dir);
}

static int settle_target(struct attachment *attachment, uint32_t process,
			 struct jemalloc_target *target)
{
	const struct process *known = &attachment->capture->snapshot->processes[process];

	attachment->tally.stopped_ns += target->stopped_ns;
	if (target->tag != JEMALLOC_READ)
		return lose(attachment, process, target->tag, target->error);
	/* Memory is read by number: who answers to it now must still be the same. */
	if (process_check(attachment->capture, target->process, known, &attachment->buffer) < 0)
		return lose(attachment, process, JEMALLOC_PROCESS_CHANGED, 0);
	return keep(attachment, process, target);
}

static void release_target(void *context)
{
	jemalloc_target_free(context);
}

static int read_target(struct attachment *attachment, uint32_t process,
		       const struct scouted_process *scouted, const struct jemalloc_layout *layout)
{
	unsigned patience_ms =
		attachment->capture->threads_seen.count ? TARGET_TIMEOUT_MS : STOPPING_TIMEOUT_MS;
	struct jemalloc_target *target;
	int dir = open_process(attachment, process);
	int status;

	if (dir < 0)
		return lose(attachment, process, JEMALLOC_PID_MISSING, dir);
	target = make_target(attachment, process, scouted, layout);
	if (!target) {
		close(dir);
		return -ENOMEM;
	}
	target->process = dir;
	status = aside_run(jemalloc_target_read, release_target, target,
			   time_budget_share(attachment->reading, patience_ms));
	if (status == -ETIMEDOUT) /* the target is its thread's now */
		return lose_slow(attachment, process, JEMALLOC_TARGET_BLOCKED, 0);
	status = status < 0 ? lose(attachment, process, JEMALLOC_TARGET_BLOCKED, status) :
			      settle_target(attachment, process, target);
	jemalloc_target_free(target);
	return status;
}

/* ---- where its jemalloc keeps the counters ---- */

/*
 * Children that read files of different users can tell different things about one file, if
 * one of them was taken over: what was found by one's word is not for all.
 */
static bool is_told_alike(const struct scouted_file *one, const struct scouted_file *other)
{
	const struct elf_findings *a = &one->findings, *b = &other->findings;

	return file_is_same(one->id, other->id) && a->is_native == b->is_native &&
	       a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       one->status.st_dev == other->status.st_dev &&
	       one->status.st_ino == other->status.st_ino &&
	       one->status.st_size == other->status.st_size &&
	       one->status.st_mtim.tv_sec == other->status.st_mtim.tv_sec &&
	       one->status.st_mtim.tv_nsec == other->status.st_mtim.tv_nsec;
}

/* Trust depends on the path, which may differ by process: a refusal holds for that user alone. */
static bool holds_for(const struct known_layout *known, uint64_t user)
{
	return known->layout.tag != JEMALLOC_ORACLE_UNTRUSTED || known->user == user;
}

static const struct jemalloc_layout *known_layout(const struct attachment *attachment,
						  const struct scouted_file *file,
						  bool is_executable, uint32_t process)
{
	uint64_t user = attachment_user(attachment, process);

	for (size_t i = 0; i < attachment->layouts.count; i++) {
		const struct known_layout *known = &attachment->layouts.data[i];

		if (known->is_executable == is_executable && holds_for(known, user) &&
		    is_told_alike(&known->file, file))
			return &known->layout;
	}
	return NULL;
}

const struct offset_cache *attachment_cache(struct attachment *attachment)
{
	if (!attachment->has_cache) {
		attachment->has_cache = true;
		/* Without it all is learned anew. */
		attachment->tally.cache_error = offset_cache_open(&attachment->cache, NULL);
	}
	return &attachment->cache;
}

/* Else it is about the process that led us there. */
static bool is_about_file(enum jemalloc_tag tag)
{
	return tag != JEMALLOC_PID_MISSING && tag != JEMALLOC_TARGET_BLOCKED &&
	       tag != JEMALLOC_FILE_UNREADABLE;
}

static struct jemalloc_question make_question(struct attachment *attachment,
					      const struct scouted_file *file, bool is_executable,
					      uint32_t process)
{
	const struct capture *capture = attachment->capture;

	return (struct jemalloc_question){
		.host = capture->host,
		.budget = attachment->budget,
		.cache = attachment_cache(attachment),
		.may_ask_oracle = !capture->options->no_jemalloc_oracle,
		.tgid = capture->snapshot->processes[process].tgid,
		.file = file,
		.is_executable = is_executable,
	};
}

static int keep_layout(struct attachment *attachment, const struct jemalloc_question *question,
		       const struct jemalloc_layout *layout, uint32_t process)
{
	struct known_layout known = {
		.user = attachment_user(attachment, process),
		.file = *question->file,
		.is_executable = question->is_executable,
		.layout = *layout,
	};

	return array_append(&attachment->layouts, known);
}

/* The layout of a file is the same for all processes. */
static int find_layout(struct attachment *attachment, const struct scouted_process *scouted,
		       uint32_t process, struct jemalloc_layout *ret)
{
	const struct scouted_file *file =
		&attachment->scout->files.data[scouted->parts[PART_HOLDER]];
	bool is_executable = is_in_executable(scouted);
	const struct jemalloc_layout *known =
		known_layout(attachment, file, is_executable, process);
	struct jemalloc_question question;

	if (known) {
		*ret = *known;
		return 0;
	}
	question = make_question(attachment, file, is_executable, process);
	jemalloc_layout_find(&question, ret);
	if (!attachment->tally.cache_error)
		attachment->tally.cache_error = ret->keep_error;
	return is_about_file(ret->tag) ? keep_layout(attachment, &question, ret, process) : 0;
}

bool attachment_knows(struct attachment *attachment, const struct scouted_file *file,
		      bool is_executable, uint32_t process)
{
	const struct jemalloc_layout *known =
		known_layout(attachment, file, is_executable, process);
	struct jemalloc_question question;
	struct jemalloc_layout layout;

	if (known)
		return known->tag == JEMALLOC_READ;
	question = make_question(attachment, file, is_executable, process);
	return jemalloc_layout_recall(&question, &layout) &&
	       keep_layout(attachment, &question, &layout, process) == 0;
}

/* Whether finding out took as long as it may. */
static bool is_slow(enum jemalloc_tag tag)
{
	return tag == JEMALLOC_TARGET_BLOCKED || tag == JEMALLOC_ORACLE_TIMEOUT ||
	       tag == JEMALLOC_OUT_OF_TIME;
}

int attachment_read(struct attachment *attachment, const struct scouted_process *scouted,
		    uint32_t process)
{
	struct jemalloc_layout layout;

	attachment->tally.detected++;
	if (time_budget_is_over(attachment->reading))
		return lose(attachment, process, JEMALLOC_OUT_OF_TIME, 0);
	if (find_layout(attachment, scouted, process, &layout) < 0)
		return -ENOMEM;
	if (is_slow(layout.tag))
		return lose_slow(attachment, process, layout.tag, layout.error);
	if (layout.tag != JEMALLOC_READ)
		return lose(attachment, process, layout.tag, layout.error);
	return read_target(attachment, process, scouted, &layout);
}

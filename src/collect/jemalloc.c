/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/jemalloc_attach.h"
#include "collect/jemalloc_glance.h"
#include "collect/jemalloc_scout.h"
#include "collect/jemalloc_tally.h"
#include "host/privilege.h"

/* Of more processes one is sure not to be settled by a glance. */
#define GLANCES_MAX 8

/* First one process of each program is looked at, then all that cannot go by what it showed. */
#define ROUNDS 2

/* Beyond a share for each process, which ordinary ones do not use up. */
#define BUDGET_MS 5000
#define PROCESSES_PER_MS 2
#define READING_MS 2000 /* of it: is not spent on looking for jemalloc */

/*
 * A process that may have jemalloc.  Of one program of one user with equally many pages of code
 * one is looked at first: when it has no jemalloc, nor have the others (see jemalloc.h on how
 * sure that is).  What the processes of a user show says nothing about those of another.
 */
struct candidate {
	uint32_t row;
	const struct process_image *image;
	uint64_t owner; /* user, or UNKNOWN_USER */
	uint64_t pages; /* executable, 0 when not known: then it is like no other */
	bool is_alone;	/* to be looked at itself */
	bool is_settled;
};

struct collection {
	struct capture *capture;
	ARRAY_OF(struct candidate) candidates;
	struct scout scout;
	struct attachment attachment;
	bool needs_child; /* there is a process that no glance settles */
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
		order = compare_numbers(a->owner, b->owner);
	if (!order)
		order = compare_numbers(a->pages, b->pages);
	return order ? order : compare_numbers(a->row, b->row);
}

static bool is_same_program(const struct candidate *one, const struct candidate *other)
{
	return one->pages && one->pages == other->pages && one->owner == other->owner &&
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
			.owner = attachment_user(&collection->attachment, row),
			.pages = seen ? seen->executable_pages : 0,
		};

		collection->attachment.tally.walked += image->present || image->error;
		if (image->error)
			jemalloc_tally_count(&collection->attachment.tally,
					     JEMALLOC_READLINK_FAILURE, image->error);
		if (image->present && array_append(&collection->candidates, candidate) < 0)
			return -ENOMEM;
	}
	if (collection->candidates.count)
		qsort(collection->candidates.data, collection->candidates.count,
		      sizeof(struct candidate), compare_candidates);
	return 0;
}

/* ---- all of them ---- */

static const enum jemalloc_tag state_tags[] = {
	[SCOUT_LOOKED] = JEMALLOC_NOT_FOUND,	      [SCOUT_GONE] = JEMALLOC_PID_MISSING,
	[SCOUT_NO_MAPS] = JEMALLOC_MAPS_READ_FAILURE, [SCOUT_BLOCKED] = JEMALLOC_TARGET_BLOCKED,
	[SCOUT_DAMAGED] = JEMALLOC_WORKER_PANIC,      [SCOUT_UNREADABLE] = JEMALLOC_FILE_UNREADABLE,
	[SCOUT_OUT_OF_TIME] = JEMALLOC_OUT_OF_TIME,
};

static int settle(struct collection *collection, struct candidate *candidate,
		  const struct scouted_process *scouted)
{
	candidate->is_settled = true;
	if (scouted->parts[PART_HOLDER] != SCOUT_NONE)
		return attachment_read(&collection->attachment, scouted, candidate->row);
	jemalloc_tally_count(&collection->attachment.tally, state_tags[scouted->state],
			     scouted->error);
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

static int ask_about(struct collection *collection, const struct candidate *candidate)
{
	const struct process *processes = collection->capture->snapshot->processes;
	struct scouted_process process = {
		.row = candidate->row,
		.tgid = processes[candidate->row].tgid,
	};

	return array_append(&collection->scout.processes, process);
}

/* Those that stand alone, and the first of each other program: root's, or everybody else's. */
static int choose(struct collection *collection, bool of_root)
{
	size_t count;

	collection->scout.processes.count = 0;
	for (size_t i = 0; i < collection->candidates.count; i += count) {
		bool is_chosen = false;

		count = count_alike(collection, i);
		if ((collection->candidates.data[i].owner == 0) != of_root)
			continue;
		for (size_t j = i; j < i + count; j++) {
			const struct candidate *candidate = &collection->candidates.data[j];

			if (candidate->is_settled || (is_chosen && !candidate->is_alone))
				continue;
			is_chosen = true;
			if (ask_about(collection, candidate) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/*
 * Which files hold jemalloc, may not be opened or do harm is each process's own affair.  Waiting
 * in vain for each of many is not worth it.
 */
static bool holds_for_all(const struct scouted_process *scouted)
{
	return scouted->state == SCOUT_BLOCKED ||
	       (scouted->state == SCOUT_LOOKED && scouted->parts[PART_HOLDER] == SCOUT_NONE);
}

/* What the first one showed, to the others of its program. */
static int settle_others(struct collection *collection, struct candidate *candidates, size_t count,
			 const struct scouted_process *scouted)
{
	for (size_t i = 0; i < count; i++) {
		if (candidates[i].is_settled || candidates[i].is_alone)
			continue;
		if (!holds_for_all(scouted))
			candidates[i].is_alone = true;
		else if (settle(collection, &candidates[i], scouted) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_scouted(const void *left, const void *right)
{
	const struct scouted_process *a = left, *b = right;

	return compare_numbers(a->row, b->row);
}

static int settle_program(struct collection *collection, struct candidate *candidates, size_t count)
{
	const struct scout *scout = &collection->scout;
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		const struct scouted_process key = { .row = candidates[i].row };
		const struct scouted_process *scouted;

		if (candidates[i].is_settled)
			continue;
		scouted = bsearch(&key, scout->processes.data, scout->processes.count, sizeof(key),
				  compare_scouted);
		if (!scouted)
			continue;
		status = settle(collection, &candidates[i], scouted);
		if (status == 0)
			status = settle_others(collection, candidates, count, scouted);
	}
	return status;
}

static int settle_all(struct collection *collection)
{
	struct scout *scout = &collection->scout;
	size_t count;

	qsort(scout->processes.data, scout->processes.count, sizeof(struct scouted_process),
	      compare_scouted);
	for (size_t i = 0; i < collection->candidates.count; i += count) {
		count = count_alike(collection, i);
		if (settle_program(collection, &collection->candidates.data[i], count) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int look_at(struct collection *collection, bool of_root)
{
	int status = choose(collection, of_root);

	if (status < 0 || !collection->scout.processes.count)
		return status;
	collection->scout.files.count = 0;
	status = scout_run(&collection->scout, collection->capture->host);
	return status < 0 ? status : settle_all(collection);
}

/*
 * A few are settled without a child, up to the first that is not: that one needs a child, and what
 * a glance at the others could spare is little then.
 */
static int glance_at_all(struct collection *collection, bool of_root)
{
	size_t count = collection->candidates.count;

	for (size_t i = 0; i < count && !collection->needs_child; i++) {
		struct candidate *candidate = &collection->candidates.data[i];
		int status;

		if ((candidate->owner == 0) != of_root)
			continue;
		status = glance_read(&collection->attachment, &collection->scout, candidate->row);
		if (status < 0)
			return status;
		candidate->is_settled = status == 1;
		collection->needs_child = status == 0;
	}
	return 0;
}

/* Root's come first and by themselves: nobody else can use up their time or their readers. */
static int look(struct collection *collection)
{
	struct time_budget budget =
		time_budget_start(BUDGET_MS + collection->candidates.count / PROCESSES_PER_MS);
	int status = 0;

	collection->attachment.budget = budget;
	collection->scout.budget = time_budget_less(budget, READING_MS);
	collection->needs_child = collection->candidates.count > GLANCES_MAX;
	for (int round = 0; round < 2 * ROUNDS && status == 0; round++) {
		bool of_root = round < ROUNDS;

		if (round % ROUNDS == 0)
			status = glance_at_all(collection, of_root);
		if (status == 0)
			status = look_at(collection, of_root);
	}
	return status;
}

/* ---- what is told at the end ---- */

static int tell_source(struct collection *collection, const char *reason)
{
	struct capture *capture = collection->capture;
	const struct jemalloc_tally *tally = &collection->attachment.tally;
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

	jemalloc_tally_reason(&collection->attachment.tally, &reason);
	absent_text(&collection->attachment.tally, text_string(&reason), &absent);
	if (reason.failed || absent.failed)
		return -ENOMEM;
	status = tell_source(collection, text_string(&reason));
	for (size_t i = 0; i < ARRAY_SIZE(counters) && status == 0; i++)
		if (snapshot_measured(snapshot, counters[i]) < snapshot->task_count)
			status = snapshot_set_absent(snapshot, counters[i], text_string(&absent));
	return status < 0 ? status : jemalloc_tally_note(&collection->attachment.tally, snapshot);
}

static void collection_clear(struct collection *collection)
{
	array_free(&collection->candidates);
	scout_clear(&collection->scout);
	attachment_clear(&collection->attachment);
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
	collection.attachment.capture = capture;
	collection.attachment.tally.has_capability = host_has_capability(CAP_SYS_PTRACE);
	collection.attachment.scout = &collection.scout;
	status = find_candidates(&collection);
	if (status == 0 && collection.candidates.count &&
	    (snapshot_need_column(snapshot, METRIC_allocated_bytes) < 0 ||
	     snapshot_need_column(snapshot, METRIC_deallocated_bytes) < 0))
		status = -ENOMEM;
	if (status == 0)
		status = look(&collection);
	return status < 0 ? status : tell(&collection);
}

/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/jemalloc_attach.h"
#include "collect/jemalloc_glance.h"
#include "collect/jemalloc_scout.h"
#include "collect/jemalloc_tally.h"
#include "collect/jemalloc_tell.h"
#include "collect/jemalloc_users.h"
#include "host/privilege.h"

/* Of more processes one is sure not to be settled by a glance. */
#define GLANCES_MAX 8

/* First one process of each program is looked at, then all that cannot go by what it showed. */
#define ROUNDS 2

#define BUDGET_MS 1000	   /* for finding out who has jemalloc and where it keeps its counters */
#define PROCESSES_PER_MS 2 /* more for reading them, where there are many */
#define SLOW_BUDGET_MS 100 /* for all of those who were slow the last time */

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
	struct slow_users slow;
	bool has_one_user;  /* nobody else waits for the search to end */
	uint64_t slow_user; /* of them: whose turn it is */
	bool needs_child;   /* there is a process that no glance settles */
};

/* The groups of processes that are looked at one after the other. */
enum turn { TURN_ROOT, TURN_OTHERS, TURN_SLOW, TURN_LATER };

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

/* ---- looking at them ---- */

static const enum jemalloc_tag state_tags[] = {
	[SCOUT_LOOKED] = JEMALLOC_NOT_FOUND,	      [SCOUT_GONE] = JEMALLOC_PID_MISSING,
	[SCOUT_NO_MAPS] = JEMALLOC_MAPS_READ_FAILURE, [SCOUT_BLOCKED] = JEMALLOC_TARGET_BLOCKED,
	[SCOUT_DAMAGED] = JEMALLOC_WORKER_PANIC,      [SCOUT_UNREADABLE] = JEMALLOC_FILE_UNREADABLE,
	[SCOUT_OUT_OF_TIME] = JEMALLOC_OUT_OF_TIME,   [SCOUT_PUT_OFF] = JEMALLOC_OUT_OF_TIME,
	[SCOUT_NO_READER] = JEMALLOC_NO_READER,
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
		.user = candidate->owner,
	};

	return array_append(&collection->scout.processes, process);
}

/*
 * Root's come first and by themselves: nobody else can use up their time or their readers.  Who
 * kept us waiting comes last.
 */
static enum turn turn_of(const struct collection *collection, const struct candidate *candidate)
{
	if (slow_users_has(&collection->slow, candidate->owner))
		return candidate->owner == collection->slow_user ? TURN_SLOW : TURN_LATER;
	return candidate->owner == 0 ? TURN_ROOT : TURN_OTHERS;
}

/* Those that stand alone, and the first of each other program. */
static int choose(struct collection *collection, enum turn turn)
{
	size_t count;

	collection->scout.processes.count = 0;
	for (size_t i = 0; i < collection->candidates.count; i += count) {
		bool is_chosen = false;

		count = count_alike(collection, i);
		if (turn_of(collection, &collection->candidates.data[i]) != turn)
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

static int settle_program(struct collection *collection, enum turn turn,
			  struct candidate *candidates, size_t count)
{
	const struct scout *scout = &collection->scout;
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		const struct scouted_process key = { .row = candidates[i].row };
		const struct scouted_process *scouted;

		if (candidates[i].is_settled || turn_of(collection, &candidates[i]) != turn)
			continue;
		scouted = bsearch(&key, scout->processes.data, scout->processes.count, sizeof(key),
				  compare_scouted);
		if (!scouted || scouted->state == SCOUT_PUT_OFF)
			continue;
		status = settle(collection, &candidates[i], scouted);
		if (status == 0)
			status = settle_others(collection, candidates, count, scouted);
	}
	return status;
}

static int settle_all(struct collection *collection, enum turn turn)
{
	struct scout *scout = &collection->scout;
	size_t count;

	qsort(scout->processes.data, scout->processes.count, sizeof(struct scouted_process),
	      compare_scouted);
	for (size_t i = 0; i < collection->candidates.count; i += count) {
		count = count_alike(collection, i);
		if (settle_program(collection, turn, &collection->candidates.data[i], count) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int look_at(struct collection *collection, enum turn turn)
{
	int status = choose(collection, turn);

	if (status < 0 || !collection->scout.processes.count)
		return status;
	collection->scout.files.count = 0;
	status = scout_run(&collection->scout, collection->capture->host);
	return status < 0 ? status : settle_all(collection, turn);
}

/*
 * A few are settled without a child, up to the first that is not: that one needs a child, and what
 * a glance at the others could spare is little then.
 */
static int glance_at_all(struct collection *collection, enum turn turn)
{
	size_t count = collection->candidates.count;

	for (size_t i = 0; i < count && !collection->needs_child; i++) {
		struct candidate *candidate = &collection->candidates.data[i];
		int status;

		if (candidate->is_settled || turn_of(collection, candidate) != turn)
			continue;
		status = glance_read(&collection->attachment, &collection->scout, candidate->row);
		if (status < 0)
			return status;
		candidate->is_settled = status == 1;
		collection->needs_child = status == 0;
	}
	return 0;
}

static int take_turn(struct collection *collection, enum turn turn)
{
	int status = glance_at_all(collection, turn);

	/* Those of one user: nobody is put off any more. */
	collection->scout.slow = turn == TURN_SLOW ? NULL : &collection->slow;
	for (int round = 0; round < ROUNDS && status == 0; round++)
		status = look_at(collection, turn);
	return status;
}

/* Each user is asked for once: candidates of one are not beside each other. */
static int recall_slow_users(struct collection *collection)
{
	CLEANUP(slow_users_clear) struct slow_users asked = { 0 };
	const struct offset_cache *cache = attachment_cache(&collection->attachment);

	for (size_t i = 0; i < collection->candidates.count; i++) {
		uint64_t user = collection->candidates.data[i].owner;

		if (slow_users_has(&asked, user))
			continue;
		if (slow_users_add(&asked, user) < 0)
			return -ENOMEM;
		if (slow_user_is_remembered(cache, user) &&
		    slow_users_add(&collection->slow, user) < 0)
			return -ENOMEM;
	}
	collection->has_one_user = asked.list.count == 1;
	return 0;
}

static void set_budget(struct collection *collection, uint64_t ms)
{
	struct time_budget budget = time_budget_start(ms);

	collection->attachment.budget = collection->attachment.reading = budget;
	collection->scout.budget = budget;
}

/*
 * One after the other, each with an equal part of what is left; those who were slow before have
 * a little of it, unless they are looked at alone.
 */
static int look_at_slow_users(struct collection *collection, size_t remembered)
{
	struct time_budget whole = collection->attachment.budget;
	size_t count = collection->slow.list.count;
	int status = 0;

	for (size_t i = count; i-- > 0 && status == 0;) {
		size_t waiting = i < remembered ? i + 1 : i + 1 - remembered;

		if (i + 1 == remembered && !collection->has_one_user)
			whole = time_budget_start(time_budget_allow(whole, SLOW_BUDGET_MS));
		collection->slow_user = collection->slow.list.data[i];
		set_budget(collection, time_budget_allow(whole, BUDGET_MS) / waiting);
		status = take_turn(collection, TURN_SLOW);
	}
	return status;
}

static int look(struct collection *collection)
{
	struct attachment *attachment = &collection->attachment;
	int status = recall_slow_users(collection);
	size_t remembered = collection->slow.list.count;

	attachment->budget = collection->scout.budget = time_budget_start(BUDGET_MS);
	attachment->reading =
		time_budget_start(BUDGET_MS + collection->candidates.count / PROCESSES_PER_MS);
	attachment->slow = &collection->slow;
	collection->needs_child = collection->candidates.count > GLANCES_MAX;
	if (status == 0)
		status = take_turn(collection, TURN_ROOT);
	if (status == 0)
		status = take_turn(collection, TURN_OTHERS);
	if (status == 0)
		status = look_at_slow_users(collection, remembered);
	/* Whom root keeps waiting is root's own affair: all others still come later. */
	for (size_t i = remembered; i < collection->slow.list.count; i++)
		if (collection->slow.list.data[i] != 0)
			slow_user_remember(attachment_cache(attachment),
					   collection->slow.list.data[i]);
	return status;
}

static void collection_clear(struct collection *collection)
{
	array_free(&collection->candidates);
	scout_clear(&collection->scout);
	slow_users_clear(&collection->slow);
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
	return status < 0 ? status : jemalloc_tell(capture, &collection.attachment.tally);
}

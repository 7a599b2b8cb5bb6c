/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/order.h"
#include "collect/collector.h"
#include "collect/jemalloc/jemalloc_process.h"
#include "host/privilege.h"

#define PROCESSES_PER_MS 2 /* extra time for reading, when there are many */
#define SLOW_BUDGET_MS 100 /* for all users who were late in the last hour */

/*
 * A process that may have jemalloc.  Among the processes of one user that run the same program
 * with the same number of code pages, one is read first: if it has no jemalloc, the others have
 * none either (jemalloc.h says how certain that is).  Processes of one user say nothing about
 * those of another.
 */
struct candidate {
	uint32_t row;
	const struct process_image *image;
	uint64_t owner; /* user, or UNKNOWN_USER */
	uint64_t pages; /* executable; 0: not known, then it is not grouped with others */
	bool is_done;
};

struct collection {
	struct capture *capture;
	struct heap_reader reader;
	ARRAY_OF(struct candidate) candidates;
	bool has_one_user;  /* no other user is waiting for the search to end */
	uint64_t slow_user; /* the slow user whose turn it is */
};

/* The groups of processes that are read one after the other. */
enum turn { TURN_ROOT, TURN_OTHERS, TURN_SLOW, TURN_LATER };

/* ---- which processes to read ---- */

static int compare_programs(const struct candidate *a, const struct candidate *b)
{
	int order = compare_numbers(a->image->inode, b->image->inode);

	if (!order)
		order = compare_numbers(a->image->device, b->image->device);
	if (!order)
		order = compare_numbers((uint64_t)a->image->changed_ns,
					(uint64_t)b->image->changed_ns);
	if (!order)
		order = compare_numbers(a->owner, b->owner);
	return order ? order : compare_numbers(a->pages, b->pages);
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = compare_programs(a, b);

	return order ? order : compare_numbers(a->row, b->row);
}

static bool is_same_program(const struct candidate *one, const struct candidate *other)
{
	return one->pages && compare_programs(one, other) == 0;
}

static int find_candidates(struct collection *collection)
{
	const struct capture *capture = collection->capture;
	const struct snapshot *snapshot = capture->snapshot;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process_image *image = &capture->images[row];
		const struct walked_process *walked =
			walked_process_find(capture, &snapshot->processes[row]);
		struct candidate candidate = {
			.row = row,
			.image = image,
			.owner = heap_reader_user(&collection->reader, row),
			.pages = walked ? walked->executable_pages : 0,
		};

		collection->reader.tally.walked += image->present || image->error;
		if (image->error)
			jemalloc_tally_count(&collection->reader.tally, JEMALLOC_READLINK_FAILURE,
					     image->error);
		if (image->lacks_jemalloc)
			jemalloc_tally_count(&collection->reader.tally, JEMALLOC_NOT_FOUND, 0);
		else if (image->present && array_append(&collection->candidates, candidate) < 0)
			return -ENOMEM;
	}
	array_sort(&collection->candidates, compare_candidates);
	return 0;
}

/* Adds every user once; their order does not matter. */
static int find_users(struct collection *collection)
{
	struct jemalloc_source *source = collection->reader.source;
	const struct candidate *candidates = collection->candidates.data;

	user_times_start(&source->users);
	collection->has_one_user = true;
	for (size_t i = 0; i < collection->candidates.count; i++) {
		if (user_times_add(&source->users, &source->cache, candidates[i].owner) < 0)
			return -ENOMEM;
		collection->has_one_user &= candidates[i].owner == candidates[0].owner;
	}
	return 0;
}

/* ---- reading them ---- */

/*
 * Root's processes come first, in a turn of their own, so that nobody else can use up their time.
 * Those of slow users come last.
 */
static enum turn turn_of(const struct collection *collection, const struct candidate *candidate)
{
	const struct user_time *user =
		user_times_find(&collection->reader.source->users, candidate->owner);

	if (user && user_is_slow(user))
		return candidate->owner == collection->slow_user ? TURN_SLOW : TURN_LATER;
	return candidate->owner == 0 ? TURN_ROOT : TURN_OTHERS;
}

/* The number of candidates from `first` on that run the same program. */
static size_t count_alike(const struct collection *collection, size_t first)
{
	size_t count = 1;

	while (first + count < collection->candidates.count &&
	       is_same_program(&collection->candidates.data[first],
			       &collection->candidates.data[first + count]))
		count++;
	return count;
}

/*
 * Whether an outcome is the same for all processes of a program.  That there is no jemalloc is; a
 * timeout is treated so, since waiting for each process would take too long.  Everything else
 * differs by process.
 */
static bool holds_for_all(int outcome)
{
	return outcome == JEMALLOC_NOT_FOUND || outcome == JEMALLOC_TARGET_BLOCKED;
}

/*
 * Reads the processes of one program.  If their user becomes slow, the rest waits for a later
 * turn.
 */
static int read_program(struct collection *collection, enum turn turn, struct candidate *candidates,
			size_t count)
{
	bool is_alike = false;
	int outcome = JEMALLOC_READ;

	for (size_t i = 0; i < count; i++) {
		if (candidates[i].is_done)
			continue;
		if (is_alike) {
			jemalloc_tally_count(&collection->reader.tally, outcome, 0);
		} else {
			if (turn_of(collection, &candidates[i]) != turn)
				return 0;
			outcome = heap_reader_read(&collection->reader, candidates[i].row);
			if (outcome < 0)
				return outcome;
			is_alike = holds_for_all(outcome);
		}
		candidates[i].is_done = true;
		collection->capture->images[candidates[i].row].lacks_jemalloc =
			outcome == JEMALLOC_NOT_FOUND;
	}
	return 0;
}

static int take_turn(struct collection *collection, enum turn turn)
{
	int status = 0;
	size_t count;

	for (size_t i = 0; i < collection->candidates.count && status == 0; i += count) {
		count = count_alike(collection, i);
		status = read_program(collection, turn, &collection->candidates.data[i], count);
	}
	return status;
}

/* The number of slow users who were (or were not) late in the last hour. */
static size_t count_slow(const struct user_times *users, bool was_late_before)
{
	size_t count = 0;

	for (size_t i = 0; i < users->list.count; i++)
		count += user_is_slow(&users->list.data[i]) &&
			 users->list.data[i].was_late_before == was_late_before;
	return count;
}

/* Reads one slow user after the other; each gets an equal part of the time that is left. */
static int take_slow_turns(struct collection *collection, struct time_budget whole,
			   bool was_late_before)
{
	const struct user_times *users = &collection->reader.source->users;
	size_t waiting = count_slow(users, was_late_before);
	int status = 0;

	for (size_t i = 0; i < users->list.count && status == 0; i++) {
		const struct user_time *user = &users->list.data[i];

		if (!user_is_slow(user) || user->was_late_before != was_late_before)
			continue;
		collection->slow_user = user->user;
		collection->reader.learning = collection->reader.reading =
			time_budget_start(time_budget_allow(whole, UINT32_MAX) / waiting--);
		status = take_turn(collection, TURN_SLOW);
	}
	return status;
}

/* Users who were late in the last hour get little time, unless there are no others. */
static int read_all(struct collection *collection)
{
	struct heap_reader *reader = &collection->reader;
	unsigned asked_ms = reader->capture->options->jemalloc_ms;
	unsigned ms = asked_ms ? asked_ms : JEMALLOC_BUDGET_MS;
	struct time_budget whole = time_budget_start(ms);
	int status;

	reader->learning = whole;
	reader->reading = time_budget_start(ms + collection->candidates.count / PROCESSES_PER_MS);
	status = take_turn(collection, TURN_ROOT);
	if (status == 0)
		status = take_turn(collection, TURN_OTHERS);
	if (status == 0)
		status = take_slow_turns(collection, whole, false);
	if (!collection->has_one_user)
		whole = time_budget_start(time_budget_allow(whole, SLOW_BUDGET_MS));
	if (status == 0)
		status = take_slow_turns(collection, whole, true);
	user_times_remember(&reader->source->users, &reader->source->cache);
	return status;
}

/* ---- the source ---- */

int jemalloc_open(struct jemalloc_source **ret)
{
	struct jemalloc_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	/* Without a cache, everything is learned again. */
	source->cache_error = offset_cache_open(&source->cache, NULL);
	*ret = source;
	return 0;
}

void jemalloc_close(struct jemalloc_source *source)
{
	if (!source)
		return;
	offset_cache_close(&source->cache);
	user_times_clear(&source->users);
	array_free(&source->layouts);
	free(source);
}

/*
 * Failures are not kept for the next sample: the file may have changed, or the obstacle may be
 * gone.
 */
static void forget_failures(struct jemalloc_source *source)
{
	size_t kept = 0;

	for (size_t i = 0; i < source->layouts.count; i++) {
		const struct known_layout *known = &source->layouts.data[i];

		if (known->has_status &&
		    (known->layout.tag == JEMALLOC_READ || known->layout.tag == JEMALLOC_NOT_FOUND))
			source->layouts.data[kept++] = source->layouts.data[i];
	}
	source->layouts.count = kept;
}

static void collection_clear(struct collection *collection)
{
	array_free(&collection->candidates);
	proc_buffer_clear(&collection->reader.buffer);
}

int jemalloc_sample(struct jemalloc_source *source, struct capture *capture)
{
	CLEANUP(collection_clear) struct collection collection = { .capture = capture };
	struct heap_reader *reader = &collection.reader;
	struct snapshot *snapshot = capture->snapshot;
	int status;

	if (!capture->images)
		return 0;
	reader->source = source;
	reader->capture = capture;
	reader->tally.has_capability = host_has_capability(CAP_SYS_PTRACE);
	forget_failures(source);
	status = find_candidates(&collection);
	if (status == 0 && collection.candidates.count &&
	    (snapshot_need_column(snapshot, METRIC_allocated_bytes) < 0 ||
	     snapshot_need_column(snapshot, METRIC_deallocated_bytes) < 0))
		status = -ENOMEM;
	if (status == 0)
		status = find_users(&collection);
	if (status == 0)
		status = read_all(&collection);
	reader->tally.cache_error = source->cache_error;
	return status < 0 ? status : jemalloc_report(capture, &reader->tally);
}

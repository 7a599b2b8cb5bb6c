/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_tally.h"

#include <errno.h>
#include <stdlib.h>

#define CELLS_MAX (32 * 1024)
#define SLOTS (2 * CELLS_MAX) /* a power of two, never full */

int path_tally_init(struct path_tally *tally, const struct timeline *timeline, uint64_t begin_ns)
{
	*tally = (struct path_tally){
		.timeline = timeline,
		.begin_ns = begin_ns,
		.now_ns = begin_ns,
		.slots = calloc(SLOTS, sizeof(*tally->slots)),
	};
	return tally->slots ? 0 : -ENOMEM;
}

void path_tally_free(struct path_tally *tally)
{
	array_free(&tally->cells);
	free(tally->slots);
	tally->slots = NULL;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static bool is_same(const struct path_cell *cell, const struct path_cell *key)
{
	return cell->thread == key->thread && cell->program == key->program &&
	       cell->peer == key->peer && cell->kind == key->kind && cell->via == key->via;
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t *find_slot(const struct path_tally *tally, const struct path_cell *key)
{
	uint64_t hash = mix(mix(mix(key->thread, key->program), key->peer),
			    (uint64_t)key->kind << 8 | key->via);
	size_t at = hash & (SLOTS - 1);

	while (tally->slots[at] && !is_same(&tally->cells.data[tally->slots[at] - 1], key))
		at = (at + 1) & (SLOTS - 1);
	return &tally->slots[at];
}

static struct path_cell *find_cell(struct path_tally *tally, struct path_cell key)
{
	uint32_t *slot = find_slot(tally, &key);

	if (!*slot && tally->cells.count >= CELLS_MAX) {
		key = (struct path_cell){ .thread = PATH_REST, .kind = key.kind, .via = key.via };
		slot = find_slot(tally, &key);
	}
	if (*slot)
		return &tally->cells.data[*slot - 1];
	if (array_append(&tally->cells, key) < 0) {
		tally->status = -ENOMEM;
		return NULL;
	}
	*slot = (uint32_t)tally->cells.count;
	return &tally->cells.data[*slot - 1];
}

static uint64_t length_of(const struct path_segment *segment)
{
	return segment->end_ns - segment->begin_ns;
}

static void swap(struct path_segment *one, struct path_segment *other)
{
	struct path_segment kept = *one;

	*one = *other;
	*other = kept;
}

static void sift_down(struct path_segment *heap, size_t count)
{
	for (size_t at = 0;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
			if (length_of(&heap[child]) < length_of(&heap[least]))
				least = child;
		if (least == at)
			return;
		swap(&heap[at], &heap[least]);
		at = least;
	}
}

static void sift_up(struct path_segment *heap, size_t at)
{
	while (at && length_of(&heap[at]) < length_of(&heap[(at - 1) / 2])) {
		swap(&heap[at], &heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static void keep_segment(struct path_tally *tally)
{
	const struct path_segment *segment = &tally->last;

	if (!length_of(segment))
		return;
	tally->segments++;
	if (tally->longest_count < PATH_SEGMENTS_MAX) {
		tally->longest[tally->longest_count] = *segment;
		sift_up(tally->longest, tally->longest_count++);
	} else if (length_of(segment) > length_of(&tally->longest[0])) {
		tally->longest[0] = *segment;
		sift_down(tally->longest, tally->longest_count);
	}
}

static void extend_segment(struct path_tally *tally, uint64_t until_ns,
			   const struct path_piece *piece)
{
	struct path_segment *last = &tally->last;
	uint64_t end_ns = until_ns - tally->begin_ns;

	if (tally->last_thread != piece->thread || last->kind != piece->kind ||
	    last->via != piece->via || last->object != piece->object) {
		keep_segment(tally);
		*last = (struct path_segment){
			.begin_ns = last->end_ns,
			.kind = piece->kind,
			.via = piece->via,
			.object = piece->object,
		};
		if (piece->thread != PATH_FOLDED)
			last->task = tally->timeline->threads[piece->thread].task;
		tally->last_thread = piece->thread;
	}
	last->end_ns = end_ns;
}

static void add_to_cell(struct path_tally *tally, uint64_t ns, const struct path_piece *piece,
			uint32_t program)
{
	struct path_cell key = {
		.thread = piece->thread,
		.program = program,
		.peer = piece->peer,
		.kind = piece->kind,
		.via = piece->via,
	};
	struct path_cell *cell = find_cell(tally, key);

	if (!cell)
		return;
	cell->count++;
	cell->ns += ns;
	cell->by_tree_ns += path_part_ns(ns, piece->by_tree);
	cell->by_outside_ns += path_part_ns(ns, piece->by_outside);
}

/* When the process executes another program next. */
static uint64_t next_exec(const struct timeline_process *process, uint64_t time_ns)
{
	for (uint32_t i = 0; i < process->execs; i++)
		if (process->exec_ns[i] > time_ns)
			return process->exec_ns[i];
	return UINT64_MAX;
}

void path_tally_add(struct path_tally *tally, uint64_t until_ns, const struct path_piece *piece)
{
	const struct timeline *timeline = tally->timeline;
	const struct timeline_process *process =
		piece->thread == PATH_FOLDED ?
			NULL :
			&timeline->processes[timeline->threads[piece->thread].process];

	if (until_ns <= tally->now_ns)
		return;
	extend_segment(tally, until_ns, piece);
	while (tally->now_ns < until_ns) {
		uint64_t exec_ns = process ? next_exec(process, tally->now_ns) : UINT64_MAX;
		uint64_t end_ns = exec_ns < until_ns ? exec_ns : until_ns;
		uint32_t program =
			process ? timeline_program_at(process, tally->now_ns) : piece->program;

		add_to_cell(tally, end_ns - tally->now_ns, piece, program);
		tally->now_ns = end_ns;
	}
}

static int compare_begins(const void *one, const void *other)
{
	const struct path_segment *first = one, *second = other;

	return (first->begin_ns > second->begin_ns) - (first->begin_ns < second->begin_ns);
}

int path_tally_segments(struct path_tally *tally, struct critical_path *path)
{
	keep_segment(tally);
	tally->last.begin_ns = tally->last.end_ns;
	qsort(tally->longest, tally->longest_count, sizeof(tally->longest[0]), compare_begins);
	for (size_t i = 0; i < tally->longest_count; i++)
		if (array_append(&path->segments, tally->longest[i]) < 0)
			return -ENOMEM;
	path->segments_omitted = tally->segments - tally->longest_count;
	return 0;
}

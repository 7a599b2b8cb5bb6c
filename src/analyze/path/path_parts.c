/* SPDX-License-Identifier: MIT */
/* Makes the parts of a critical path: adds cells up by program, thread name, kind and way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/path_tally.h"
#include "base/cleanup.h"
#include "base/collection/order.h"

/* When there are more parts than PATH_PARTS_MAX, so many stay; the rest is added up by kind. */
#define PARTS_KEPT (PATH_PARTS_MAX - PATH_KIND_COUNT)

CLEANUP_POINTER(dictionary_free, struct dictionary)

static const char *leader_comm(const struct timeline *timeline,
			       const struct timeline_thread *thread)
{
	const struct timeline_thread *leader = number_map_get(&timeline->by_tid, thread->task.pid);

	return leader && leader->process == thread->process ? leader->comm : thread->comm;
}

/* What the thread was called while its process ran that program. */
static const char *thread_comm(const struct timeline *timeline, const struct path_cell *cell,
			       const struct program_texts *texts)
{
	const struct timeline_thread *thread = &timeline->threads[cell->thread];
	const struct timeline_process *process = &timeline->processes[thread->process];

	if (thread->task.tid != thread->task.pid || !texts->comm[0] ||
	    cell->program == process->programs[process->execs])
		return thread->comm;
	return texts->comm;
}

static int name_cell(const struct timeline *timeline, struct dictionary *names,
		     struct path_cell *cell)
{
	char name[PATH_LABEL_SIZE + TREE_COMM_SIZE + 1];
	struct program_texts texts;
	const char *comm = texts.comm;
	int length;

	timeline_program(timeline, cell->program, &texts);
	cell->process = PATH_FOLDED;
	if (cell->thread < PATH_REST) {
		const struct timeline_thread *thread = &timeline->threads[cell->thread];

		cell->process = thread->process;
		comm = thread_comm(timeline, cell, &texts);
		if (!texts.label[0])
			snprintf(texts.label, sizeof(texts.label), "%s",
				 leader_comm(timeline, thread));
	}
	if (cell->thread == PATH_REST)
		snprintf(texts.label, sizeof(texts.label), PATH_OTHERS);
	length = snprintf(name, sizeof(name), "%s\n%s", texts.label, comm);
	return dictionary_add(names, name, (size_t)length, &cell->name);
}

static int compare_cells(const void *one, const void *other)
{
	const struct path_cell *first = one, *second = other;

	if (first->name != second->name)
		return compare_numbers(first->name, second->name);
	if (first->kind != second->kind)
		return compare_numbers(first->kind, second->kind);
	if (first->via != second->via)
		return compare_numbers(first->via, second->via);
	return compare_numbers(first->process, second->process);
}

static int compare_peers(const void *one, const void *other)
{
	const struct path_cell *first = one, *second = other;

	return compare_numbers(first->peer, second->peer);
}

/* A part's cells, by process: how many there were, and which had most of it. */
static void add_processes(const struct timeline *timeline, const struct path_cell *cells,
			  size_t count, struct path_part *part)
{
	for (size_t i = 0, next; i < count; i = next) {
		uint32_t program = cells[i].program;
		struct program_texts texts;
		uint64_t ns = 0, pieces = 0, longest_ns = 0;

		for (next = i; next < count && cells[next].process == cells[i].process; next++) {
			ns += cells[next].ns;
			pieces += cells[next].count;
			if (cells[next].ns > longest_ns) {
				longest_ns = cells[next].ns;
				program = cells[next].program;
			}
		}
		/* Each wait that a folded thread ended was ended by another one. */
		part->processes += cells[i].process == PATH_FOLDED ? pieces : 1;
		if (ns <= part->command_ns)
			continue;
		part->command_ns = ns;
		timeline_program(timeline, program, &texts);
		snprintf(part->command, sizeof(part->command), "%s", texts.command);
	}
}

static void add_peers(const struct timeline *timeline, struct path_cell *cells, size_t count,
		      struct path_part *part)
{
	qsort(cells, count, sizeof(*cells), compare_peers);
	for (size_t i = 0, next; i < count; i = next) {
		uint64_t ns = 0;

		for (next = i; next < count && cells[next].peer == cells[i].peer; next++)
			ns += part->kind == PATH_RUN_QUEUE ? cells[next].by_outside_ns :
							     cells[next].ns;
		if (!cells[i].peer || ns <= part->peer_ns)
			continue;
		part->peer_ns = ns;
		snprintf(part->peer, sizeof(part->peer), "%s",
			 timeline_peer(timeline, cells[i].peer));
	}
}

static void make_part(const struct timeline *timeline, const struct dictionary *names,
		      struct path_cell *cells, size_t count, struct path_part *ret)
{
	const char *name = dictionary_text(names, cells[0].name);
	size_t label_length = strcspn(name, "\n");

	*ret = (struct path_part){ .kind = cells[0].kind, .via = cells[0].via };
	memcpy(ret->program, name, label_length);
	snprintf(ret->thread, sizeof(ret->thread), "%s", name + label_length + 1);
	for (size_t i = 0; i < count; i++) {
		ret->ns += cells[i].ns;
		ret->by_tree_ns += cells[i].by_tree_ns;
		ret->by_outside_ns += cells[i].by_outside_ns;
	}
	add_processes(timeline, cells, count, ret);
	add_peers(timeline, cells, count, ret);
}

static bool is_same_part(const struct path_cell *one, const struct path_cell *other)
{
	return one->name == other->name && one->kind == other->kind && one->via == other->via;
}

/* The cells of one part. */
struct group {
	struct path_cell *cells;
	size_t count;
	uint64_t ns;
};

static int compare_groups(const void *one, const void *other)
{
	const struct group *first = one, *second = other;
	int order = compare_numbers(second->ns, first->ns);

	return order ? order : compare_cells(first->cells, second->cells);
}

/* Puts cells of one part together; returns how many groups there are. */
static size_t group_cells(struct path_cell *cells, size_t count, struct group *ret)
{
	size_t groups = 0;

	qsort(cells, count, sizeof(*cells), compare_cells);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || !is_same_part(&cells[i - 1], &cells[i]))
			ret[groups++] = (struct group){ .cells = &cells[i] };
		ret[groups - 1].count++;
		ret[groups - 1].ns += cells[i].ns;
	}
	qsort(ret, groups, sizeof(*ret), compare_groups);
	return groups;
}

static int add_others(struct critical_path *path, const struct group *groups, size_t count)
{
	struct path_part others[PATH_KIND_COUNT] = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct path_part *sum = &others[groups[i].cells[0].kind];

		for (size_t k = 0; k < groups[i].count; k++) {
			sum->ns += groups[i].cells[k].ns;
			sum->by_tree_ns += groups[i].cells[k].by_tree_ns;
			sum->by_outside_ns += groups[i].cells[k].by_outside_ns;
		}
	}
	for (int kind = 0; kind < PATH_KIND_COUNT; kind++) {
		if (!others[kind].ns)
			continue;
		snprintf(others[kind].program, sizeof(others[kind].program), PATH_OTHERS);
		others[kind].kind = (uint8_t)kind;
		others[kind].via = PATH_DIRECT;
		if (array_append(&path->parts, others[kind]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int path_tally_parts(struct path_tally *tally, struct critical_path *path)
{
	CLEANUP(dictionary_free_pointer) struct dictionary *names = dictionary_new();
	CLEANUP(free_pointer)
	struct group *groups = calloc(tally->cells.count + 1, sizeof(*groups));
	size_t count, kept;

	if (!names || !groups)
		return -ENOMEM;
	for (size_t i = 0; i < tally->cells.count; i++)
		if (name_cell(tally->timeline, names, &tally->cells.data[i]) < 0)
			return -ENOMEM;
	if (!tally->cells.count)
		return 0;
	count = group_cells(tally->cells.data, tally->cells.count, groups);
	kept = count <= PATH_PARTS_MAX ? count : PARTS_KEPT;
	for (size_t i = 0; i < kept; i++) {
		struct path_part part;

		make_part(tally->timeline, names, groups[i].cells, groups[i].count, &part);
		if (array_append(&path->parts, part) < 0)
			return -ENOMEM;
	}
	return add_others(path, groups + kept, count - kept);
}

/* SPDX-License-Identifier: MIT */
/* Adds up, by program, the processes that ended and were not kept. */
#include <string.h>

#include "base/collection/array.h"
#include "model/counter.h"
#include "model/tree/tree_member.h"

static uint32_t hash_comm(const char *comm)
{
	uint32_t hash = 2166136261u;

	for (; *comm; comm++)
		hash = (hash ^ (uint8_t)*comm) * 16777619u;
	return hash;
}

/* The slot of the program, or the free slot where it belongs; one is always free. */
static uint16_t *find_slot(const struct tree *tree, const char *comm)
{
	uint32_t at = hash_comm(comm) % PROGRAM_SLOTS;
	uint16_t *slots = tree->index->program_slots;

	while (slots[at] && strcmp(tree->programs[slots[at] - 1].comm, comm) != 0)
		at = (at + 1) % PROGRAM_SLOTS;
	return &slots[at];
}

/* Programs that find no room share `other_programs`. */
static struct program_sums *find_program(struct tree *tree, const char *comm)
{
	uint16_t *slot = find_slot(tree, comm);
	struct program_sums *program;

	if (*slot)
		return &tree->programs[*slot - 1];
	if (tree->program_count == TREE_PROGRAMS ||
	    array_reserve_bytes((void **)&tree->programs, &tree->program_capacity,
				tree->program_count + 1, sizeof(struct program_sums)) < 0)
		return &tree->other_programs;
	program = &tree->programs[tree->program_count++];
	*program = (struct program_sums){ 0 };
	comm_set(program->comm, comm);
	*slot = (uint16_t)tree->program_count;
	return program;
}

static void add_peak(struct program_sums *program, const struct tree_process_facts *facts)
{
	if (!(facts->present & TREE_PROCESS_PEAK_RSS))
		return;
	program->has_peak_rss = true;
	counter_raise(&program->peak_rss_bytes, facts->peak_rss_bytes);
}

bool tree_process_failed(const struct tree_process *process)
{
	return process->facts.present & TREE_PROCESS_STATUS && process->facts.status != 0;
}

void program_add(struct program_sums *program, const struct tree_process *process)
{
	if (!program->processes || process->begin_ns < program->begin_ns)
		program->begin_ns = process->begin_ns;
	counter_raise(&program->end_ns, process->end_ns);
	program->processes++;
	counter_add(&program->threads, process->threads);
	program->failures += tree_process_failed(process);
	add_peak(program, &process->facts);
	amounts_add(&program->amounts, &process->amounts);
}

void tree_fold_process(struct tree *tree, const struct tree_process *process)
{
	program_add(find_program(tree, process->comm), process);
	tree->folded_processes++;
}

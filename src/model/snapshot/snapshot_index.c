/* SPDX-License-Identifier: MIT */
#include "model/snapshot/snapshot_index.h"

#include <errno.h>
#include <stdlib.h>

#include "model/snapshot/snapshot.h"

static size_t index_slot(const struct snapshot *snapshot, int32_t tgid)
{
	size_t mask = snapshot->process_index_size - 1;
	/*
	 * Use the upper half: the lower bits of the product repeat when all ids are multiples of a
	 * number.
	 */
	size_t slot = ((uint32_t)tgid * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (snapshot->process_index[slot] &&
	       snapshot->processes[snapshot->process_index[slot] - 1].tgid != tgid)
		slot = (slot + 1) & mask;
	return slot;
}

int snapshot_index_rebuild(struct snapshot *snapshot, size_t rows)
{
	size_t size = 64;
	uint32_t *index;

	while (size < rows * 2)
		size *= 2;
	index = calloc(size, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(snapshot->process_index);
	snapshot->process_index = index;
	snapshot->process_index_size = size;
	for (size_t row = 0; row < snapshot->process_count; row++)
		index[index_slot(snapshot, snapshot->processes[row].tgid)] = (uint32_t)row + 1;
	return 0;
}

int snapshot_index_add(struct snapshot *snapshot, uint32_t row)
{
	if (2 * ((size_t)row + 1) > snapshot->process_index_size &&
	    snapshot_index_rebuild(snapshot, (size_t)row + 1) < 0)
		return -ENOMEM;
	snapshot->process_index[index_slot(snapshot, snapshot->processes[row].tgid)] = row + 1;
	return 0;
}

int64_t snapshot_find_process(const struct snapshot *snapshot, int32_t tgid)
{
	if (snapshot->process_index_size == 0)
		return -1;
	return (int64_t)snapshot->process_index[index_slot(snapshot, tgid)] - 1;
}

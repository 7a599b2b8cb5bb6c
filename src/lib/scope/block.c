/* SPDX-License-Identifier: MIT */
#include "lib/scope/block.h"

#include "lib/scope/statistics.h"

static void count_closed(struct scope_thread *block, uint32_t index, uint64_t ticks)
{
	struct scope_frame *frame = &block->frames[index];
	uint64_t took = ticks > frame->entered_ticks ? ticks - frame->entered_ticks : 0;

	statistics_close(block, frame->label, took,
			 took > frame->inner_ticks ? took - frame->inner_ticks : 0);
	if (index)
		STORE(frame[-1].inner_ticks, frame[-1].inner_ticks + took);
}

void frames_close(struct scope_thread *block, uint32_t index, uint64_t ticks, bool has_statistics)
{
	uint64_t inside = block->depth - index - 1 + block->hidden;

	for (uint32_t i = block->depth; i > index; i--) {
		STORE(block->frames[i - 1].generation, 0);
		if (has_statistics)
			count_closed(block, i - 1, ticks);
	}
	if (inside)
		STORE(block->unwound, block->unwound + inside);
	STORE(block->hidden, 0);
	STORE(block->texts_used, block->frames[index].texts_used);
	STORE(block->depth, index);
}

void frames_drop(struct scope_thread *block)
{
	STORE(block->unwound, block->unwound + block->depth + block->hidden);
	for (uint32_t i = 0; i < block->depth; i++)
		STORE(block->frames[i].generation, 0);
	STORE(block->hidden, 0);
	STORE(block->texts_used, 0);
	STORE(block->depth, 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * What a program says about its open scopes: how far they are, how long they may take, that they
 * wait.  And what it calls its threads.
 */
#include <taskscope.h>

#include "lib/attributes.h"
#include "lib/heartbeat/heartbeat.h"
#include "lib/scope/block.h"
#include "lib/scope/handle.h"
#include "lib/scope/threads.h"
#include "lib/scope/ticks.h"

/*
 * Returns the frame if its scope is still open, else NULL.  If the scope ends at this moment and
 * another opens in its place, the caller's step may be counted there.
 */
static inline struct scope_frame *progress_frame(const struct taskscope_progress *progress)
{
	struct scope_frame *frame;
	uint32_t generation;

	if (UNLIKELY(!progress))
		return NULL;
	frame = progress->frame;
	generation = handle_generation(progress->scope.handle);
	if (UNLIKELY(!frame || !generation))
		return NULL;
	if (UNLIKELY(__atomic_load_n(&frame->generation, __ATOMIC_RELAXED) != generation))
		return NULL;
	return frame;
}

PUBLIC void taskscope_advance(const struct taskscope_progress *progress, uint64_t steps)
{
	struct scope_frame *frame = progress_frame(progress);

	if (frame)
		__atomic_fetch_add(&frame->count, steps, __ATOMIC_RELEASE);
}

PUBLIC void taskscope_set(const struct taskscope_progress *progress, uint64_t current,
			  uint64_t total)
{
	struct scope_frame *frame = progress_frame(progress);

	if (!frame)
		return;
	STORE(frame->total, total);
	STORE(frame->count, current);
}

PUBLIC void taskscope_limit(struct taskscope_scope scope, uint32_t milliseconds)
{
	struct scope_thread *block = self_block();

	if (!block || !handle_is_open(block, scope.handle))
		return;
	STORE(block->frames[handle_index(scope.handle)].limit_ms, milliseconds);
	if (milliseconds != 0 && milliseconds != TASKSCOPE_NEVER)
		heartbeat_notice_limit(milliseconds);
}

/* The counter of this CPU may be behind; never store a time before the last change. */
PUBLIC void taskscope_idle(void)
{
	struct scope_thread *block = self_block();
	uint64_t ticks;

	if (!block)
		return;
	ticks = ticks_now();
	STORE(block->idle_ticks, ticks > block->changed_ticks ? ticks : block->changed_ticks);
}

PUBLIC void taskscope_busy(void)
{
	struct scope_thread *block = self_block();

	if (block)
		STORE(block->idle_ticks, 0);
}

static void name_set(const char *name)
{
	size_t length = name ? strnlen(name, sizeof(self.name) - 1) : 0;

	memset(self.name, 0, sizeof(self.name));
	if (length)
		memcpy(self.name, name, length);
}

static void name_publish(struct scope_thread *block)
{
	if (!block)
		return;
	block_begin_change(block);
	thread_publish_name(block);
	block_end_change(block);
}

/* The thread remembers the name, for a block that it gets later. */
PUBLIC void taskscope_thread(const char *name)
{
	if (self.is_changing)
		return;
	self_begin_change();
	name_set(name);
	name_publish(thread_prepare());
	self_end_change();
}

PUBLIC void taskscope_dump(void)
{
	heartbeat_wake();
}

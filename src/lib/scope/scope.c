/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes scopes.  Everything but the plain case (the first scope of a thread or call
 * site, no room, the wrong thread) is in separate functions that are never inlined.
 */
#include <taskscope.h>

#include "lib/attributes.h"
#include "lib/control.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/handle.h"
#include "lib/scope/locks.h"
#include "lib/scope/made_labels.h"
#include "lib/scope/sites.h"
#include "lib/scope/statistics.h"
#include "lib/scope/threads.h"
#include "lib/scope/ticks.h"
#include "lib/start.h"

/* Describes a scope to open. */
struct wish {
	uint32_t label;
	uint32_t flags;
	uint64_t total;
	const char *text; /* to be copied; NULL: the label has a number */
};

/* The frame of scopes that are not recorded.  Its generation matches no handle. */
static struct scope_frame dead_frame;

static const struct taskscope_scope no_scope = { 0 };

WITHIN bool is_on(void)
{
	return __atomic_load_n(&recording.is_on, __ATOMIC_RELAXED);
}

WITHIN bool has_statistics(void)
{
	return __atomic_load_n(&recording.has_statistics, __ATOMIC_RELAXED);
}

/*
 * Counts a scope that a handler could not open.  Without a block for the thread, the process
 * counts it.
 */
static APART struct taskscope_scope interrupted(void)
{
	struct scope_thread *block = self.block;

	if (block)
		__atomic_add_fetch(&block->interrupted, 1, __ATOMIC_RELEASE);
	else if (area.header)
		__atomic_add_fetch(&area.header->ended_interrupted, 1, __ATOMIC_RELEASE);
	return no_scope;
}

static APART struct taskscope_scope open_hidden(struct scope_thread *block)
{
	uint32_t hidden = block->hidden + 1;

	block_begin_change(block);
	STORE(block->hidden, hidden);
	STORE(block->lost_depth, block->lost_depth + 1);
	STORE(block->changed_ticks, ticks_now());
	STORE(block->idle_ticks, 0);
	block_end_change(block);
	return handle_make(hidden, HANDLE_HIDDEN, block->slot);
}

/*
 * Copies a text that has no number to the thread's texts and returns its label for a frame; 0 when
 * there is no room.
 */
static APART uint32_t text_copy(struct scope_thread *block, const char *text)
{
	size_t length = label_length(text);
	uint32_t offset = block->texts_used;

	STORE(block->unnumbered, block->unnumbered + 1);
	if (length + 1 > SCOPE_TEXTS_SIZE - offset) {
		STORE(block->lost_texts, block->lost_texts + 1);
		return 0;
	}
	for (size_t i = 0; i < length; i++)
		STORE(block->texts[offset + i], text[i]);
	STORE(block->texts[offset + length], '\0');
	STORE(block->texts_used, offset + (uint32_t)length + 1);
	return SCOPE_TEXT | offset;
}

WITHIN uint32_t next_generation(uint32_t generation)
{
	generation++;
	return generation + (generation == 0);
}

/*
 * Opens a frame of a block that has one left.  Call between self_begin_change() and
 * self_end_change().
 */
WITHIN struct taskscope_scope open_frame(struct scope_thread *block, const struct wish *wish)
{
	uint32_t index = block->depth;
	struct scope_frame *frame = &block->frames[index];
	uint32_t generation = next_generation(block->generation);
	uint32_t number = wish->text ? made_label_number(wish->text) : wish->label;
	uint64_t ticks = ticks_now();

	block_begin_change(block);
	STORE(frame->texts_used, block->texts_used);
	STORE(frame->label, wish->text && !number ? text_copy(block, wish->text) : number);
	STORE(block->path[index], (uint16_t)number);
	STORE(frame->entered_ticks, ticks);
	STORE(frame->inner_ticks, 0);
	STORE(frame->count, 0);
	STORE(frame->total, wish->total);
	STORE(frame->flags, wish->flags);
	STORE(frame->limit_ms, 0);
	STORE(frame->generation, generation);
	STORE(block->generation, generation);
	STORE(block->changed_ticks, ticks);
	STORE(block->idle_ticks, 0);
	STORE(block->depth, index + 1);
	if (UNLIKELY(has_statistics()))
		statistics_open(block, frame->label);
	block_end_change(block);
	return handle_make(generation, index, block->slot);
}

WITHIN struct taskscope_scope open_scope(struct scope_thread *block, const struct wish *wish)
{
	if (UNLIKELY(block->depth >= SCOPE_FRAMES))
		return open_hidden(block);
	return open_frame(block, wish);
}

static struct taskscope_scope open_prepared(struct taskscope_site *site, const struct wish *wish)
{
	struct scope_thread *block = thread_prepare();
	struct wish ready = *wish;

	if (!block) {
		if (is_on())
			__atomic_add_fetch(&area.header->lost_scopes, 1, __ATOMIC_RELEASE);
		return no_scope;
	}
	if (site)
		ready.label = site_register(site);
	return open_scope(block, &ready);
}

static APART struct taskscope_scope open_slowly(struct taskscope_site *site,
						const struct wish *wish)
{
	struct taskscope_scope scope;

	if (self.is_changing)
		return interrupted();
	if (!start_may_record())
		return no_scope;
	self_begin_change();
	scope = open_prepared(site, wish);
	self_end_change();
	return scope;
}

/* The plain case: this thread has a block, and the label a number. */
WITHIN struct taskscope_scope open_quickly(struct taskscope_site *site, const struct wish *wish)
{
	struct scope_thread *block = self.block;
	struct taskscope_scope scope;

	if (UNLIKELY(!block || !is_on() || self.is_changing))
		return open_slowly(site, wish);
	self_begin_change();
	scope = open_scope(block, wish);
	self_end_change();
	return scope;
}

WITHIN struct taskscope_scope open_site(struct taskscope_site *site, uint32_t flags, uint64_t total)
{
	uint32_t number = __atomic_load_n(&site->number, __ATOMIC_RELAXED);
	struct wish wish = { .label = number, .flags = flags, .total = total };

	if (UNLIKELY(number == 0))
		return open_slowly(site, &wish);
	if (UNLIKELY(number == SITE_LOST))
		wish.label = 0;
	return open_quickly(site, &wish);
}

WITHIN struct taskscope_progress progress_of(struct taskscope_scope scope)
{
	uint32_t index = handle_index(scope.handle);
	struct scope_thread *block = self.block;
	bool has_frame = scope.handle && index != HANDLE_HIDDEN;

	return (struct taskscope_progress){
		.scope = scope,
		.frame = has_frame ? &block->frames[index] : &dead_frame,
	};
}

PUBLIC struct taskscope_scope taskscope_enter_site(struct taskscope_site *site)
{
	return open_site(site, 0, 0);
}

PUBLIC struct taskscope_progress taskscope_begin_site(struct taskscope_site *site, uint64_t total)
{
	return progress_of(open_site(site, SCOPE_HAS_PROGRESS, total));
}

PUBLIC struct taskscope_scope(taskscope_enter)(const char *label)
{
	return open_quickly(NULL, &(struct wish){ .text = label });
}

PUBLIC struct taskscope_progress(taskscope_begin)(const char *label, uint64_t total)
{
	struct wish wish = { .flags = SCOPE_HAS_PROGRESS, .total = total, .text = label };

	return progress_of(open_quickly(NULL, &wish));
}

/*
 * Counts a try to close a scope of another thread, or a closed one, for the thread that tried.
 * Atomic, since it may run in a signal handler that interrupts the same counting.
 */
static APART void misplaced(void)
{
	struct scope_thread *block = self_block();

	if (block)
		__atomic_add_fetch(&block->misplaced, 1, __ATOMIC_RELEASE);
	else if (area.header)
		__atomic_add_fetch(&area.header->ended_misplaced, 1, __ATOMIC_RELEASE);
}

static void close_hidden(struct scope_thread *block, uint32_t first)
{
	if (first == 0 || first > block->hidden) {
		misplaced();
		return;
	}
	block_begin_change(block);
	STORE(block->unwound, block->unwound + block->hidden - first);
	STORE(block->hidden, first - 1);
	STORE(block->changed_ticks, ticks_now());
	STORE(block->idle_ticks, 0);
	block_end_change(block);
}

/* Handles all but the plain case. */
static APART void close_any(struct scope_thread *block, uint64_t handle)
{
	uint64_t ticks = ticks_now();

	if (handle_index(handle) == HANDLE_HIDDEN && handle_slot(handle) == block->slot) {
		close_hidden(block, handle_generation(handle));
		return;
	}
	if (!handle_is_open(block, handle)) {
		misplaced();
		return;
	}
	block_begin_change(block);
	frames_close(block, handle_index(handle), ticks, has_statistics());
	STORE(block->changed_ticks, ticks);
	STORE(block->idle_ticks, 0);
	block_end_change(block);
}

/* The plain case: the innermost scope, nothing hidden in it. */
WITHIN void close_innermost(struct scope_thread *block, struct scope_frame *frame, uint32_t index)
{
	uint64_t ticks = ticks_now();

	block_begin_change(block);
	STORE(frame->generation, 0);
	STORE(block->texts_used, frame->texts_used);
	STORE(block->depth, index);
	STORE(block->changed_ticks, ticks);
	STORE(block->idle_ticks, 0);
	block_end_change(block);
}

WITHIN void close_scope(struct scope_thread *block, uint64_t handle)
{
	uint32_t index = handle_index(handle);
	bool is_plain = index + 1 == block->depth && handle_is_open(block, handle) &&
			!block->hidden && !has_statistics();

	if (UNLIKELY(!is_plain))
		close_any(block, handle);
	else
		close_innermost(block, &block->frames[index], index);
}

/*
 * A thread without a block has no scope to close, unless it forked and its block is in the private
 * copy.
 */
static APART void close_slowly(uint64_t handle)
{
	if (!self.kept || self.is_changing) {
		misplaced();
		return;
	}
	self_begin_change();
	lock_take(LOCK_START);
	close_scope(self.kept, handle);
	lock_release(LOCK_START);
	self_end_change();
}

PUBLIC void taskscope_leave(struct taskscope_scope scope)
{
	struct scope_thread *block = self.block;

	if (UNLIKELY(!scope.handle))
		return;
	if (UNLIKELY(!block || self.is_changing)) {
		close_slowly(scope.handle);
		return;
	}
	self_begin_change();
	close_scope(block, scope.handle);
	self_end_change();
}

PUBLIC void taskscope_end(const struct taskscope_progress *progress)
{
	if (progress)
		taskscope_leave(progress->scope);
}

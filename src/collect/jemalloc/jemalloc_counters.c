/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/jemalloc/jemalloc_view.h"
#include "host/elf/tls.h"

#define COUNTER_SIZE 8
#define SPAN_MAX 256 /* bytes; in every jemalloc the two counters are close together */

struct window {
	uint64_t first;	  /* offset of the lower counter */
	size_t size;	  /* of both counters and what is between them */
	size_t allocated; /* offset in the window */
	size_t deallocated;
};

/* Offsets may be negative (as 64-bit numbers); only the distance between them matters here. */
static bool find_window(const struct tsd_layout *offsets, struct window *ret)
{
	uint64_t up = offsets->deallocated - offsets->allocated;
	uint64_t down = offsets->allocated - offsets->deallocated;
	uint64_t distance = up < down ? up : down;

	if (distance < COUNTER_SIZE || distance > SPAN_MAX - COUNTER_SIZE)
		return false;
	ret->first = up < down ? offsets->allocated : offsets->deallocated;
	ret->size = distance + COUNTER_SIZE;
	ret->allocated = up < down ? 0 : distance;
	ret->deallocated = up < down ? distance : 0;
	return true;
}

static bool find_address(struct target_view *view, uint64_t pointer, const struct window *window,
			 uint64_t *ret)
{
	uint64_t block;

	/* Offsets from the thread pointer may be negative: they are added modulo 2^64. */
	if (view->target->layout.from_pointer) {
		*ret = pointer + window->first;
		return true;
	}
	if (view->is_fixed)
		return tls_counter_address(pointer, view->block, window->first, ret);
	return tls_block_read(&view->memory, &view->layout, &view->module, pointer, &block) == 0 &&
	       tls_counter_address(block, 0, window->first, ret);
}

static uint64_t counter_at(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static int read_spans(struct target_view *view, const struct window *window,
		      struct target_span *spans, struct target_thread **threads, uint8_t *bytes)
{
	struct jemalloc_target *target = view->target;
	size_t count = 0;
	ssize_t status;

	for (size_t i = 0; i < target->count; i++) {
		threads[count] = &target->threads[i];
		if (target->threads[i].pointer &&
		    find_address(view, target->threads[i].pointer, window, &spans[count].address))
			count++;
	}
	if (!count)
		return view_fail(view, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	status = target_read_spans(view->pid, spans, count, window->size, bytes);
	if (status < 0)
		return view_fail(view, JEMALLOC_PROCESS_VM_READV, (int)status);
	for (size_t i = 0; i < count; i++) {
		const uint8_t *found = bytes + i * window->size;

		if (spans[i].error)
			continue;
		threads[i]->allocated = counter_at(found + window->allocated);
		threads[i]->deallocated = counter_at(found + window->deallocated);
		threads[i]->is_read = true;
		target->read++;
	}
	if (!target->read)
		return view_fail(view, JEMALLOC_PROCESS_VM_READV, spans[0].error);
	view_check_threads(view);
	return target->read ? 0 : view_fail(view, JEMALLOC_PID_MISSING, -ESRCH);
}

int view_read_counters(struct target_view *view)
{
	const struct jemalloc_target *target = view->target;
	CLEANUP(free_pointer) struct target_span *spans = NULL;
	CLEANUP(free_pointer) struct target_thread **threads = NULL;
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	struct window window;

	if (!find_window(&target->layout.offsets, &window))
		return view_fail(view, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	spans = calloc(target->count + 1, sizeof(*spans));
	threads = calloc(target->count + 1, sizeof(*threads));
	bytes = calloc(target->count + 1, window.size);
	if (!spans || !threads || !bytes)
		return view_fail(view, JEMALLOC_PROCESS_VM_READV, -ENOMEM);
	return read_spans(view, &window, spans, threads, bytes);
}

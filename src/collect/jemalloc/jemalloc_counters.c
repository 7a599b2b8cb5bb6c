/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/order.h"
#include "base/text.h"
#include "collect/jemalloc/jemalloc_target.h"
#include "host/proc/proc_file.h"
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

static bool find_address(const struct jemalloc_target *target, uint64_t pointer,
			 const struct window *window, uint64_t *ret)
{
	uint64_t block;

	/* Offsets from the thread pointer may be negative: they are added modulo 2^64. */
	if (target->layout.from_pointer) {
		*ret = pointer + window->first;
		return true;
	}
	if (target->is_fixed)
		return tls_counter_address(pointer, target->block, window->first, ret);
	return tls_block_read(&target->memory, &target->structs, &target->module, pointer,
			      &block) == 0 &&
	       tls_counter_address(block, 0, window->first, ret);
}

static uint64_t counter_at(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* ---- whose counters they are ---- */

/*
 * Whether another thread may have got this thread's stack.  Not so for the first thread: its stack
 * is never reused.
 */
static bool may_be_another(const struct jemalloc_target *target, const struct target_thread *thread)
{
	return thread->is_read && thread->tid != target->pid;
}

static void drop(struct jemalloc_target *target, struct target_thread *thread)
{
	thread->is_read = false;
	target->read--;
}

static bool is_listed(const struct jemalloc_target *target, uint64_t tid)
{
	for (size_t i = 0; i < target->count; i++)
		if ((uint64_t)target->threads[i].tid == tid)
			return true;
	return false;
}

/*
 * The kernel lists threads in the order in which they were created, and a position in the task
 * directory is a place in that order.  If none of the listed threads has ended, the last of them
 * is still at its position.  Otherwise a thread that was not listed is there, or none.
 */
static bool has_nobody_ended(const struct jemalloc_target *target)
{
	CLEANUP(close_fd)
	int directory = openat(target->scan->process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	off_t last = (off_t)target->listed - 1 + 2; /* behind "." and ".." */
	union {
		struct dirent64 first;
		char bytes[512];
	} entries;
	const char *name = entries.first.d_name;
	uint64_t tid;

	if (directory < 0 || lseek(directory, last, SEEK_SET) != last ||
	    syscall(SYS_getdents64, directory, &entries, sizeof(entries)) <= 0)
		return false;
	return scan_u64(&name, &tid) && is_listed(target, tid);
}

/* Asks the kernel: a thread that still exists also existed when it was read. */
static void drop_ended(struct jemalloc_target *target)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers alive = { 0 };

	if (proc_list(target->scan->process, "task", &alive) < 0)
		alive.list.count = 0;
	for (size_t i = 0; i < target->count; i++) {
		struct target_thread *thread = &target->threads[i];

		if (may_be_another(target, thread) &&
		    !array_find(&alive.list, &thread->tid, compare_i32))
			drop(target, thread);
	}
}

/*
 * Checks that counters belong to the thread that was listed.  It may have ended since then, and
 * another thread may have got its stack, and with it the same thread pointer.  If no thread has
 * ended, one system call shows that.
 */
static void check_threads(struct jemalloc_target *target)
{
	if (target->count >= 2 && !has_nobody_ended(target))
		drop_ended(target);
}

/* ---- reading ---- */

static int read_spans(struct jemalloc_target *target, const struct window *window,
		      struct target_span *spans, struct target_thread **threads, uint8_t *bytes)
{
	size_t count = 0;
	ssize_t status;

	for (size_t i = 0; i < target->count; i++) {
		threads[count] = &target->threads[i];
		if (target->threads[i].pointer &&
		    find_address(target, target->threads[i].pointer, window, &spans[count].address))
			count++;
	}
	if (!count)
		return target_fail(target, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	status = target_read_spans(target->pid, spans, count, window->size, bytes);
	if (status < 0)
		return target_fail(target, JEMALLOC_PROCESS_VM_READV, (int)status);
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
		return target_fail(target, JEMALLOC_PROCESS_VM_READV, spans[0].error);
	check_threads(target);
	return target->read ? 0 : target_fail(target, JEMALLOC_PID_MISSING, -ESRCH);
}

int target_read_counters(struct jemalloc_target *target)
{
	CLEANUP(free_pointer) struct target_span *spans = NULL;
	CLEANUP(free_pointer) struct target_thread **threads = NULL;
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	struct window window;

	if (!find_window(&target->layout.offsets, &window))
		return target_fail(target, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	spans = calloc(target->count + 1, sizeof(*spans));
	threads = calloc(target->count + 1, sizeof(*threads));
	bytes = calloc(target->count + 1, window.size);
	if (!spans || !threads || !bytes)
		return target_fail(target, JEMALLOC_PROCESS_VM_READV, -ENOMEM);
	return read_spans(target, &window, spans, threads, bytes);
}

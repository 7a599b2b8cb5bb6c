/* SPDX-License-Identifier: MIT */
/*
 * Checks that counters belong to the thread that was listed.  It may have ended since then, and
 * another thread may have got its stack, and with it the same thread pointer.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/jemalloc/jemalloc_view.h"
#include "collect/proc/proc_file.h"
#include "host/elf/tls.h"

/*
 * Whether another thread may have got this thread's stack.  Not so for the first thread: its stack
 * is never reused.
 */
static bool may_be_another(const struct jemalloc_target *target, const struct target_thread *thread)
{
	return thread->is_read && thread->tid != target->tgid;
}

static void drop(struct jemalloc_target *target, struct target_thread *thread)
{
	thread->is_read = false;
	target->read--;
}

/* ---- at once, for all ---- */

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
	int directory = openat(target->process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

/* ---- one by one ---- */

static int compare_numbers(const void *left, const void *right)
{
	const int32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Asks the kernel: a thread that still exists also existed when it was read. */
static void drop_ended(struct jemalloc_target *target)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers alive = { 0 };

	if (proc_list(target->process, "task", &alive) < 0)
		alive.list.count = 0;
	for (size_t i = 0; i < target->count; i++) {
		struct target_thread *thread = &target->threads[i];

		if (may_be_another(target, thread) &&
		    (!alive.list.count || !bsearch(&thread->tid, alive.list.data, alive.list.count,
						   sizeof(alive.list.data[0]), compare_numbers)))
			drop(target, thread);
	}
}

struct descriptors {
	struct target_span *spans;
	struct target_thread **threads;
	int32_t *tids;
	size_t count;
};

static void descriptors_free(struct descriptors *descriptors)
{
	free(descriptors->spans);
	free(descriptors->threads);
	free(descriptors->tids);
}

/* Reads, after the counters, which tid the C library has at each thread pointer now. */
static int read_descriptors(struct target_view *view, struct descriptors *ret)
{
	const struct jemalloc_target *target = view->target;
	const struct thread_layout *layout = &view->layout;

	ret->spans = calloc(target->count, sizeof(*ret->spans));
	ret->threads = calloc(target->count, sizeof(*ret->threads));
	ret->tids = calloc(target->count, sizeof(*ret->tids));
	if (!ret->spans || !ret->threads || !ret->tids)
		return -ENOMEM;
	for (size_t i = 0; i < target->count; i++) {
		struct target_thread *thread = &target->threads[i];
		uint64_t descriptor;

		if (!may_be_another(target, thread) ||
		    !tls_thread_descriptor(layout->machine, thread->pointer, layout->pthread_size,
					   &descriptor))
			continue;
		ret->threads[ret->count] = thread;
		ret->spans[ret->count++].address = descriptor + layout->tid.offset;
	}
	return (int)target_read_spans(view->pid, ret->spans, ret->count, sizeof(*ret->tids),
				      ret->tids);
}

/*
 * Asks the C library, which has the new tid as soon as another thread uses the stack.  Its tids
 * are those of the innermost PID namespace.  False when that is not ours, or when the library does
 * not say.
 */
static bool drop_others(struct target_view *view)
{
	CLEANUP(descriptors_free) struct descriptors descriptors = { 0 };
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	struct jemalloc_target *target = view->target;

	if (view_read_layout(view) < 0 ||
	    view_inner_tid(target->process, target->tgid, &buffer) != target->tgid ||
	    read_descriptors(view, &descriptors) < 0)
		return false;
	for (size_t i = 0; i < descriptors.count; i++)
		if (descriptors.spans[i].error ||
		    descriptors.tids[i] != descriptors.threads[i]->tid)
			drop(target, descriptors.threads[i]);
	return true;
}

void view_check_threads(struct target_view *view)
{
	if (view->target->count < 2 || has_nobody_ended(view->target))
		return;
	if (!drop_others(view))
		drop_ended(view->target);
}

/* SPDX-License-Identifier: MIT */
/* Finds by tid or tgid what the task iterator reported besides metrics. */
#include <stdlib.h>

#include "base/collection/order.h"

#include "collect/collector.h"

_Static_assert(offsetof(struct walked_thread, tid) == 0 &&
		       offsetof(struct walked_process, tgid) == 0,
	       "compare_i32() looks at the first member");

/* The iterator walks by process, so the items are mostly in order already. */
static void sort_ids(void *items, size_t count, size_t size)
{
	const char *item = items;
	size_t sorted = 1;

	while (sorted < count && compare_i32(item + (sorted - 1) * size, item + sorted * size) <= 0)
		sorted++;
	if (sorted < count)
		qsort(items, count, size, compare_i32);
}

void walked_processes_sort(struct capture *capture)
{
	sort_ids(capture->walked_processes.data, capture->walked_processes.count,
		 sizeof(struct walked_process));
}

void walked_threads_sort(struct capture *capture)
{
	sort_ids(capture->walked_threads.data, capture->walked_threads.count,
		 sizeof(struct walked_thread));
}

const struct walked_thread *walked_thread_find(const struct capture *capture, int32_t tid)
{
	return array_find(&capture->walked_threads, &tid, compare_i32);
}

/*
 * Processes and what was walked of them are in the same order, so the place is mostly known: that
 * of the row, less the processes that the iterator did not report.
 */
const struct walked_process *walked_process_find(const struct capture *capture,
						 const struct process *process)
{
	const struct walked_process *walked = capture->walked_processes.data;
	size_t row = (size_t)(process - capture->snapshot->processes);
	size_t count = capture->walked_processes.count;
	size_t missing = capture->snapshot->process_count - count;

	if (row < count && walked[row].tgid == process->tgid)
		return &walked[row];
	if (row - missing < count && walked[row - missing].tgid == process->tgid)
		return &walked[row - missing];
	return count ? bsearch(&process->tgid, walked, count, sizeof(*walked), compare_i32) : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Finds by tid or tgid what the task iterator reported besides metrics. */
#include <stdlib.h>

#include "collect/collector.h"

static int compare_ids(const void *a, const void *b)
{
	int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

	return (first > second) - (first < second);
}

_Static_assert(offsetof(struct thread_seen, tid) == 0 && offsetof(struct process_seen, tgid) == 0,
	       "compare_ids() looks at the first member");

/* The iterator walks by process, so the items are mostly in order already. */
static void sort_ids(void *items, size_t count, size_t size)
{
	const char *item = items;
	size_t sorted = 1;

	while (sorted < count && compare_ids(item + (sorted - 1) * size, item + sorted * size) <= 0)
		sorted++;
	if (sorted < count)
		qsort(items, count, size, compare_ids);
}

void collector_sort_processes_seen(struct capture *capture)
{
	sort_ids(capture->processes_seen.data, capture->processes_seen.count,
		 sizeof(struct process_seen));
}

void collector_sort_threads_seen(struct capture *capture)
{
	sort_ids(capture->threads_seen.data, capture->threads_seen.count,
		 sizeof(struct thread_seen));
}

const struct thread_seen *collector_thread_seen(const struct capture *capture, int32_t tid)
{
	if (!capture->threads_seen.count)
		return NULL;
	return bsearch(&tid, capture->threads_seen.data, capture->threads_seen.count,
		       sizeof(struct thread_seen), compare_ids);
}

const struct process_seen *collector_process_seen(const struct capture *capture, int32_t tgid)
{
	if (!capture->processes_seen.count)
		return NULL;
	return bsearch(&tgid, capture->processes_seen.data, capture->processes_seen.count,
		       sizeof(struct process_seen), compare_ids);
}

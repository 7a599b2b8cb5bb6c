/*
 * What the iterator saw of memory, found again by number.
 */
#include <stdlib.h>

#include "collect/collector.h"

static int compare_ids(const void *a, const void *b)
{
	int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

	return (first > second) - (first < second);
}

_Static_assert(offsetof(struct thread_seen, tid) == 0 && offsetof(struct process_seen, tgid) == 0,
	       "compare_ids() looks at the first member");

void collector_seen_sort(struct capture *capture)
{
	if (capture->threads_seen.count)
		qsort(capture->threads_seen.data, capture->threads_seen.count,
		      sizeof(struct thread_seen), compare_ids);
	if (capture->processes_seen.count)
		qsort(capture->processes_seen.data, capture->processes_seen.count,
		      sizeof(struct process_seen), compare_ids);
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

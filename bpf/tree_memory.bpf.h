/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds the most memory that a program had in RAM.
 */
#ifndef BPF_TREE_MEMORY_BPF_H
#define BPF_TREE_MEMORY_BPF_H

#include "resident.bpf.h"

/* Before 6.2, pages that a task counted recently are not yet in the sum of its process. */
static __always_inline __s64 uncounted_pages(void)
{
	const struct task_struct___plain *task = (const void *)bpf_get_current_task();
	__s32 parts[MM_COUNTERS] = {};

	if (bpf_core_field_exists(task->rss_stat))
		BPF_CORE_READ_INTO(&parts, task, rss_stat.count);
	return (__s64)parts[MM_FILEPAGES] + parts[MM_ANONPAGES] + parts[MM_SHMEMPAGES];
}

/*
 * The kernel raises its high-water mark only just before the size falls, so compare with the size
 * now.
 */
static __noinline __u64 peak_pages(struct mm_struct *mm)
{
	__u64 peak = BPF_CORE_READ(mm, hiwater_rss);
	__s64 pages = resident_pages(mm) + uncounted_pages();

	return pages > 0 && (__u64)pages > peak ? (__u64)pages : peak;
}

#endif

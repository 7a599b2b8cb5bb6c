/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The most memory that a program had in RAM.
 *
 * Since 6.2 a process counts its pages with counters that have a part on each CPU.  Where those
 * parts are is no secret of a map of ours that has a value on each CPU: the distance of a CPU's
 * value from the map's own pointer is that of all per-CPU memory.
 */
#ifndef BPF_TREE_MEMORY_BPF_H
#define BPF_TREE_MEMORY_BPF_H

#include "tree_state.bpf.h"

#define MM_FILEPAGES 0
#define MM_ANONPAGES 1
#define MM_SHMEMPAGES 3
#define MM_COUNTERS 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} landmark SEC(".maps");

static __u64 cpu_offsets[TREE_CPUS_MAX];
/* Pointers are written and read back as numbers. */
static __u64 landmark_map;

static __always_inline void cpu_offsets_find(void)
{
	__u64 base = 0;

	*(void *volatile *)&landmark_map = &landmark;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)(*(volatile __u64 *)&landmark_map +
				       bpf_core_field_offset(struct bpf_array, pptrs)));
	for (__u32 cpu = 0; cpu < cpu_count && cpu < TREE_CPUS_MAX; cpu++) {
		__u32 zero = 0;
		void *value = bpf_map_lookup_percpu_elem(&landmark, &zero, cpu);

		*(void *volatile *)&cpu_offsets[cpu] = value;
		cpu_offsets[cpu] = *(volatile __u64 *)&cpu_offsets[cpu] - base;
	}
}

struct counter_sum {
	__s64 pages;
	__u64 counters[MM_COUNTERS];
};

static __always_inline void counter_add_cpu(struct counter_sum *sum, __u64 offset)
{
	for (int i = 0; i < MM_COUNTERS; i++) {
		__s32 part = 0;

		if (sum->counters[i])
			bpf_probe_read_kernel(&part, sizeof(part),
					      (void *)(sum->counters[i] + offset));
		sum->pages += part;
	}
}

static __always_inline void counter_open(struct mm_struct *mm, __u32 index, struct counter_sum *sum)
{
	const char *counter =
		(const char *)&mm->rss_stat + index * bpf_core_type_size(struct percpu_counter);
	const struct percpu_counter *typed = (const void *)counter;

	sum->pages += BPF_CORE_READ(typed, count);
	sum->counters[index] = (__u64)BPF_CORE_READ(typed, counters);
}

/* What a task counted last is not yet in the sum of its process: that of the current is added. */
static __always_inline __s64 plain_pages(const struct mm_struct___plain *mm)
{
	const struct task_struct___plain *task = (const void *)bpf_get_current_task();
	__s64 sums[MM_COUNTERS] = {};
	__s32 parts[MM_COUNTERS] = {};

	BPF_CORE_READ_INTO(&sums, mm, rss_stat.count);
	if (bpf_core_field_exists(task->rss_stat))
		BPF_CORE_READ_INTO(&parts, task, rss_stat.count);
	return sums[MM_FILEPAGES] + parts[MM_FILEPAGES] + sums[MM_ANONPAGES] + parts[MM_ANONPAGES] +
	       sums[MM_SHMEMPAGES] + parts[MM_SHMEMPAGES];
}

static __always_inline __s64 rss_pages(struct mm_struct *mm)
{
	struct counter_sum sum = {};

	if (bpf_core_type_exists(struct mm_rss_stat))
		return plain_pages((const void *)mm);
	counter_open(mm, MM_FILEPAGES, &sum);
	counter_open(mm, MM_ANONPAGES, &sum);
	counter_open(mm, MM_SHMEMPAGES, &sum);
	for (__u32 cpu = 0; cpu < cpu_count && cpu < TREE_CPUS_MAX; cpu++)
		counter_add_cpu(&sum, cpu_offsets[cpu]);
	return sum.pages;
}

/* Parts of more CPUs than there is room for would be missing. */
static __always_inline bool peak_is_known(void)
{
	return cpu_count <= TREE_CPUS_MAX || bpf_core_type_exists(struct mm_rss_stat);
}

/* The kernel raises its high-water mark only before the size falls. */
static __noinline __u64 peak_pages(struct mm_struct *mm)
{
	__u64 peak = BPF_CORE_READ(mm, hiwater_rss);
	__s64 pages = rss_pages(mm);

	return pages > 0 && (__u64)pages > peak ? (__u64)pages : peak;
}

#endif

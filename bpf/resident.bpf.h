/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counts the pages that a process has in RAM, and the most that its program had.
 *
 * Since 6.2 a process counts its pages in counters with one part for each CPU.  To find these
 * parts, we use a per-CPU map of our own: the distance from the map's base pointer to its value on
 * a CPU is the same for all per-CPU memory.
 */
#ifndef BPF_RESIDENT_BPF_H
#define BPF_RESIDENT_BPF_H

#include "kernel.bpf.h"

#define RESIDENT_CPUS_MAX 512 /* on a host with more CPUs, pages are not known */
#define MM_FILEPAGES 0
#define MM_ANONPAGES 1
#define MM_SHMEMPAGES 3
#define MM_COUNTERS 4

const volatile __u32 cpu_count = 0; /* the most CPUs that the kernel may ever have */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} landmark SEC(".maps");

static __u64 cpu_offsets[RESIDENT_CPUS_MAX];
/* Holds a pointer that is written, then read back as a number. */
static __u64 landmark_map;

static __always_inline void cpu_offsets_find(void)
{
	__u64 base = 0;

	*(void *volatile *)&landmark_map = &landmark;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)(*(volatile __u64 *)&landmark_map +
				       bpf_core_field_offset(struct bpf_array, pptrs)));
	for (__u32 cpu = 0; cpu < cpu_count && cpu < RESIDENT_CPUS_MAX; cpu++) {
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

/* Since 6.6 the parts that belong to one CPU are next to each other. */
static __always_inline bool parts_are_adjacent(const struct counter_sum *sum)
{
	__u64 first = sum->counters[MM_FILEPAGES];

	return sum->counters[MM_ANONPAGES] == first + MM_ANONPAGES * sizeof(__s32) &&
	       sum->counters[MM_SHMEMPAGES] == first + MM_SHMEMPAGES * sizeof(__s32);
}

/* Adds what a CPU counts: of `count` counters that are next to each other, from `first` on. */
static __always_inline void counter_add(struct counter_sum *sum, __u32 first, __u32 count,
					__u64 offset)
{
	__s32 parts[MM_COUNTERS] = {};

	bpf_probe_read_kernel(parts, count * sizeof(parts[0]),
			      (void *)(sum->counters[first] + offset));
	sum->pages += parts[0] + parts[1] + parts[3];
}

static __always_inline __s64 counter_total(struct counter_sum *sum)
{
	bool is_adjacent = parts_are_adjacent(sum);

	for (__u32 cpu = 0; cpu < cpu_count && cpu < RESIDENT_CPUS_MAX; cpu++) {
		counter_add(sum, MM_FILEPAGES, is_adjacent ? MM_COUNTERS : 1, cpu_offsets[cpu]);
		if (is_adjacent)
			continue;
		counter_add(sum, MM_ANONPAGES, 1, cpu_offsets[cpu]);
		counter_add(sum, MM_SHMEMPAGES, 1, cpu_offsets[cpu]);
	}
	return sum->pages;
}

static __always_inline void counter_open(struct mm_struct *mm, __u32 index, struct counter_sum *sum)
{
	const char *counter =
		(const char *)&mm->rss_stat + index * bpf_core_type_size(struct percpu_counter);
	const struct percpu_counter *typed = (const void *)counter;

	sum->pages += BPF_CORE_READ(typed, count);
	sum->counters[index] = (__u64)BPF_CORE_READ(typed, counters);
}

static __always_inline bool counters_are_plain(void)
{
	return bpf_core_field_exists(struct mm_struct___plain, rss_stat.count);
}

/* Before 6.2: one sum, without the pages that threads have not added yet. */
static __always_inline __s64 plain_pages(const struct mm_struct___plain *mm)
{
	__s64 sums[MM_COUNTERS] = {};

	BPF_CORE_READ_INTO(&sums, mm, rss_stat.count);
	return sums[MM_FILEPAGES] + sums[MM_ANONPAGES] + sums[MM_SHMEMPAGES];
}

static __always_inline __s64 resident_pages(struct mm_struct *mm)
{
	struct counter_sum sum = {};

	if (counters_are_plain())
		return plain_pages((const void *)mm);
	counter_open(mm, MM_FILEPAGES, &sum);
	counter_open(mm, MM_ANONPAGES, &sum);
	counter_open(mm, MM_SHMEMPAGES, &sum);
	return counter_total(&sum);
}

/* With more CPUs than there is room for, some parts would be missing. */
static __always_inline bool resident_is_known(void)
{
	return (cpu_count && cpu_count <= RESIDENT_CPUS_MAX) || counters_are_plain();
}

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
static __always_inline __u64 peak_pages(struct mm_struct *mm)
{
	__u64 peak = BPF_CORE_READ(mm, hiwater_rss);
	__s64 pages = resident_pages(mm) + uncounted_pages();

	return pages > 0 && (__u64)pages > peak ? (__u64)pages : peak;
}

#endif

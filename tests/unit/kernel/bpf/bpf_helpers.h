/* SPDX-License-Identifier: MIT */
/*
 * Stands in for the kernel: with this header in the place of libbpf's, the programs of the kernel
 * side are plain functions of a test, which is the clock, the scheduler and the reader.
 */
#ifndef TESTS_UNIT_KERNEL_BPF_HELPERS_H
#define TESTS_UNIT_KERNEL_BPF_HELPERS_H
#pragma GCC system_header

#define SEC(name)
#define __uint(name, number) int(*name)[number]
#define __type(name, type) __typeof__(type) *name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(variable) __asm__ volatile("" : "+r"(variable))

struct task_struct;

static __u64 kernel_now;
static struct task_struct *kernel_current;
static bool kernel_has_no_memory; /* for storage and maps */

/* What happens on another CPU meanwhile. */
static void (*kernel_meanwhile)(void);

static __u64 bpf_ktime_get_ns(void)
{
	if (kernel_meanwhile)
		kernel_meanwhile();
	return kernel_now;
}

#define bpf_get_current_task_btf() kernel_current
#define bpf_get_current_task() ((__u64)kernel_current)

static long bpf_probe_read_kernel(void *ret, __u32 size, const void *from)
{
	if ((__u64)from < 4096) {
		memset(ret, 0, size);
		return -14;
	}
	memcpy(ret, from, size);
	return 0;
}

/* A page that a program never touched; 0: there is none. */
static __u64 kernel_absent_page;

static long bpf_probe_read_user(void *ret, __u32 size, const void *from)
{
	__u64 begin = (__u64)from;

	if (!kernel_absent_page || begin >= kernel_absent_page + 4096 ||
	    begin + size <= kernel_absent_page)
		return bpf_probe_read_kernel(ret, size, from);
	memset(ret, 0, size);
	return -14;
}

#define bpf_get_smp_processor_id() 0

/* The kernel's functions that are running; none of user mode. */
static __u64 kernel_frames[64];
static size_t kernel_frame_count;

static long kernel_stack_copy(void *ret, __u32 size)
{
	__u32 length = kernel_frame_count * sizeof(kernel_frames[0]);

	memcpy(ret, kernel_frames, length < size ? length : size);
	return length < size ? length : size;
}
#define bpf_get_stack(context, ret, size, flags) kernel_stack_copy(ret, size)
#define bpf_get_task_stack(task, ret, size, flags) kernel_stack_copy(ret, size)

#define bpf_loop(limit, body, context, flags)                                                      \
	({                                                                                         \
		__u32 index_ = 0;                                                                  \
		while (index_ < (limit) && body(index_, context) == 0)                             \
			index_++;                                                                  \
	})

static long bpf_probe_read_kernel_str(void *ret, __u32 size, const void *from)
{
	snprintf(ret, size, "%s", (const char *)from);
	return 0;
}

/* Values of all maps, by map and key: a task, or a number. */
static struct kernel_value {
	const void *map;
	__u64 key;
	void *value;
} kernel_values[256];
static size_t kernel_value_count;

static struct kernel_value *kernel_find(const void *map, __u64 key)
{
	for (size_t i = 0; i < kernel_value_count; i++)
		if (kernel_values[i].map == map && kernel_values[i].key == key)
			return &kernel_values[i];
	return NULL;
}

static void *kernel_make(const void *map, __u64 key, const void *value, size_t size)
{
	void *copy;

	if (kernel_has_no_memory)
		return NULL;
	copy = calloc(1, size);
	if (value)
		memcpy(copy, value, size);
	kernel_values[kernel_value_count++] = (struct kernel_value){ map, key, copy };
	return copy;
}

static void *kernel_get(const void *map, __u64 key, const void *value, size_t size, bool creates)
{
	struct kernel_value *found = kernel_find(map, key);

	if (found)
		return found->value;
	return creates ? kernel_make(map, key, value, size) : NULL;
}

static long kernel_update(const void *map, __u64 key, const void *value, size_t size, bool is_new)
{
	struct kernel_value *found = kernel_find(map, key);

	if (found && is_new)
		return -17;
	if (found)
		memcpy(found->value, value, size);
	return found || kernel_make(map, key, value, size) ? 0 : -12;
}

static long kernel_delete(const void *map, __u64 key)
{
	struct kernel_value *found = kernel_find(map, key);

	if (!found)
		return -2;
	free(found->value);
	*found = kernel_values[--kernel_value_count];
	return 0;
}

#define bpf_task_storage_get(map, task, initial, flags)                                            \
	kernel_get(map, (__u64)(task), initial, sizeof(*(map)->value), flags)
/* A number is its own key; of a struct, a sum over its bytes is. */
static __u64 kernel_key(const void *key, size_t size)
{
	const unsigned char *bytes = key;
	__u64 sum = 0;

	if (size <= sizeof(sum)) {
		memcpy(&sum, key, size);
		return sum;
	}
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3ULL;
	return sum;
}

#define bpf_task_storage_delete(map, task) kernel_delete(map, (__u64)(task))
#define bpf_map_lookup_elem(map, key)                                                              \
	kernel_get(map, kernel_key(key, sizeof(*(key))), 0, sizeof(*(map)->value),                 \
		   sizeof(*(map)->type) == BPF_MAP_TYPE_PERCPU_ARRAY * sizeof(int) ||              \
			   sizeof(*(map)->type) == BPF_MAP_TYPE_ARRAY * sizeof(int))
#define bpf_map_update_elem(map, key, from, flags)                                                 \
	kernel_update(map, kernel_key(key, sizeof(*(key))), from, sizeof(*(map)->value),           \
		      (flags) == BPF_NOEXIST)
#define bpf_map_delete_elem(map, key) kernel_delete(map, kernel_key(key, sizeof(*(key))))

/*
 * Per-CPU memory: that of a CPU lies so far behind the pointer that all share.  What does not fit is that
 * of the only CPU.
 */
#define KERNEL_CPU_BYTES 256
static char kernel_cpu_memory[4 * KERNEL_CPU_BYTES];
#define bpf_map_lookup_percpu_elem(map, key, cpu)                                                  \
	(sizeof(*(map)->value) > KERNEL_CPU_BYTES ?                                                \
		 bpf_map_lookup_elem(map, key) :                                                   \
		 (void *)(kernel_cpu_memory + (cpu)*KERNEL_CPU_BYTES))

/* What came through the ring, and through an iterator. */
static struct kernel_record {
	__u64 flags, size;
	char bytes[1 << 16] __attribute__((aligned(8)));
} kernel_sent[64], kernel_pending;
static size_t kernel_sent_count, kernel_discarded;
static __u64 kernel_ring_used;
static bool kernel_ring_is_full;
static char kernel_output[1 << 16] __attribute__((aligned(8)));
static size_t kernel_output_size;

static void *kernel_reserve(__u64 size)
{
	if (kernel_ring_is_full)
		return NULL;
	memset(kernel_pending.bytes, 0x55, sizeof(kernel_pending.bytes));
	kernel_pending.size = size;
	return kernel_pending.bytes;
}

static void kernel_submit(__u64 flags)
{
	kernel_pending.flags = flags;
	kernel_sent[kernel_sent_count++] = kernel_pending;
}

static long kernel_send(const void *bytes, __u64 size, __u64 flags)
{
	if (!kernel_reserve(size))
		return -11;
	memcpy(kernel_pending.bytes, bytes, size);
	kernel_submit(flags);
	return 0;
}

static long kernel_write(const void *bytes, __u64 size)
{
	memcpy(kernel_output + kernel_output_size, bytes, size);
	kernel_output_size += size;
	return 0;
}

#define bpf_ringbuf_query(ring, what) kernel_ring_used
#define bpf_ringbuf_reserve(ring, size, flags) ((flags) ? NULL : kernel_reserve(size))
#define bpf_ringbuf_submit(record, flags) kernel_submit(flags)
#define bpf_ringbuf_discard(record, flags) kernel_discarded++
#define bpf_ringbuf_output(ring, bytes, size, flags) kernel_send(bytes, size, flags)
#define bpf_ringbuf_reserve_dynptr(ring, size, flags, ret)                                         \
	(!(flags) && kernel_reserve(size) ? 0 : -22)
#define bpf_dynptr_write(target, offset, from, length, flags)                                      \
	((flags) ? NULL : memcpy(kernel_pending.bytes + (offset), from, length))
#define bpf_ringbuf_submit_dynptr(target, flags) kernel_submit(flags)
#define bpf_ringbuf_discard_dynptr(target, flags) kernel_discarded++
#define bpf_seq_write(file, bytes, size) kernel_write(bytes, size)

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Copies stacks: the addresses of the kernel's functions, the registers of user mode, and the live
 * part of the user stack, from which a reader finds the callers.
 *
 * A record is put together in a buffer of its CPU and sent in one piece, so that it takes no more
 * room in the ring than it needs.  The program that samples has a buffer of its own, since it may interrupt the
 * others.
 */
#ifndef BPF_TREE_STACK_BPF_H
#define BPF_TREE_STACK_BPF_H

#include "tree_scope.bpf.h"
#include "tree_stack.h"

#define STACK_RING_BYTES (8 << 20)
#define STACK_PAGE 4096

/* Code segment of 32-bit programs; their state on arm64. */
#define USER32_CS 0x23
#define PSR_MODE32_BIT 0x10

struct stack_buffer {
	__u64 is_taken;
	struct tree_stack_record record;
	__u8 tail[TREE_STACK_TAIL];
};

/* The loader makes both as large as they must be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} stack_buffers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STACK_RING_BYTES);
} stack_ring SEC(".maps");

const volatile __u64 sample_period_ns = 0; /* 0: no samples on the CPU */
const volatile __u64 off_cpu_min_ns = 0;   /* 0: no stacks off the CPU */
const volatile __u32 has_call_ends = 0;	   /* the ends of system calls are seen */

__u64 stack_losses[TREE_STACK_LOSSES] = {};

static __always_inline void stack_lose(enum tree_stack_loss loss, __u64 amount)
{
	__sync_fetch_and_add(&stack_losses[loss], amount);
}

/*
 * The buffer of this CPU; 0 when it is in use, which may be where the kernel lets a program be
 * preempted.  stack_send() gives it back.
 */
static __always_inline struct stack_buffer *stack_buffer_take(enum tree_stack_user user)
{
	__u32 place = bpf_get_smp_processor_id() * TREE_STACK_USERS + user;
	struct stack_buffer *buffer = bpf_map_lookup_elem(&stack_buffers, &place);

	if (!buffer || __sync_val_compare_and_swap(&buffer->is_taken, 0, 1))
		return 0;
	__builtin_memset(&buffer->record, 0, __builtin_offsetof(struct tree_stack_record, scope));
	buffer->record.scope.depth = 0;
	buffer->record.syscall = TREE_STACK_NO_CALL;
	return buffer;
}

/*
 * How many functions are in a stack that its own task copies in stack_block_new(), from the helper to
 * what called the program; 0: not known yet.
 */
__u32 own_frames = 0;

/*
 * Copies the kernel's part of the stack of the current task, without the functions that copy it, which
 * are `fewer` here.
 */
static __always_inline __u64 own_stack_copy(struct task_struct *task, struct stack_buffer *buffer,
					    __u32 fewer)
{
	__u32 skipped = own_frames > fewer ? own_frames - fewer : 0;
	long size = bpf_get_task_stack(task, buffer->tail, 8 * TREE_STACK_FRAMES, skipped & 0xff);

	return size > 0 ? size : 0;
}

/* Sets the program counter and the stack pointer. */
static __always_inline void stack_place_read(struct pt_regs *registers, struct stack_place *ret)
{
	if (is_arm64()) {
		struct pt_regs___arm64 *arm64 = (void *)registers;

		ret->pc = arm64->user_regs.pc;
		ret->sp = arm64->user_regs.sp;
	} else {
		ret->pc = registers->ip;
		ret->sp = registers->sp;
	}
}

/* Returns whether they are those of a 64-bit program. */
static __always_inline bool registers_read(struct task_struct *task, __u64 *ret)
{
	const void *registers = user_registers(task);

	if (is_arm64()) {
		bpf_probe_read_kernel(ret, 8 * TREE_STACK_REGISTERS, registers);
		return !(ret[TREE_STACK_ARM64_STATE] & PSR_MODE32_BIT);
	}
	bpf_probe_read_kernel(ret, 8 * TREE_STACK_X86_64_REGISTERS, registers);
	return (ret[TREE_STACK_X86_64_CS] & 0xffff) != USER32_CS;
}

static __always_inline __u64 saved_sp(const struct tree_stack_record *record)
{
	return record->registers[is_arm64() ? TREE_STACK_ARM64_SP : TREE_STACK_X86_64_SP];
}

/*
 * How much of the stack of the current task is in use.  Nothing of a thread's first function is
 * above the thread pointer, where the C library keeps what it knows of it, nor that of a program above its arguments.
 */
static __always_inline __u64 stack_size(struct task_struct *task, __u64 sp)
{
	__u64 top = thread_pointer(task);

	if (task->pid == task->tgid)
		top = BPF_CORE_READ(task, mm, start_stack);
	return top > sp && top - sp < TREE_STACK_BYTES ? top - sp : TREE_STACK_BYTES;
}

/* A copy page by page.  What is counted is not here, where the verifier would follow each count. */
struct page_copy {
	__u8 *ret;
	__u32 *copied;
	__u64 sp;
	__u64 size;
	__u64 first; /* how much is on the page where it begins */
};

static long copy_page(__u32 index, struct page_copy *copy)
{
	__u64 begin = copy->first + index * STACK_PAGE;

	if (begin >= copy->size)
		return 1;
	barrier_var(begin);
	if (begin > TREE_STACK_BYTES - STACK_PAGE)
		return 1;
	if (bpf_probe_read_user(copy->ret + begin, STACK_PAGE, (void *)(copy->sp + begin)) == 0)
		*copy->copied = begin + STACK_PAGE;
	return 0;
}

/*
 * Sets how much was copied: all, or up to the last page that is there.  A page that was never
 * touched, in the middle of a large array, is not there; the kernel fills what it cannot read with zeros, which is
 * what such a page holds.  `ret` has TREE_STACK_BYTES.
 */
static __always_inline void user_stack_copy(__u8 *ret, __u64 sp, __u64 size, __u32 *ret_size)
{
	struct page_copy copy = { ret, ret_size, sp, size, STACK_PAGE - (sp & (STACK_PAGE - 1)) };

	if (size > TREE_STACK_BYTES)
		return;
	if (bpf_probe_read_user(ret, size, (void *)sp) == 0) {
		*ret_size = size;
		return;
	}
	if (bpf_probe_read_user(ret, copy.first, (void *)sp) == 0)
		*ret_size = copy.first;
	bpf_loop(TREE_STACK_BYTES / STACK_PAGE - 1, copy_page, &copy, 0);
	if (*ret_size > size)
		*ret_size = size;
}

/* Kernel threads and tasks that end have no user stack. */
static __always_inline bool has_user_stack(struct task_struct *task)
{
	return !(task->flags & (PF_EXITING | PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

static __always_inline void user_stack_fill(struct task_struct *task, struct stack_buffer *buffer,
					    __u64 kernel_size)
{
	struct tree_stack_record *record = &buffer->record;
	__u64 sp;

	if (!has_user_stack(task))
		return;
	if (!registers_read(task, record->registers)) {
		record->flags |= TREE_STACK_UNREAD;
		return;
	}
	record->flags |= TREE_STACK_HAS_REGISTERS;
	sp = saved_sp(record);
	record->pc = record->registers[is_arm64() ? TREE_STACK_ARM64_PC : TREE_STACK_X86_64_PC];
	user_stack_copy(buffer->tail + kernel_size, sp, stack_size(task, sp), &record->user_size);
	if (!record->user_size)
		record->flags |= TREE_STACK_UNREAD;
}

static __always_inline void stack_dropped(__u64 ns)
{
	stack_lose(TREE_STACK_DROPPED, 1);
	stack_lose(TREE_STACK_DROPPED_NS, ns);
}

static __always_inline __u64 stack_ring_flags(void)
{
	return bpf_ringbuf_query(&stack_ring, BPF_RB_AVAIL_DATA) > STACK_RING_BYTES / 4 ?
		       BPF_RB_FORCE_WAKEUP :
		       BPF_RB_NO_WAKEUP;
}

/*
 * Sends the stack of a thread, of which the buffer has what is special and the kernel's part, of
 * `kernel_size` bytes.  Adds the user part if the thread is the current one.  Returns whether it was sent.
 */
__noinline int stack_send(struct thread_state *state, struct stack_buffer *buffer,
			  __u64 kernel_size, __u32 is_current)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tree_stack_record *record;
	__u64 size;
	long status;

	if (!state || !buffer)
		return 0;
	if (kernel_size > 8 * TREE_STACK_FRAMES)
		kernel_size = 0;
	record = &buffer->record;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.start_ns = state->start_ns;
	record->head.time_ns = bpf_ktime_get_ns();
	record->kernel_count = kernel_size / 8;
	if (is_current) {
		comm_copy(task, state->debt.comm);
		user_stack_fill(task, buffer, kernel_size);
		if (may_have_scopes(task))
			scope_read(state, &record->scope);
	}
	name_copy(record->comm, state->debt.comm);
	if (record->flags & TREE_STACK_UNREAD)
		stack_lose(TREE_STACK_NOT_READ, 1);
	size = sizeof(*record) + kernel_size + record->user_size;
	record->head.size = size;
	barrier_var(size);
	if (size > sizeof(*record) + TREE_STACK_TAIL)
		size = sizeof(*record);
	status = bpf_ringbuf_output(&stack_ring, record, size, stack_ring_flags());
	/* A waker's weight is the time of another thread. */
	if (status < 0)
		stack_dropped(record->head.type == TREE_STACK_WAKER ?
				      0 :
				      record->weight_ns + record->inferred_ns);
	if (status < 0 && record->head.type == TREE_STACK_ON_CPU)
		stack_lose(TREE_STACK_DROPPED_CPU_NS, record->weight_ns);
	*(volatile __u64 *)&buffer->is_taken = 0;
	return status == 0;
}

/* Interrupts what its CPU does, at equal intervals of time. */
SEC("perf_event")
int tree_cpu_clock(struct bpf_perf_event_data *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *state;
	struct stack_buffer *buffer;
	long kernel_size;

	if (!sample_period_ns)
		return 0;
	state = thread_find(task);
	if (!state || state->phase == PHASE_ARMED || state->phase == PHASE_ENDED)
		return 0;
	buffer = stack_buffer_take(TREE_STACK_OF_SAMPLE);
	if (!buffer) {
		stack_dropped(sample_period_ns);
		stack_lose(TREE_STACK_DROPPED_CPU_NS, sample_period_ns);
		return 0;
	}
	buffer->record.head.type = TREE_STACK_ON_CPU;
	buffer->record.weight_ns = sample_period_ns;
	kernel_size = bpf_get_stack(context, buffer->tail, 8 * TREE_STACK_FRAMES, 0);
	stack_send(state, buffer, kernel_size > 0 ? kernel_size : 0, 1);
	return 0;
}

#endif

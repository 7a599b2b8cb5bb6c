/* SPDX-License-Identifier: MIT */
#include "trace/stack/stack_decoder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static_assert(TREE_STACK_FRAMES == TRACER_KERNEL_FRAMES, "kernel stacks have one size");
static_assert(TREE_SCOPE_FRAMES == TRACER_SCOPE_LABELS, "as many scopes can be open");
static_assert(UNWIND_REGISTERS <= TREE_STACK_REGISTERS, "there is room for all registers");
static_assert((int)PROFILE_ON_CPU == TREE_STACK_ON_CPU &&
		      (int)PROFILE_OFF_CPU == TREE_STACK_OFF_CPU &&
		      (int)PROFILE_WAKER == TREE_STACK_WAKER,
	      "kinds have the same numbers");

/* The registers that say where a thread entered the kernel. */
#define PLACE (1ull << UNWIND_PC | 1ull << UNWIND_SP)

static bool is_valid(const struct tree_stack_record *record, size_t length)
{
	if (length < sizeof(*record) || record->head.type >= TREE_STACK_KINDS ||
	    record->kernel_count > TREE_STACK_FRAMES || record->user_size > TREE_STACK_BYTES ||
	    record->scope.depth > TREE_SCOPE_FRAMES)
		return false;
	return record->head.size <= length &&
	       record->head.size ==
		       sizeof(*record) + record->kernel_count * 8ul + record->user_size;
}

static void decode_scopes(const struct tree_scope_key *scope, struct tracer_stack_scopes *ret)
{
	ret->area_ns = scope->area_ns;
	ret->count = scope->depth;
	memcpy(ret->labels, scope->labels, scope->depth * sizeof(ret->labels[0]));
}

#if defined(__aarch64__)
/* They are saved in the order of their numbers. */
static void name_registers(const __u64 *saved, uint64_t *ret)
{
	memcpy(ret, saved, UNWIND_REGISTERS * sizeof(*ret));
}
#else
static void name_registers(const __u64 *saved, uint64_t *ret)
{
	/* Where the register of each number is saved. */
	static const uint8_t places[UNWIND_REGISTERS] = { 10, 12, 11, 5, 13, 14, 4, 19, 9,
							  8,  7,  6,  3, 2,  1,	 0, 16 };

	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		ret[i] = saved[places[i]];
}
#endif

static void decode_registers(const struct tree_stack_record *record, struct unwind_registers *ret)
{
	if (record->flags & TREE_STACK_HAS_REGISTERS) {
		ret->known = (1ull << UNWIND_REGISTERS) - 1;
		name_registers(record->registers, ret->values);
	} else if (record->pc) {
		ret->known = PLACE;
		ret->values[UNWIND_PC] = record->pc;
		ret->values[UNWIND_SP] = record->sp;
	}
}

static void decode(const struct tree_stack_record *record, int64_t offset_ns,
		   struct tracer_stack *ret)
{
	const uint64_t *kernel = (const uint64_t *)(record + 1);

	ret->kind = (enum profile_kind)record->head.type;
	ret->task = (struct task_key){ record->head.pid, record->head.tid,
				       record->head.start_ns + (uint64_t)offset_ns };
	memcpy(ret->comm, record->comm, sizeof(ret->comm));
	ret->comm[sizeof(ret->comm) - 1] = '\0';
	ret->time_ns = record->head.time_ns;
	ret->weight_ns = record->weight_ns;
	ret->begin_ns = record->begin_ns;
	ret->reason = record->reason < WAIT_REASON_COUNT ? record->reason : WAIT_OTHER;
	ret->syscall = record->syscall;
	ret->object = record->object;
	ret->is_open = record->flags & TREE_STACK_BLOCKED;
	ret->woken = (struct task_key){ record->woken_pid, record->woken_tid,
					record->woken_start_ns + (uint64_t)offset_ns };
	ret->kernel = record->kernel_count ? kernel : NULL;
	ret->kernel_count = record->kernel_count;
	ret->has_user = record->user_size > 0;
	ret->is_kernel_only = !(record->flags & (TREE_STACK_HAS_REGISTERS | TREE_STACK_UNREAD));
	ret->user.bytes = kernel + record->kernel_count;
	ret->user.size = record->user_size;
	decode_registers(record, &ret->user.registers);
	ret->user.address = ret->user.registers.values[UNWIND_SP];
	decode_scopes(&record->scope, &ret->scopes);
}

static void copy_user(const struct tree_stack_record *record, struct stack_decoder *decoder,
		      struct tracer_stack *ret)
{
	struct blocked_thread thread = {
		.pid = record->head.pid,
		.tid = record->head.tid,
		.switches = record->switches,
		.address = ret->user.address,
		.size = record->wanted_size < BLOCKED_STACK_MAX ? record->wanted_size :
								  BLOCKED_STACK_MAX,
	};
	ssize_t size = decoder->copy(decoder->context, &thread, decoder->bytes);

	ret->has_user = size > 0;
	ret->user.bytes = decoder->bytes;
	ret->user.size = size > 0 ? (size_t)size : 0;
}

/* What it stands for, beyond its own block: only where that was is known. */
static void make_inferred(const struct tree_stack_record *record, struct tracer_stack *stack)
{
	uint64_t pc = stack->user.registers.values[UNWIND_PC];
	uint64_t sp = stack->user.registers.values[UNWIND_SP];

	stack->weight_ns = record->inferred_ns;
	stack->begin_ns = 0;
	stack->is_inferred = true;
	stack->kernel = NULL;
	stack->kernel_count = 0;
	stack->has_user = false;
	stack->user = (struct stack_copy){ 0 };
	stack->user.registers.known = pc ? PLACE : 0;
	stack->user.registers.values[UNWIND_PC] = pc;
	stack->user.registers.values[UNWIND_SP] = sp;
}

int stack_record_send(const void *bytes, size_t length, struct stack_decoder *decoder,
		      const struct tracer_stack_sink *sink)
{
	const struct tree_stack_record *record = bytes;
	struct tracer_stack stack = { 0 };
	int status = 0;

	if (!is_valid(record, length))
		return -EBADMSG;
	if (record->head.pid <= 0 || record->head.tid <= 0)
		return 0;
	decode(record, decoder->boottime_offset_ns, &stack);
	if (record->flags & TREE_STACK_BLOCKED)
		copy_user(record, decoder, &stack);
	if (record->weight_ns || record->user_size || record->kernel_count)
		status = sink->stack(sink->context, &stack);
	if (status < 0 || !record->inferred_ns)
		return status;
	make_inferred(record, &stack);
	return sink->stack(sink->context, &stack);
}

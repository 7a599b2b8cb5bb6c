/* SPDX-License-Identifier: MIT */
#include "session/stack/stack_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "host/code/address_space.h"
#include "host/code/code.h"
#include "host/code/name/code_name.h"
#include "session/stack/stack_images.h"

/* CPU time: so much at once, and a share of one core, as one part in so many. */
#define BUDGET_NS (2 * NS_PER_SECOND)
#define BUDGET_PART 10
/* Waits whose last stack is remembered, for blocks that were not captured. */
#define WAITS_MAX 65536
/* Addresses whose frames are remembered; a program can return to any number of them. */
#define ADDRESSES_MAX PROFILE_FRAMES_MAX
#define KEY_SIZE 96

/* Frames of the profile that one address stands for: the function, then those inlined into it. */
struct known_frame {
	uint32_t first, count; /* in `frames` */
};

/* Where a wait was last; node 0: not known. */
struct last_stack {
	uint32_t node;
	uint8_t end; /* enum profile_end */
};

struct stack_profile {
	struct code *code;
	struct stack_images images;
	struct profile *profile;
	struct dictionary *addresses; /* text n has known.data[n - 1] */
	ARRAY_OF(struct known_frame) known;
	struct known_frame spare; /* of an address that is not remembered */
	ARRAY_OF(uint32_t) frames;
	struct dictionary *waits; /* text n has lasts.data[n - 1] */
	ARRAY_OF(struct last_stack) lasts;
	ARRAY_OF(uint32_t) stack; /* of the item at hand, outermost frame first */
	uint64_t begin_ns;
	uint64_t used_ns; /* CPU time */
};

int stack_profile_open(const struct host *host, struct stack_profile **ret)
{
	struct stack_profile *maker = calloc(1, sizeof(*maker));
	int status = maker ? 0 : -ENOMEM;

	if (status == 0)
		status = code_open(host, &(struct code_limits){ 0 }, &maker->code);
	if (status == 0)
		status = profile_new(&maker->profile);
	if (status == 0) {
		maker->addresses = dictionary_new();
		maker->waits = dictionary_new();
		status = maker->addresses && maker->waits ? 0 : -ENOMEM;
	}
	if (status < 0) {
		stack_profile_close(maker);
		return status;
	}
	stack_images_init(&maker->images, maker->code);
	maker->begin_ns = monotonic_ns();
	*ret = maker;
	return 0;
}

void stack_profile_close(struct stack_profile *maker)
{
	if (!maker)
		return;
	stack_images_clear(&maker->images);
	code_close(maker->code);
	profile_free(maker->profile);
	dictionary_free(maker->addresses);
	dictionary_free(maker->waits);
	array_free(&maker->known);
	array_free(&maker->frames);
	array_free(&maker->lasts);
	array_free(&maker->stack);
	free(maker);
}

/* Adds frames of the profile for names, innermost first, so that the last name comes first. */
static int frames_add(struct stack_profile *maker, const struct code_name *names, size_t count,
		      uint64_t address, bool is_kernel)
{
	struct profile *profile = maker->profile;

	for (size_t i = count; i-- > 0;) {
		struct profile_frame frame = {
			.function = profile_text(profile, names[i].function),
			.module = profile_text(profile, names[i].module),
			.build_id = profile_text(profile, names[i].build_id),
			.source = profile_text(profile, names[i].source),
			.line = names[i].line,
			.address = !names[i].function && names[i].start ? names[i].start : address,
			.is_kernel = is_kernel,
			.is_inlined = names[i].is_inlined,
		};
		uint32_t number = 0;
		int status = profile_add_frame(profile, &frame, &number);

		if (status == 0)
			status = array_append(&maker->frames, number);
		if (status < 0)
			return status;
	}
	return 0;
}

/* The frames of an address, by its key; not filled yet when it is new. */
static int known_find(struct stack_profile *maker, const char *key, struct known_frame **ret)
{
	const struct known_frame empty = { 0 };
	uint32_t number = dictionary_find(maker->addresses, key, strlen(key));
	int status = 0;

	if (!number && dictionary_count(maker->addresses) >= ADDRESSES_MAX) {
		maker->spare = empty;
		*ret = &maker->spare;
		return 0;
	}
	if (!number)
		status = dictionary_add(maker->addresses, key, strlen(key), &number);
	if (status == 0)
		status = array_extend(&maker->known, number, empty);
	if (status == 0)
		*ret = &maker->known.data[number - 1];
	return status;
}

/* Adds frames of the profile for names, innermost first: the function itself then comes first. */
static int known_fill(struct stack_profile *maker, struct known_frame *known,
		      const struct code_name *names, size_t count, uint64_t address, bool is_kernel)
{
	uint32_t first = (uint32_t)maker->frames.count;
	int status = frames_add(maker, names, count, address, is_kernel);

	if (status < 0)
		maker->frames.count = first;
	known->first = first;
	known->count = (uint32_t)maker->frames.count - first;
	return status;
}

/* Appends the frames of an address; with `is_kept` false they are then forgotten. */
static int stack_append(struct stack_profile *maker, struct known_frame *known, bool is_kept)
{
	int status = 0;

	for (uint32_t i = 0; i < known->count && status == 0; i++)
		status = array_append(&maker->stack, maker->frames.data[known->first + i]);
	if (known != &maker->spare && is_kept)
		return status;
	if (known->first + known->count == maker->frames.count)
		maker->frames.count = known->first;
	known->count = 0;
	return status;
}

/* Code without a file is that of one program of a process; other code is the same in all. */
static int append_user(struct stack_profile *maker, struct address_space *space,
		       const struct code_frame *frame)
{
	struct code_name names[CODE_INLINES_MAX] = { { .function = "" } };
	struct known_frame *known;
	char key[KEY_SIZE];
	int status;

	if (frame->file)
		snprintf(key, sizeof(key), "%p %" PRIx64, (void *)frame->file, frame->address);
	else
		snprintf(key, sizeof(key), "program %" PRIu64 " %" PRIx64,
			 address_space_number(space), frame->address);
	status = known_find(maker, key, &known);
	if (status == 0 && known->count == 0)
		status =
			known_fill(maker, known, names, code_name(maker->code, space, frame, names),
				   frame->address, false);
	/* The name of code that is made at run time may be known later. */
	return status < 0 ? status : stack_append(maker, known, frame->file || names[0].function);
}

/* Where the kernel hides its addresses from our user, stacks must not tell them. */
static int append_kernel_frame(struct stack_profile *maker, uint64_t address)
{
	struct code_name name = { 0 };
	struct known_frame *known;
	char key[KEY_SIZE];
	int status;

	snprintf(key, sizeof(key), "kernel %" PRIx64, address);
	status = known_find(maker, key, &known);
	if (status == 0 && known->count == 0) {
		code_kernel_name(maker->code, address, &name);
		if (code_kernel_reason(maker->code)) {
			name.function = "(hidden)";
			address = 0;
		}
		status = known_fill(maker, known, &name, 1, address, true);
	}
	return status < 0 ? status : stack_append(maker, known, true);
}

static bool is_kernel_function(struct stack_profile *maker, uint64_t address, const char *prefix)
{
	struct code_name name = { 0 };

	code_kernel_name(maker->code, address, &name);
	return name.function && strncmp(name.function, prefix, strlen(prefix)) == 0;
}

/*
 * How many of the innermost frames are of the copying itself: a thread that copies its own stack before the kernel
 * side knows their number has them.
 */
static size_t copying_frames(struct stack_profile *maker, const struct tracer_stack *stack)
{
	size_t i = 0;

	if (!stack->kernel_count || !is_kernel_function(maker, stack->kernel[0], "__bpf_get_"))
		return 0;
	while (i < stack->kernel_count &&
	       !is_kernel_function(maker, stack->kernel[i], "__traceiter_"))
		i++;
	return i < stack->kernel_count ? i + 1 : 0;
}

/* Hidden functions are one frame together. */
static int append_kernel(struct stack_profile *maker, const struct tracer_stack *stack)
{
	size_t copying = copying_frames(maker, stack);
	int status = 0;

	for (size_t i = stack->kernel_count; i-- > copying && status == 0;) {
		status = append_kernel_frame(maker, stack->kernel[i]);
		if (code_kernel_reason(maker->code))
			break;
	}
	return status;
}

static int unwind_user(struct stack_profile *maker, const struct stack_item *item,
		       enum unwind_end *ret)
{
	const struct tracer_stack *stack = &item->stack;
	struct task_key process = { stack->task.pid, stack->task.pid, item->process_start_ns };
	struct address_space *space = stack_images_find(&maker->images, &process, stack->time_ns);
	struct code_frame frames[PROFILE_DEPTH_MAX];
	size_t count = 0;
	int status = 0;

	*ret = UNWIND_UNMAPPED;
	if (space)
		*ret = unwind(space, &stack->user, frames, ARRAY_SIZE(frames), &count);
	for (size_t i = count; i-- > 0 && status == 0;)
		status = append_user(maker, space, &frames[i]);
	return status;
}

/* Puts the frames of the item into `stack`; *ret says how far they go. */
static int find_frames(struct stack_profile *maker, const struct stack_item *item,
		       enum profile_end *ret)
{
	const struct tracer_stack *stack = &item->stack;
	enum unwind_end end = UNWIND_COMPLETE;
	int status = 0;

	if (stack->has_user)
		status = unwind_user(maker, item, &end);
	if (status == 0)
		status = append_kernel(maker, stack);
	if (status == -ENOSPC) { /* it ends at the last caller that there was room for */
		maker->profile->losses.cut++;
		status = 0;
	}
	if (maker->stack.count > PROFILE_DEPTH_MAX) /* its outermost frames find no room */
		end = UNWIND_DEEP;
	*ret = PROFILE_TRUNCATED;
	if (stack->is_kernel_only || (stack->has_user && end == UNWIND_COMPLETE))
		*ret = PROFILE_COMPLETE;
	if (maker->stack.count == 0)
		*ret = PROFILE_NO_STACK;
	if (stack->has_user && end != UNWIND_COMPLETE)
		maker->profile->losses.truncated++;
	return status;
}

/* Where more waits were met than are remembered, all are forgotten: they come again. */
static int forget_waits(struct stack_profile *maker)
{
	struct dictionary *empty = dictionary_new();

	if (!empty)
		return -ENOMEM;
	dictionary_free(maker->waits);
	maker->waits = empty;
	maker->lasts.count = 0;
	return 0;
}

/*
 * The place of the last stack of this wait: same thread, system call, instruction and stack pointer.  A function of the
 * C library that waits has one instruction for all its callers, and they differ by the stack pointer.  0: none.
 */
static uint32_t wait_number(struct stack_profile *maker, const struct tracer_stack *stack)
{
	char key[KEY_SIZE];
	int length = snprintf(key, sizeof(key), "%d %" PRIu64 " %" PRIu32 " %" PRIx64 " %" PRIx64,
			      stack->task.tid, stack->task.start_ns, stack->syscall,
			      stack->user.registers.values[UNWIND_PC],
			      stack->user.registers.values[UNWIND_SP]);
	uint32_t number = dictionary_find(maker->waits, key, (size_t)length);

	if (number > maker->lasts.count)
		return 0;
	if (number || stack->is_inferred)
		return number;
	if ((dictionary_count(maker->waits) > WAITS_MAX && forget_waits(maker) < 0) ||
	    dictionary_add(maker->waits, key, (size_t)length, &number) < 0 ||
	    array_extend(&maker->lasts, number, (struct last_stack){ 0 }) < 0)
		return 0;
	return number;
}

static bool is_over_budget(const struct stack_profile *maker)
{
	uint64_t earned_ns = (monotonic_ns() - maker->begin_ns) / BUDGET_PART;

	return maker->used_ns > BUDGET_NS + earned_ns;
}

static void take_last(const struct stack_profile *maker, uint32_t number,
		      struct profile_sample *sample)
{
	struct last_stack last = number ? maker->lasts.data[number - 1] : (struct last_stack){ 0 };

	if (!last.node)
		return;
	sample->node = last.node;
	sample->end = last.end;
	sample->inferred_ns = sample->ns;
}

/* A waker's weight is the time of another thread. */
static void note_dropped(struct profile *profile, const struct profile_sample *sample)
{
	profile->losses.dropped++;
	if (sample->kind != PROFILE_WAKER)
		profile->losses.dropped_ns += sample->ns;
}

/* The node of the item's stack, found anew, or that of an earlier wait like it. */
static int find_node(struct stack_profile *maker, const struct stack_item *item, bool is_hurried,
		     struct profile_sample *sample)
{
	const struct tracer_stack *stack = &item->stack;
	uint32_t number = stack->kind == PROFILE_OFF_CPU ? wait_number(maker, stack) : 0;
	enum profile_end end;
	int status;

	sample->end = PROFILE_NO_STACK;
	if (stack->is_inferred) {
		take_last(maker, number, sample);
		return 0;
	}
	if (is_hurried || is_over_budget(maker)) {
		note_dropped(maker->profile, sample);
		return 0;
	}
	maker->stack.count = 0;
	status = find_frames(maker, item, &end);
	if (status < 0)
		return status;
	sample->end = (uint8_t)end;
	status = profile_add_stack(maker->profile, maker->stack.data, maker->stack.count,
				   &sample->node);
	if (status == 0 && number)
		maker->lasts.data[number - 1] = (struct last_stack){ sample->node, sample->end };
	return status;
}

static int note_open(struct profile *profile, const struct profile_sample *sample)
{
	struct profile_open open = { sample->task, sample->node, sample->end };

	return array_append(&profile->open, open);
}

static int take_stack(struct stack_profile *maker, const struct stack_item *item, bool is_hurried)
{
	const struct tracer_stack *stack = &item->stack;
	struct profile_sample sample = {
		.task = stack->task,
		.process_name = profile_text(maker->profile, item->process_name),
		.thread_name = profile_text(maker->profile, stack->comm),
		.scope = profile_text(maker->profile, item->scope),
		.kind = (uint8_t)stack->kind,
		.reason = stack->reason,
		.ns = stack->weight_ns,
		.count = 1,
	};
	int status = find_node(maker, item, is_hurried, &sample);

	if (status == 0 && stack->is_open)
		status = note_open(maker->profile, &sample);
	return status < 0 ? status : profile_add_sample(maker->profile, &sample);
}

int stack_profile_take(struct stack_profile *maker, const struct stack_item *item, bool is_hurried)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int status = item->is_image ? stack_images_take(&maker->images, &item->image) :
				      take_stack(maker, item, is_hurried);

	maker->used_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return status;
}

const char *stack_profile_lack(const struct stack_profile *maker)
{
	return code_kernel_reason(maker->code);
}

struct profile *stack_profile_finish(struct stack_profile *maker, struct code_counts *ret)
{
	struct profile *profile = maker->profile;

	code_counts(maker->code, ret);
	profile->losses.bad_files = ret->bad_files;
	profile->losses.mappings = maker->images.lost;
	profile->losses.refused = ret->refused;
	profile->losses.unwind_ns = maker->used_ns + ret->service_cpu_ns;
	maker->profile = NULL;
	return profile;
}

/* SPDX-License-Identifier: MIT */
#include "model/profile/profile_top.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/order.h"
#include "model/counter.h"

/* Time of a function that a second number splits up: its caller's function, or a reason. */
struct portion {
	uint32_t function, by;
	uint64_t ns;
};

struct folding {
	const struct profile *profile;
	enum profile_kind kind;
	uint32_t *function_of; /* of each frame: the number of its function */
	bool *is_library;      /* of each frame: of the kernel or the C library */
	struct profile_top *functions;
	uint32_t *seen_in; /* of each function: the sample that counted it last, plus one */
	uint32_t function_count;
	struct portion *callers, *reasons; /* one for each sample at most */
	size_t portion_count;
};

static bool is_c_library(const char *module)
{
	static const char *const beginnings[] = { "libc.so", "libc-2.",	  "libpthread", "ld-linux",
						  "ld-musl", "libc.musl", "[vdso]" };
	const char *slash = strrchr(module, '/');

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(slash ? slash + 1 : module, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

bool profile_frame_is_library(const struct profile *profile, const struct profile_frame *frame)
{
	return frame->is_kernel || is_c_library(profile_string(profile, frame->module));
}

/* Frames of one function are neighbours in this order. */
static int compare_functions(const void *a, const void *b, void *context)
{
	const struct profile_frame *frames = context;
	const struct profile_frame *first = &frames[*(const uint32_t *)a];
	const struct profile_frame *second = &frames[*(const uint32_t *)b];
	int order = compare_numbers(first->function, second->function);

	if (order == 0)
		order = compare_numbers(first->module, second->module);
	if (order == 0 && !first->function)
		order = compare_numbers(first->address, second->address);
	return order;
}

static int number_functions(struct folding *folding)
{
	struct profile_frame *frames = folding->profile->frames.data;
	uint32_t count = (uint32_t)folding->profile->frames.count;
	CLEANUP(free_pointer) uint32_t *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_functions, frames);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || compare_functions(&order[i - 1], &order[i], frames) != 0)
			folding->functions[folding->function_count++] =
				(struct profile_top){ .frame = order[i],
						      .caller = PROFILE_NO_FRAME };
		folding->function_of[order[i]] = folding->function_count - 1;
		folding->is_library[order[i]] =
			profile_frame_is_library(folding->profile, &frames[order[i]]);
	}
	return 0;
}

/* The place in a stack, innermost first, of the frame that its time belongs to. */
static size_t find_owner(const struct folding *folding, const uint32_t *stack, size_t count)
{
	const struct profile_frame *frames = folding->profile->frames.data;
	size_t owner = 0, user = 0;

	if (folding->kind == PROFILE_ON_CPU)
		return 0;
	while (owner < count && folding->is_library[stack[owner]])
		owner++;
	while (user < count && frames[stack[user]].is_kernel)
		user++;
	return owner < count ? owner : user < count ? user : 0;
}

static void add_totals(struct folding *folding, const uint32_t *stack, size_t count,
		       const struct profile_sample *sample, uint32_t mark)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t function = folding->function_of[stack[i]];

		if (folding->seen_in[function] == mark)
			continue;
		folding->seen_in[function] = mark;
		counter_add(&folding->functions[function].total_ns, sample->ns);
	}
}

static void add_sample(struct folding *folding, const struct profile_sample *sample, uint32_t mark)
{
	uint32_t stack[PROFILE_DEPTH_MAX];
	size_t count = profile_stack(folding->profile, sample->node, stack), place;
	uint32_t function, caller = PROFILE_NO_FRAME;

	if (!count)
		return;
	add_totals(folding, stack, count, sample, mark);
	place = find_owner(folding, stack, count);
	function = folding->function_of[stack[place]];
	counter_add(&folding->functions[function].self_ns, sample->ns);
	for (; place < count && caller == PROFILE_NO_FRAME; place++)
		if (folding->function_of[stack[place]] != function)
			caller = folding->function_of[stack[place]];
	folding->callers[folding->portion_count] = (struct portion){ function, caller, sample->ns };
	folding->reasons[folding->portion_count++] =
		(struct portion){ function, sample->reason, sample->ns };
}

static int compare_portions(const void *a, const void *b)
{
	const struct portion *first = a, *second = b;
	int order = compare_numbers(first->function, second->function);

	return order ? order : compare_numbers(first->by, second->by);
}

/* Adds up what belongs together, and calls `take` for each sum. */
static void sum_portions(struct folding *folding, struct portion *portions,
			 void (*take)(struct folding *folding, const struct portion *sum))
{
	struct portion sum;

	qsort(portions, folding->portion_count, sizeof(*portions), compare_portions);
	for (size_t i = 0; i < folding->portion_count; i++) {
		if (i > 0 && compare_portions(&sum, &portions[i]) == 0) {
			counter_add(&sum.ns, portions[i].ns);
			continue;
		}
		if (i > 0)
			take(folding, &sum);
		sum = portions[i];
	}
	if (folding->portion_count)
		take(folding, &sum);
}

static void take_caller(struct folding *folding, const struct portion *sum)
{
	struct profile_top *top = &folding->functions[sum->function];

	if (sum->by == PROFILE_NO_FRAME || sum->ns <= top->caller_ns)
		return;
	top->caller = folding->functions[sum->by].frame;
	top->caller_ns = sum->ns;
}

static void take_reason(struct folding *folding, const struct portion *sum)
{
	struct profile_top *top = &folding->functions[sum->function];

	if (sum->ns <= top->reason_ns)
		return;
	top->reason = (uint8_t)sum->by;
	top->reason_ns = sum->ns;
}

/* Frames are numbered in the order in which they were met: a tie has the same order each time. */
static int compare_tops(const void *a, const void *b)
{
	const struct profile_top *first = a, *second = b;
	int order = compare_numbers(second->self_ns, first->self_ns);

	return order ? order : compare_numbers(first->frame, second->frame);
}

static int open_folding(struct folding *folding)
{
	size_t frames = folding->profile->frames.count + 1;
	size_t samples = folding->profile->samples.count + 1;

	folding->function_of = calloc(frames, sizeof(*folding->function_of));
	folding->is_library = calloc(frames, sizeof(*folding->is_library));
	folding->functions = calloc(frames, sizeof(*folding->functions));
	folding->seen_in = calloc(frames, sizeof(*folding->seen_in));
	folding->callers = calloc(samples, sizeof(*folding->callers));
	folding->reasons = calloc(samples, sizeof(*folding->reasons));
	return folding->function_of && folding->is_library && folding->functions &&
			       folding->seen_in && folding->callers && folding->reasons ?
		       number_functions(folding) :
		       -ENOMEM;
}

static void close_folding(struct folding *folding)
{
	free(folding->function_of);
	free(folding->is_library);
	free(folding->functions);
	free(folding->seen_in);
	free(folding->callers);
	free(folding->reasons);
}

int profile_tops(const struct profile *profile, enum profile_kind kind, struct profile_tops *ret)
{
	CLEANUP(close_folding) struct folding folding = { .profile = profile, .kind = kind };
	int status = open_folding(&folding);

	if (status < 0)
		return status;
	*ret = (struct profile_tops){ 0 };
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = &profile->samples.data[i];

		if (sample->kind != kind)
			continue;
		counter_add(&ret->ns, sample->ns);
		add_sample(&folding, sample, (uint32_t)i + 1);
	}
	sum_portions(&folding, folding.callers, take_caller);
	sum_portions(&folding, folding.reasons, take_reason);
	qsort(folding.functions, folding.function_count, sizeof(*folding.functions), compare_tops);
	ret->rows = TAKE_PTR(folding.functions);
	while (ret->count < folding.function_count && ret->rows[ret->count].self_ns)
		ret->count++;
	return 0;
}

void profile_tops_free(struct profile_tops *tops)
{
	free(tops->rows);
	*tops = (struct profile_tops){ 0 };
}

/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: one line for each stack, its frames from the outermost on with ";" between them, a
 * blank, and the time in microseconds.  Flame graph viewers read it.
 *
 * The first frame is on-cpu or off-cpu; the process and the thread come next.  Names of strangers
 * are escaped, and so is a ";" in them.  As viewers expect it, "_[k]" marks frames of the kernel
 * and "_[i]" inlined ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/order.h"
#include "base/text.h"
#include "export/exporters.h"
#include "model/profile/profile.h"
#include "model/tree/run.h"

/* Samples that give the same line are neighbours: kind, names, place. */
static int compare_samples(const void *a, const void *b)
{
	const struct profile_sample *first = *(const struct profile_sample *const *)a;
	const struct profile_sample *second = *(const struct profile_sample *const *)b;
	const uint64_t keys[][2] = {
		{ first->kind, second->kind },
		{ first->process_name, second->process_name },
		{ first->thread_name, second->thread_name },
		{ first->node, second->node },
		{ first->end, second->end },
	};
	int order = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && order == 0; i++)
		order = compare_numbers(keys[i][0], keys[i][1]);
	return order;
}

/* The samples on the CPU and off it, in that order; the caller frees the list.  NULL: no memory. */
static const struct profile_sample **sort_samples(const struct profile *profile, size_t *ret_count)
{
	const struct profile_sample **list = calloc(profile->samples.count + 1, sizeof(*list));

	*ret_count = 0;
	for (size_t i = 0; i < profile->samples.count && list; i++)
		if (profile->samples.data[i].kind != PROFILE_WAKER)
			list[(*ret_count)++] = &profile->samples.data[i];
	if (list)
		qsort(list, *ret_count, sizeof(*list), compare_samples);
	return list;
}

static void append_frame(struct text *line, const char *name)
{
	text_append_string(line, ";");
	for (;;) {
		size_t length = strcspn(name, ";");

		text_append(line, name, length);
		if (!name[length])
			return;
		text_append_string(line, "\\x3b");
		name += length + 1;
	}
}

static void append_text(struct text *line, const struct profile *profile, uint32_t text,
			struct text *name)
{
	const char *string = profile_string(profile, text);

	text_clear(name);
	text_append_escaped(name, string, strlen(string));
	append_frame(line, *string ? text_string(name) : EXPORT_UNKNOWN);
}

static void append_stack(struct text *line, const struct profile *profile,
			 const struct profile_sample *sample, struct text *name)
{
	uint32_t frames[PROFILE_DEPTH_MAX];
	size_t count = profile_stack(profile, sample->node, frames);

	if (!count)
		append_frame(line, EXPORT_NOT_CAPTURED);
	else if (sample->end != PROFILE_COMPLETE)
		append_frame(line, EXPORT_TRUNCATED);
	while (count-- > 0) {
		const struct profile_frame *frame = &profile->frames.data[frames[count]];

		text_clear(name);
		profile_append_name(profile, frames[count], name);
		append_frame(line, text_string(name));
		text_append_string(line, frame->is_kernel  ? "_[k]" :
					 frame->is_inlined ? "_[i]" :
							     "");
	}
}

/*
 * Rounds the sum so far, not each line: what one line lacks the next one has, and the sum of all is
 * right.
 */
struct weights {
	uint64_t ns, us; /* of all lines so far; written so far */
};

static uint64_t take_weight(struct weights *weights, uint64_t ns)
{
	uint64_t us;

	if (__builtin_add_overflow(weights->ns, ns, &weights->ns))
		weights->ns = UINT64_MAX;
	us = weights->ns / 1000 - weights->us + (weights->ns % 1000 >= 500);
	weights->us += us;
	return us;
}

static int write_folded(const struct run *run, FILE *out, struct error *error)
{
	const struct profile *profile = run->profile;
	CLEANUP(text_free) struct text line = { 0 };
	CLEANUP(text_free) struct text name = { 0 };
	struct weights weights = { 0 };
	size_t count;
	CLEANUP(free_pointer)
	const struct profile_sample **samples = sort_samples(profile, &count);

	(void)error;
	for (size_t i = 0; i < count && samples && !line.failed && !name.failed; i++) {
		uint64_t us = take_weight(&weights, samples[i]->ns);

		while (i + 1 < count && compare_samples(&samples[i], &samples[i + 1]) == 0)
			us += take_weight(&weights, samples[++i]->ns);
		if (!us)
			continue;
		text_clear(&line);
		text_append_string(&line, profile_kind_names[samples[i]->kind]);
		append_text(&line, profile, samples[i]->process_name, &name);
		append_text(&line, profile, samples[i]->thread_name, &name);
		append_stack(&line, profile, samples[i], &name);
		fprintf(out, "%s %" PRIu64 "\n", text_string(&line), us);
	}
	return !samples || line.failed || name.failed ? -ENOMEM : 0;
}

const struct exporter exporter_folded = {
	.ending = ".folded",
	.summary = "folded stacks, for flame graph viewers",
	.needs_stacks = true,
	.write = write_folded,
};

/* SPDX-License-Identifier: MIT */
/* Profiles that tests write by hand. */
#ifndef TEST_HAND_PROFILE_H
#define TEST_HAND_PROFILE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile/profile.h"

static inline struct profile *hand_profile(void)
{
	struct profile *profile = NULL;

	assert_int_equal(profile_new(&profile), 0);
	return profile;
}

/*
 * The number of a frame by its name: "function" or "function@module"; "_[k]" and "_[i]" at the end
 * mark frames of the kernel and inlined ones, as in folded stacks.
 */
static inline uint32_t hand_frame(struct profile *profile, const char *name)
{
	struct profile_frame frame = { .address = 0x1000 + strlen(name), .line = 7 };
	const char *at = strchr(name, '@');
	char function[128];
	size_t length = at ? (size_t)(at - name) : strlen(name);
	uint32_t number = 0;

	memcpy(function, name, length);
	function[length] = '\0';
	if (length > 4 && strcmp(function + length - 4, "_[k]") == 0)
		frame.is_kernel = true;
	if (length > 4 && strcmp(function + length - 4, "_[i]") == 0)
		frame.is_inlined = true;
	if (frame.is_kernel || frame.is_inlined)
		function[length - 4] = '\0';
	frame.function = profile_text(profile, function);
	frame.module = profile_text(profile, frame.is_kernel ? "[kernel]" :
					     at		     ? at + 1 :
							       "/usr/bin/made");
	frame.build_id = frame.is_kernel ? 0 : profile_text(profile, "0123456789abcdef");
	frame.source = frame.is_kernel ? 0 : profile_text(profile, "made.c");
	assert_int_equal(profile_add_frame(profile, &frame, &number), 0);
	return number;
}

/* The node of a stack: names of frames, outermost first, with ";" between them. */
static inline uint32_t hand_stack(struct profile *profile, const char *stack)
{
	uint32_t frames[PROFILE_DEPTH_MAX], node = 0;
	size_t count = 0;
	char name[128];

	while (*stack) {
		size_t length = strcspn(stack, ";");

		memcpy(name, stack, length);
		name[length] = '\0';
		frames[count++] = hand_frame(profile, name);
		stack += length + (stack[length] == ';');
	}
	assert_int_equal(profile_add_stack(profile, frames, count, &node), 0);
	return node;
}

/* A sample of thread 10/11, "made" and "worker"; an empty stack was not captured. */
static inline struct profile_sample hand_sample(struct profile *profile, enum profile_kind kind,
						const char *stack, uint64_t ns)
{
	return (struct profile_sample){
		.task = { 10, 11, 5000000000 },
		.process_name = profile_text(profile, "made"),
		.thread_name = profile_text(profile, "worker"),
		.kind = (uint8_t)kind,
		.end = *stack ? PROFILE_COMPLETE : PROFILE_NO_STACK,
		.reason = kind == PROFILE_ON_CPU ? 0 : WAIT_LOCK,
		.node = hand_stack(profile, stack),
		.ns = ns,
		.count = *stack ? 1 : 0,
	};
}

static inline void hand_add(struct profile *profile, enum profile_kind kind, const char *stack,
			    uint64_t ns)
{
	struct profile_sample sample = hand_sample(profile, kind, stack, ns);

	assert_int_equal(profile_add_sample(profile, &sample), 0);
}

/* Samples of every kind, with names that nobody would choose. */
static inline void hand_everything(struct profile *profile)
{
	struct profile_sample odd = hand_sample(profile, PROFILE_OFF_CPU, "main;wa;it;read_[k]", 7);
	struct profile_sample cut = hand_sample(profile, PROFILE_ON_CPU, "work;add_[i]", 1500);
	struct profile_frame unnamed = { .address = 0xffffffff81000010, .is_kernel = true };
	struct profile_frame strange = { .function =
						 profile_text(profile, "a b;c\n\033[1m\xff\"\\"),
					 .module = profile_text(profile, "/tmp/we ird;\n.so"),
					 .address = 16 };
	uint32_t stack[2];

	hand_add(profile, PROFILE_ON_CPU, "main;work;add", 20000000);
	hand_add(profile, PROFILE_ON_CPU, "main;work;add", 10000000);
	hand_add(profile, PROFILE_OFF_CPU, "", 5000);
	hand_add(profile, PROFILE_WAKER, "main;unlock", 3000000);
	odd.scope = profile_text(profile, "load > parse");
	odd.thread_name = profile_text(profile, "t\033;\n\xfe");
	odd.inferred_ns = 3;
	cut.end = PROFILE_TRUNCATED;
	assert_int_equal(profile_add_sample(profile, &odd), 0);
	assert_int_equal(profile_add_sample(profile, &cut), 0);
	assert_int_equal(profile_add_frame(profile, &strange, &stack[0]), 0);
	assert_int_equal(profile_add_frame(profile, &unnamed, &stack[1]), 0);
	assert_int_equal(profile_add_stack(profile, stack, 2, &odd.node), 0);
	odd.task = (struct task_key){ 0 };
	odd.process_name = odd.thread_name = odd.scope = 0;
	odd.reason = WAIT_DISK;
	assert_int_equal(profile_add_sample(profile, &odd), 0);
	profile->frequency_hz = 99;
	profile->off_cpu_min_ns = 1000000;
	profile->losses =
		(struct profile_losses){ 1,  2, 3, 4, profile->losses.unnamed_frames, 6, 10, 12, 13,
					 11, 7, 8, 9 };
}

static inline int hand_compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline char *hand_dump_sample(const struct profile *profile,
				     const struct profile_sample *sample)
{
	uint32_t frames[PROFILE_DEPTH_MAX];
	size_t count = profile_stack(profile, sample->node, frames), size;
	char *line = NULL;
	FILE *out = open_memstream(&line, &size);

	fprintf(out, "%u %u %u %d %d %" PRIu64 " '%s' '%s' '%s' %" PRIu64 " %" PRIu64 " %" PRIu64,
		sample->kind, sample->end, sample->reason, sample->task.pid, sample->task.tid,
		sample->task.start_ns, profile_string(profile, sample->process_name),
		profile_string(profile, sample->thread_name),
		profile_string(profile, sample->scope), sample->ns, sample->count,
		sample->inferred_ns);
	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame = &profile->frames.data[frames[i]];

		fprintf(out, " [%s %s %s %s %u %" PRIx64 " %d %d]",
			profile_string(profile, frame->function),
			profile_string(profile, frame->module),
			profile_string(profile, frame->build_id),
			profile_string(profile, frame->source), frame->line, frame->address,
			frame->is_kernel, frame->is_inlined);
	}
	fclose(out);
	return line;
}

/* All that a profile says, whatever the numbers of its parts are; the caller frees it. */
static inline char *hand_dump(const struct profile *profile)
{
	char **lines = calloc(profile->samples.count + 1, sizeof(*lines)), *dump = NULL;
	size_t size;
	FILE *out = open_memstream(&dump, &size);
	const uint64_t *losses = (const uint64_t *)&profile->losses;

	for (size_t i = 0; i < profile->samples.count; i++)
		lines[i] = hand_dump_sample(profile, &profile->samples.data[i]);
	qsort(lines, profile->samples.count, sizeof(*lines), hand_compare_lines);
	for (size_t i = 0; i < profile->samples.count; i++) {
		fprintf(out, "%s\n", lines[i]);
		free(lines[i]);
	}
	fprintf(out, "%" PRIu64 " %" PRIu64, profile->frequency_hz, profile->off_cpu_min_ns);
	for (size_t i = 0; i < sizeof(profile->losses) / sizeof(*losses); i++)
		fprintf(out, " %" PRIu64, losses[i]);
	fclose(out);
	free(lines);
	return dump;
}

#endif

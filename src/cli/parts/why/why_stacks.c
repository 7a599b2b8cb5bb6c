/* SPDX-License-Identifier: MIT */
/* Where in the code the threads of a process stand. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/parts/why/why_print.h"
#include "model/profile/profile.h"
#include "model/tree/run.h"
#include "session/why/why.h"
#include "store/run/run_json.h"

/* Threads in one place that are named; the others are counted. */
#define NAMED_MOST 4

static const struct profile *profile_of(const struct why *why)
{
	return why->run ? why->run->profile : NULL;
}

static const struct why_thread *find_thread(const struct why *why, int32_t tid)
{
	for (size_t i = 0; i < why->threads.count; i++)
		if (why->threads.data[i].tid == tid)
			return &why->threads.data[i];
	return NULL;
}

/* Threads of children are watched, too, but asked for is the process. */
static bool is_shown(const struct why *why, const struct profile_open *open)
{
	return open->task.pid == why->before.pid;
}

static bool is_same_place(const struct profile_open *one, const struct profile_open *other)
{
	return one->node == other->node && one->end == other->end;
}

static bool is_first_in_place(const struct why *why, size_t place)
{
	const struct profile *profile = profile_of(why);

	for (size_t i = 0; i < place; i++)
		if (is_shown(why, &profile->open.data[i]) &&
		    is_same_place(&profile->open.data[i], &profile->open.data[place]))
			return false;
	return true;
}

static void append_thread(struct text *line, const struct why *why, int32_t tid)
{
	const struct why_thread *thread = find_thread(why, tid);

	text_format(line, "%s%" PRId32, line->length ? ", " : "", tid);
	if (!thread)
		return;
	text_append_string(line, " ");
	text_append_escaped(line, thread->comm, strnlen(thread->comm, sizeof(thread->comm)));
}

/* "12 worker, 13 worker and 5 more threads, in:" */
static void print_threads(FILE *out, const struct why *why, size_t place)
{
	const struct profile *profile = profile_of(why);
	CLEANUP(text_free) struct text line = { 0 };
	size_t count = 0;

	for (size_t i = place; i < profile->open.count; i++) {
		const struct profile_open *open = &profile->open.data[i];

		if (!is_shown(why, open) || !is_same_place(open, &profile->open.data[place]))
			continue;
		if (++count <= NAMED_MOST)
			append_thread(&line, why, open->task.tid);
	}
	fprintf(out, "\n%s", text_string(&line));
	if (count > NAMED_MOST)
		fprintf(out, " and %zu more thread%s", count - NAMED_MOST,
			count == NAMED_MOST + 1 ? "" : "s");
	fputs(" in:\n", out);
}

static void print_frame(FILE *out, const struct profile *profile, uint32_t number)
{
	const struct profile_frame *frame = &profile->frames.data[number];
	CLEANUP(text_free) struct text line = { 0 };
	const char *source = profile_string(profile, frame->source);

	profile_append_name(profile, number, &line);
	if (frame->is_kernel)
		text_append_string(&line, " (kernel)");
	if (frame->is_inlined)
		text_append_string(&line, " (inlined)");
	if (*source && frame->line) {
		text_append_string(&line, " at ");
		text_append_escaped(&line, source, strlen(source));
		text_format(&line, ":%" PRIu32, frame->line);
	}
	fprintf(out, "  %s\n", text_string(&line));
}

static void print_stack(FILE *out, const struct profile *profile, const struct profile_open *open)
{
	uint32_t frames[PROFILE_DEPTH_MAX];
	size_t count = profile_stack(profile, open->node, frames);

	for (size_t i = 0; i < count; i++)
		print_frame(out, profile, frames[i]);
	if (open->end == PROFILE_TRUNCATED)
		fputs("  (its outermost callers are not known)\n", out);
	if (open->end == PROFILE_NO_STACK)
		fputs("  (its stack could not be read)\n", out);
}

static const char *missing_reason(const struct why *why)
{
	const struct source_report *source = why->run ? run_source(why->run, "stacks") : NULL;

	if (!why->run)
		return "the process was not watched";
	return source && source->reason ? source->reason : "they were not taken";
}

/* Stacks are of threads that wait; those of one that computes change all the time. */
static void print_none(FILE *out, const struct why *why)
{
	fputs("\nno thread was blocked when watching ended: there is no stack to show\n", out);
	if (!why->ended)
		fprintf(out, "`taskscope attach -p %" PRId32 " -d 5s` shows where it computes\n",
			why->before.pid);
}

void why_print_stacks(FILE *out, const struct why *why)
{
	const struct profile *profile = profile_of(why);
	size_t shown = 0;

	if (!profile) {
		fprintf(out, "\nno stacks: %s\n", missing_reason(why));
		return;
	}
	for (size_t i = 0; i < profile->open.count; i++) {
		if (!is_shown(why, &profile->open.data[i]) || !is_first_in_place(why, i))
			continue;
		print_threads(out, why, i);
		print_stack(out, profile, &profile->open.data[i]);
		shown++;
	}
	if (!shown)
		print_none(out, why);
}

void why_json_stacks(struct json *json, const struct why *why)
{
	const struct profile *profile = profile_of(why);

	if (!profile)
		return;
	json_member_array(json, "stacks");
	for (size_t i = 0; i < profile->open.count; i++) {
		const struct profile_open *open = &profile->open.data[i];
		uint32_t frames[PROFILE_DEPTH_MAX];
		size_t count = profile_stack(profile, open->node, frames);

		json_begin_object(json);
		json_member_i64(json, "pid", open->task.pid);
		json_member_i64(json, "tid", open->task.tid);
		json_member_string(json, "end", profile_end_names[open->end]);
		json_member_array(json, "frames");
		for (size_t j = 0; j < count; j++) {
			json_begin_object(json);
			run_json_frame(json, profile, frames[j]);
			json_end_object(json);
		}
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

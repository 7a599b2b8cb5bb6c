/* SPDX-License-Identifier: MIT */
/*
 * Writes the profile of a run: a line for each frame and each stack, and the sums in the summary.
 */
#include "store/run/run_json.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/output/lines.h"
#include "base/memory.h"
#include "model/profile/profile_top.h"
#include "store/run/run_json_parts.h"
#include "store/run/replay/run_stacks.h"

#define TOP_ROWS 50
/* A reader that is slower than we are is waited for when so much waits for it. */
#define BACKLOG_BYTES ((size_t)4 << 20)

static void write_text(struct json *json, const char *key, const struct profile *profile,
		       uint32_t text)
{
	if (text)
		json_member_string(json, key, profile_string(profile, text));
}

/* Addresses of the kernel do not fit the numbers of most readers of JSON. */
static void write_address(struct json *json, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_member_string(json, "address", text);
}

void run_json_frame(struct json *json, const struct profile *profile, uint32_t number)
{
	const struct profile_frame *frame = &profile->frames.data[number];

	write_text(json, "function", profile, frame->function);
	write_text(json, "module", profile, frame->module);
	write_text(json, "build_id", profile, frame->build_id);
	write_address(json, frame->address);
	write_text(json, "source", profile, frame->source);
	json_member_nonzero(json, "line", frame->line);
	json_member_flag(json, "kernel", frame->is_kernel);
	json_member_flag(json, "inlined", frame->is_inlined);
}

static void write_frame(FILE *out, const struct run *run, uint32_t number)
{
	struct json json = run_json_begin(out, "frame", run_unix_ns(run, run->end_ns));

	json_member_u64(&json, "id", number);
	run_json_frame(&json, run->profile, number);
	json_end_object(&json);
}

static void write_frames(struct json *json, const struct profile *profile, uint32_t node)
{
	uint32_t frames[PROFILE_DEPTH_MAX];
	size_t count = profile_stack(profile, node, frames);

	if (!count)
		return;
	json_member_array(json, "frames");
	for (size_t i = 0; i < count; i++)
		json_u64(json, frames[i]);
	json_end_array(json);
}

static void write_stack(FILE *out, const struct run *run, uint32_t number)
{
	const struct profile *profile = run->profile;
	const struct profile_sample *sample = &profile->samples.data[number];
	struct json json = run_json_begin(out, "stack", run_unix_ns(run, run->end_ns));

	json_member_string(&json, "type", profile_kind_names[sample->kind]);
	if (sample->task.pid) {
		json_member_i64(&json, "pid", sample->task.pid);
		json_member_i64(&json, "tid", sample->task.tid);
	}
	json_member_nonzero(&json, "start_time_ns", sample->task.start_ns);
	write_text(&json, "process", profile, sample->process_name);
	write_text(&json, "thread", profile, sample->thread_name);
	if (sample->kind != PROFILE_ON_CPU)
		json_member_string(&json, "wait", waits[sample->reason].name);
	write_text(&json, "scope", profile, sample->scope);
	json_member_string(&json, "end", profile_end_names[sample->end]);
	write_frames(&json, profile, sample->node);
	json_member_u64(&json, "ns", sample->ns);
	json_member_u64(&json, "count", sample->count);
	json_member_nonzero(&json, "inferred_ns", sample->inferred_ns);
	json_end_object(&json);
}

static void write_lines(struct lines *lines, const struct run *run, size_t count, int patience_ms,
			void (*write)(FILE *out, const struct run *run, uint32_t number))
{
	for (uint32_t i = 0; i < count; i++) {
		FILE *out = lines_begin(lines);

		if (!out)
			return;
		write(out, run, i);
		lines_end(lines);
		if (lines->backlog.length - lines->sent > BACKLOG_BYTES)
			lines_finish(lines, patience_ms);
	}
}

void run_json_stacks(struct lines *lines, const struct run *run, int patience_ms)
{
	if (!run->profile)
		return;
	write_lines(lines, run, run->profile->frames.count, patience_ms, write_frame);
	write_lines(lines, run, run->profile->samples.count, patience_ms, write_stack);
}

static void write_function(struct json *json, const struct profile *profile, uint32_t number)
{
	const struct profile_frame *frame = &profile->frames.data[number];

	write_text(json, "function", profile, frame->function);
	write_text(json, "module", profile, frame->module);
	if (!frame->function)
		write_address(json, frame->address);
}

static void write_top(struct json *json, const struct profile *profile, enum profile_kind kind,
		      const struct profile_top *top, uint64_t ns)
{
	json_begin_object(json);
	write_function(json, profile, top->frame);
	json_member_u64(json, "self_ns", top->self_ns);
	json_member_u64(json, "total_ns", top->total_ns);
	json_member_fixed(json, "share", (double)top->self_ns / (double)ns, 4);
	if (kind != PROFILE_ON_CPU)
		json_member_string(json, "wait", waits[top->reason].name);
	if (top->caller != PROFILE_NO_FRAME) {
		json_member_object(json, "caller");
		write_function(json, profile, top->caller);
		json_member_u64(json, "ns", top->caller_ns);
		json_end_object(json);
	}
	json_end_object(json);
}

static void write_tops(struct json *json, const struct profile *profile, enum profile_kind kind,
		       size_t limit)
{
	CLEANUP(profile_tops_free) struct profile_tops tops = { 0 };

	if (profile_tops(profile, kind, &tops) < 0)
		memory_note_missing();
	json_member_array(json, "top");
	for (size_t i = 0; i < tops.count && i < limit; i++)
		write_top(json, profile, kind, &tops.rows[i], tops.ns);
	json_end_array(json);
}

static void write_kind(struct json *json, const struct profile *profile, enum profile_kind kind,
		       size_t limit)
{
	struct profile_sum sum;

	profile_sum(profile, kind, &sum);
	json_member_object(json, run_profile_keys[kind]);
	json_member_u64(json, "ns", sum.ns);
	json_member_u64(json, "complete_ns", sum.complete_ns);
	json_member_u64(json, "missing_ns", sum.missing_ns);
	json_member_u64(json, "inferred_ns", sum.inferred_ns);
	json_member_u64(json, "count", sum.count);
	write_tops(json, profile, kind, limit);
	json_end_object(json);
}

void run_json_profile(struct json *json, const struct run *run, bool is_brief)
{
	if (!run->profile)
		return;
	json_member_object(json, "profile");
	run_json_fields(json, run, RUN_SECTION_PROFILE);
	for (int kind = 0; kind < PROFILE_KINDS; kind++)
		write_kind(json, run->profile, (enum profile_kind)kind, is_brief ? 1 : TOP_ROWS);
	json_member_object(json, "losses");
	run_json_fields(json, run, RUN_SECTION_STACK_LOSSES);
	json_end_object(json);
	json_end_object(json);
}

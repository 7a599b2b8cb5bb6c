/* SPDX-License-Identifier: MIT */
/* Reads the profile of a run back into the model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_replay.h"
#include "store/run/replay/run_stacks.h"
#include "store/run/replay/run_values.h"

const char *const run_profile_keys[PROFILE_KINDS] = {
	[PROFILE_ON_CPU] = "on_cpu",
	[PROFILE_OFF_CPU] = "off_cpu",
	[PROFILE_WAKER] = "waker",
};

static int need_profile(struct run *run)
{
	return run->profile ? 0 : profile_new(&run->profile);
}

static uint32_t read_text(const json_t *object, const char *key, struct profile *profile)
{
	char text[PROFILE_TEXT_MAX + 1] = "";

	member_bytes(object, key, text, sizeof(text));
	return profile_text(profile, text);
}

static uint64_t read_address(const json_t *object)
{
	const char *text = member_text(object, "address");

	return text ? strtoull(text, NULL, 16) : 0;
}

int run_replay_frame(struct run_replay *replay, const json_t *line, struct run *run)
{
	struct profile_frame frame = { .address = read_address(line),
				       .is_kernel = member_flag(line, "kernel"),
				       .is_inlined = member_flag(line, "inlined") };
	uint64_t id, number = 0;
	int status = need_profile(run);

	if (status < 0 || !member_u64(line, "id", &id) || id >= PROFILE_FRAMES_MAX)
		return status;
	frame.function = read_text(line, "function", run->profile);
	frame.module = read_text(line, "module", run->profile);
	frame.build_id = read_text(line, "build_id", run->profile);
	frame.source = read_text(line, "source", run->profile);
	if (member_u64(line, "line", &number) && number <= UINT32_MAX)
		frame.line = (uint32_t)number;
	status = array_extend(&replay->frames, id + 1, REPLAY_NO_FRAME);
	if (status == 0)
		status = profile_add_frame(run->profile, &frame, &replay->frames.data[id]);
	return status == -ENOSPC ? 0 : status;
}

/*
 * The frames of a stack, outermost first.  A frame whose line is missing hides those around it, so
 * the stack is truncated there.
 */
static size_t read_frames(const struct run_replay *replay, const json_t *list, uint32_t *frames,
			  bool *ret_truncated)
{
	size_t count = 0, size = json_array_size(list);
	uint64_t id;

	while (count < size && count < PROFILE_DEPTH_MAX &&
	       json_to_u64(json_array_get(list, count), &id) && id < replay->frames.count &&
	       replay->frames.data[id] != REPLAY_NO_FRAME)
		frames[count++] = replay->frames.data[id];
	*ret_truncated = count < size;
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = other;
	}
	return count;
}

static int find_name(const json_t *line, const char *key, const char *const *names, int count)
{
	const char *name = member_text(line, key);

	for (int i = 0; name && i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static int read_reason(const json_t *line, int kind)
{
	const char *name = member_text(line, "wait");
	int reason = name ? wait_find(name) : -1;

	if (kind == PROFILE_ON_CPU)
		return 0;
	return reason < 0 ? WAIT_OTHER : reason;
}

int run_replay_stack(struct run_replay *replay, const json_t *line, struct run *run)
{
	int kind = find_name(line, "type", profile_kind_names, PROFILE_KINDS);
	int end = find_name(line, "end", profile_end_names, PROFILE_ENDS);
	struct profile_sample sample = { 0 };
	uint32_t frames[PROFILE_DEPTH_MAX];
	bool is_truncated;
	size_t count;
	int status = need_profile(run);

	if (status < 0 || kind < 0 || end < 0)
		return status;
	member_i32(line, "pid", &sample.task.pid);
	member_i32(line, "tid", &sample.task.tid);
	member_u64(line, "start_time_ns", &sample.task.start_ns);
	sample.process_name = read_text(line, "process", run->profile);
	sample.thread_name = read_text(line, "thread", run->profile);
	sample.scope = read_text(line, "scope", run->profile);
	sample.kind = (uint8_t)kind;
	sample.reason = (uint8_t)read_reason(line, kind);
	member_u64(line, "ns", &sample.ns);
	member_u64(line, "count", &sample.count);
	member_u64(line, "inferred_ns", &sample.inferred_ns);
	count = read_frames(replay, json_object_get(line, "frames"), frames, &is_truncated);
	sample.end = (uint8_t)(!is_truncated ? end : count ? PROFILE_TRUNCATED : PROFILE_NO_STACK);
	status = profile_add_stack(run->profile, frames, count, &sample.node);
	return status < 0 ? status : profile_add_sample(run->profile, &sample);
}

/* A summary that is alone has the sums of stacks, which are elsewhere: that is not a profile. */
static bool has_stacks(const json_t *object)
{
	uint64_t count;

	for (int kind = 0; kind < PROFILE_KINDS; kind++)
		if (member_u64(json_object_get(object, run_profile_keys[kind]), "ns", &count) &&
		    count)
			return true;
	return false;
}

int run_read_profile(const json_t *object, struct run *run)
{
	if (!json_is_object(object) || (!run->profile && has_stacks(object)))
		return 0;
	if (need_profile(run) < 0)
		return -ENOMEM;
	run_read_fields(object, run, RUN_SECTION_PROFILE);
	run_read_fields(json_object_get(object, "losses"), run, RUN_SECTION_STACK_LOSSES);
	return 0;
}

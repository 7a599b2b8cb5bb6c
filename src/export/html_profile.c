/* SPDX-License-Identifier: MIT */
/* The profile in a page: columns of numbers, and texts by their numbers. */
#include <inttypes.h>

#include "base/collection/dictionary.h"
#include "base/json.h"
#include "export/html.h"
#include "metric/wait.h"
#include "model/profile/profile_top.h"

enum frame_flag {
	FRAME_KERNEL = 1 << 0,
	FRAME_INLINED = 1 << 1,
	FRAME_LIBRARY = 1 << 2, /* time off the CPU belongs to its caller */
};

#define COLUMN(json, key, array, value)                                                            \
	do {                                                                                       \
		json_member_array(json, key);                                                      \
		for (size_t i = 0; i < (array)->count; i++)                                        \
			json_u64(json, (value));                                                   \
		json_end_array(json);                                                              \
	} while (0)

static void write_texts(struct json *json, const struct profile *profile)
{
	uint32_t count = dictionary_count(profile->texts);

	json_member_array(json, "texts");
	for (uint32_t i = 0; i < count; i++)
		json_string(json, dictionary_text(profile->texts, i));
	json_end_array(json);
}

/* As text: an address of the kernel is more than a number of JavaScript can hold. */
static void write_addresses(struct json *json, const struct profile *profile)
{
	char address[24];

	json_member_array(json, "address");
	for (size_t i = 0; i < profile->frames.count; i++) {
		const struct profile_frame *frame = &profile->frames.data[i];

		if (frame->function) {
			json_u64(json, 0);
			continue;
		}
		snprintf(address, sizeof(address), "0x%" PRIx64, frame->address);
		json_string(json, address);
	}
	json_end_array(json);
}

static uint64_t frame_flags(const struct profile *profile, const struct profile_frame *frame)
{
	return (frame->is_kernel ? FRAME_KERNEL : 0U) | (frame->is_inlined ? FRAME_INLINED : 0U) |
	       (profile_frame_is_library(profile, frame) ? FRAME_LIBRARY : 0U);
}

static void write_frames(struct json *json, const struct profile *profile)
{
	const struct profile_frame *frames = profile->frames.data;

	json_member_object(json, "frames");
	COLUMN(json, "function", &profile->frames, frames[i].function);
	COLUMN(json, "module", &profile->frames, frames[i].module);
	COLUMN(json, "source", &profile->frames, frames[i].source);
	COLUMN(json, "line", &profile->frames, frames[i].line);
	COLUMN(json, "flags", &profile->frames, frame_flags(profile, &frames[i]));
	write_addresses(json, profile);
	json_end_object(json);
}

static void write_nodes(struct json *json, const struct profile *profile)
{
	const struct profile_node *nodes = profile->nodes.data;

	json_member_object(json, "nodes");
	COLUMN(json, "parent", &profile->nodes, nodes[i].parent);
	COLUMN(json, "frame", &profile->nodes, nodes[i].frame);
	json_end_object(json);
}

static void write_samples(struct json *json, const struct profile *profile)
{
	const struct profile_sample *samples = profile->samples.data;

	json_member_object(json, "samples");
	COLUMN(json, "pid", &profile->samples, (uint32_t)samples[i].task.pid);
	COLUMN(json, "tid", &profile->samples, (uint32_t)samples[i].task.tid);
	COLUMN(json, "start_time_ns", &profile->samples, samples[i].task.start_ns);
	COLUMN(json, "process", &profile->samples, samples[i].process_name);
	COLUMN(json, "thread", &profile->samples, samples[i].thread_name);
	COLUMN(json, "scope", &profile->samples, samples[i].scope);
	COLUMN(json, "kind", &profile->samples, samples[i].kind);
	COLUMN(json, "end", &profile->samples, samples[i].end);
	COLUMN(json, "reason", &profile->samples, samples[i].reason);
	COLUMN(json, "node", &profile->samples, samples[i].node);
	COLUMN(json, "ns", &profile->samples, samples[i].ns);
	COLUMN(json, "count", &profile->samples, samples[i].count);
	COLUMN(json, "inferred_ns", &profile->samples, samples[i].inferred_ns);
	json_end_object(json);
}

static void write_losses(struct json *json, const struct profile_losses *losses)
{
	json_member_object(json, "losses");
	json_member_u64(json, "dropped", losses->dropped);
	json_member_u64(json, "dropped_ns", losses->dropped_ns);
	json_member_u64(json, "unread", losses->unread);
	json_member_u64(json, "truncated", losses->truncated);
	json_member_u64(json, "unnamed_frames", losses->unnamed_frames);
	json_member_u64(json, "bad_files", losses->bad_files);
	json_member_u64(json, "mappings", losses->mappings);
	json_member_u64(json, "unseen", losses->unseen);
	json_member_u64(json, "refused", losses->refused);
	json_member_u64(json, "wakers", losses->wakers);
	json_member_u64(json, "cut", losses->cut);
	json_member_u64(json, "folded", losses->folded);
	json_member_u64(json, "unwind_ns", losses->unwind_ns);
	json_end_object(json);
}

static void write_sums(struct json *json, const struct profile *profile)
{
	json_member_object(json, "sums");
	for (int kind = 0; kind < PROFILE_KINDS; kind++) {
		struct profile_sum sum;

		profile_sum(profile, kind, &sum);
		json_member_object(json, profile_kind_names[kind]);
		json_member_u64(json, "ns", sum.ns);
		json_member_u64(json, "complete_ns", sum.complete_ns);
		json_member_u64(json, "missing_ns", sum.missing_ns);
		json_member_u64(json, "inferred_ns", sum.inferred_ns);
		json_member_u64(json, "count", sum.count);
		json_end_object(json);
	}
	json_end_object(json);
}

/* What the numbers of kinds, ends and reasons mean. */
static void write_names(struct json *json)
{
	json_member_strings(json, "kinds", profile_kind_names, PROFILE_KINDS);
	json_member_strings(json, "ends", profile_end_names, PROFILE_ENDS);
	json_member_array(json, "reasons");
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		json_string(json, waits[reason].name);
	json_end_array(json);
}

void html_profile(struct json *json, const struct profile *profile)
{
	if (!profile) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_member_u64(json, "frequency_hz", profile->frequency_hz);
	json_member_u64(json, "off_cpu_min_ns", profile->off_cpu_min_ns);
	write_losses(json, &profile->losses);
	write_sums(json, profile);
	write_names(json);
	write_texts(json, profile);
	write_frames(json, profile);
	write_nodes(json, profile);
	write_samples(json, profile);
	json_end_object(json);
}

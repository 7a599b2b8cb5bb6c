/* SPDX-License-Identifier: MIT */
/* Writes the critical path of a summary. */
#include "store/run/run_json_parts.h"

static void write_kind(struct json *json, const char *key, uint8_t kind)
{
	const char *name = path_kind_name(kind);

	json_member_given(json, key, name);
}

static void write_text(struct json *json, const char *key, const char *text)
{
	if (*text)
		json_member_string(json, key, text);
}

static void write_part(struct json *json, const struct path_part *part, uint64_t total_ns)
{
	json_begin_object(json);
	json_member_string(json, "program", part->program);
	write_text(json, "thread", part->thread);
	write_kind(json, "kind", part->kind);
	write_kind(json, "via", part->via);
	json_member_u64(json, "ns", part->ns);
	json_member_fixed(json, "share", total_ns ? (double)part->ns / (double)total_ns : 0, 4);
	write_text(json, "peer", part->peer);
	json_member_nonzero(json, "peer_ns", part->peer_ns);
	json_member_nonzero(json, "by_tree_ns", part->by_tree_ns);
	json_member_nonzero(json, "by_outside_ns", part->by_outside_ns);
	json_member_nonzero(json, "processes", part->processes);
	write_text(json, "command", part->command);
	json_member_nonzero(json, "command_ns", part->command_ns);
	json_end_object(json);
}

static void write_segment(struct json *json, const struct path_segment *segment)
{
	json_begin_object(json);
	json_member_u64(json, "begin_ns", segment->begin_ns);
	json_member_u64(json, "end_ns", segment->end_ns);
	/* A thread that the timeline folded has no number. */
	if (segment->task.pid) {
		json_member_i64(json, "pid", segment->task.pid);
		json_member_i64(json, "tid", segment->task.tid);
	}
	json_member_nonzero(json, "start_time_ns", segment->task.start_ns);
	write_kind(json, "kind", segment->kind);
	write_kind(json, "via", segment->via);
	json_member_nonzero(json, "object", segment->object);
	json_end_object(json);
}

static void write_segments(struct json *json, const struct critical_path *path)
{
	json_member_array(json, "segments");
	for (size_t i = 0; i < path->segments.count; i++)
		write_segment(json, &path->segments.data[i]);
	json_end_array(json);
	json_member_nonzero(json, "segments_omitted", path->segments_omitted);
}

void run_json_path(struct json *json, const struct run *run, bool is_brief)
{
	const struct critical_path *path = &run->path;

	if (!path->is_known)
		return;
	json_member_object(json, "critical_path");
	json_member_u64(json, "total_ns", path->total_ns);
	json_member_u64(json, "not_seen_ns", path->not_seen_ns);
	json_member_u64(json, "threshold_ns", path->threshold_ns);
	json_member_u64(json, "edges", path->edges);
	json_member_fixed(json, "edges_per_second", path_edges_per_second(path), 1);
	json_member_i64(json, "pid", path->thread.pid);
	json_member_i64(json, "tid", path->thread.tid);
	json_member_nonzero(json, "start_time_ns", path->thread.start_ns);
	if (path->of_busiest)
		json_member_flag(json, "of_busiest", true);
	json_member_array(json, "by");
	for (size_t i = 0; i < path->parts.count; i++)
		write_part(json, &path->parts.data[i], path->total_ns);
	json_end_array(json);
	if (!is_brief)
		write_segments(json, path);
	json_end_object(json);
}

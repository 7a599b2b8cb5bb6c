/* SPDX-License-Identifier: MIT */
/* Reads the critical path of a summary back into the model. */
#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_values.h"

static void read_kind(const json_t *object, const char *key, uint8_t *ret)
{
	const char *name = member_text(object, key);

	if (name)
		*ret = path_kind_find(name);
}

static void read_key(const json_t *object, struct task_key *ret)
{
	member_i32(object, "pid", &ret->pid);
	member_i32(object, "tid", &ret->tid);
	member_u64(object, "start_time_ns", &ret->start_ns);
}

static int read_part(const json_t *object, struct critical_path *path)
{
	struct path_part part = { .kind = WAIT_OTHER, .via = PATH_DIRECT };

	member_bytes(object, "program", part.program, sizeof(part.program));
	member_comm(object, "thread", part.thread);
	read_kind(object, "kind", &part.kind);
	read_kind(object, "via", &part.via);
	member_u64(object, "ns", &part.ns);
	member_bytes(object, "peer", part.peer, sizeof(part.peer));
	member_u64(object, "peer_ns", &part.peer_ns);
	member_u64(object, "by_tree_ns", &part.by_tree_ns);
	member_u64(object, "by_outside_ns", &part.by_outside_ns);
	member_u64(object, "processes", &part.processes);
	member_bytes(object, "command", part.command, sizeof(part.command));
	member_u64(object, "command_ns", &part.command_ns);
	return critical_path_add_part(path, &part);
}

static int read_segment(const json_t *object, struct critical_path *path)
{
	struct path_segment segment = { .kind = WAIT_OTHER, .via = PATH_DIRECT };

	member_u64(object, "begin_ns", &segment.begin_ns);
	member_u64(object, "end_ns", &segment.end_ns);
	read_key(object, &segment.task);
	read_kind(object, "kind", &segment.kind);
	read_kind(object, "via", &segment.via);
	member_u64(object, "object", &segment.object);
	return critical_path_add_segment(path, &segment);
}

int run_read_path(const json_t *object, struct critical_path *ret)
{
	const json_t *parts = json_object_get(object, "by");
	const json_t *segments = json_object_get(object, "segments");
	int status = 0;

	if (!json_is_object(object))
		return 0;
	critical_path_free(ret);
	*ret = (struct critical_path){ 0 };
	ret->is_known = member_u64(object, "total_ns", &ret->total_ns);
	member_u64(object, "not_seen_ns", &ret->not_seen_ns);
	member_u64(object, "threshold_ns", &ret->threshold_ns);
	member_u64(object, "edges", &ret->edges);
	member_u64(object, "segments_omitted", &ret->segments_omitted);
	read_key(object, &ret->thread);
	ret->of_busiest = member_flag(object, "of_busiest");
	for (size_t i = 0; i < json_array_size(parts) && status == 0; i++)
		status = read_part(json_array_get(parts, i), ret);
	for (size_t i = 0; i < json_array_size(segments) && status == 0; i++)
		status = read_segment(json_array_get(segments, i), ret);
	return status;
}

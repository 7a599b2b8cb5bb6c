/* SPDX-License-Identifier: MIT */
#include "model/path/critical_path.h"

#include <string.h>

static const char *const kind_names[PATH_KIND_COUNT] = {
#define WAIT(id, name, ...) [WAIT_##id] = #name,
#include "metric/waits.def"
#undef WAIT
	[PATH_CPU] = "cpu",
	[PATH_RUN_QUEUE] = "run_queue",
	[PATH_NOT_SEEN] = "not_seen",
	[PATH_MUTUAL] = "mutual",
};

const char *path_kind_name(uint8_t kind)
{
	return kind < PATH_KIND_COUNT ? kind_names[kind] : NULL;
}

uint8_t path_kind_find(const char *name)
{
	for (uint8_t kind = 0; kind < PATH_KIND_COUNT; kind++)
		if (strcmp(kind_names[kind], name) == 0)
			return kind;
	return WAIT_OTHER;
}

double path_edges_per_second(const struct critical_path *path)
{
	return path->total_ns ? (double)path->edges * 1e9 / (double)path->total_ns : 0;
}

int critical_path_add_part(struct critical_path *path, const struct path_part *part)
{
	if (path->parts.count >= PATH_PARTS_MAX + PATH_KIND_COUNT)
		return 0;
	return array_append(&path->parts, *part);
}

int critical_path_add_segment(struct critical_path *path, const struct path_segment *segment)
{
	if (path->segments.count >= PATH_SEGMENTS_MAX || segment->begin_ns > segment->end_ns)
		return 0;
	return array_append(&path->segments, *segment);
}

void critical_path_free(struct critical_path *path)
{
	array_free(&path->parts);
	array_free(&path->segments);
	path->is_known = false;
}

/* SPDX-License-Identifier: MIT */
#include "session/watch/io_limit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define FILE_BYTES 65536

/* The files, and what stands before a number in their lines: "8:0 rbps=max wbps=1048576". */
static const struct {
	enum hierarchy_id tree;
	const char *file, *before;
} sources[] = {
	{ HIERARCHY_V2, "io.max", "rbps=" },
	{ HIERARCHY_V2, "io.max", "wbps=" },
	{ HIERARCHY_BLKIO, "blkio.throttle.read_bps_device", " " },
	{ HIERARCHY_BLKIO, "blkio.throttle.write_bps_device", " " },
};

static void take_numbers(const char *text, const char *before, struct run_number *lowest)
{
	for (const char *at = text; (at = strstr(at, before)); at++) {
		char *end;
		unsigned long long value = strtoull(at + strlen(before), &end, 10);

		if (end != at + strlen(before) && value > 0 &&
		    (!lowest->present || value < lowest->value))
			*lowest = (struct run_number){ true, value };
	}
}

static void take_cgroup(const struct hierarchies *trees, size_t source, const char *path,
			struct run_number *lowest)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(close_fd) int fd = hierarchies_open_cgroup(trees, sources[source].tree, path);

	if (fd >= 0 && file_read_text(fd, sources[source].file, FILE_BYTES, &text) >= 0)
		take_numbers(text_string(&text), sources[source].before, lowest);
}

/* Goes up from the cgroup: "/a/b", "/a". */
static void take_tree(const struct hierarchies *trees, size_t source, const char *places,
		      struct run_number *lowest)
{
	char path[PATH_MAX];
	size_t length;
	const char *own = cgroup_path(places, &trees->trees[sources[source].tree], &length);

	if (!own || length >= sizeof(path))
		return;
	memcpy(path, own, length);
	path[length] = '\0';
	while (path[0] == '/' && path[1]) {
		take_cgroup(trees, source, path, lowest);
		*strrchr(path, '/') = '\0';
	}
}

struct run_number io_limit_read(const struct hierarchies *trees, const char *places)
{
	struct run_number lowest = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (trees->trees[sources[i].tree].fd >= 0)
			take_tree(trees, i, places, &lowest);
	return lowest;
}

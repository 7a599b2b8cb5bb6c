/* SPDX-License-Identifier: MIT */
#include "model/path/critical_path.h"

const char *const path_kind_names[PATH_KIND_COUNT] = {
#define WAIT(id, name, ...) [WAIT_##id] = #name,
#include "metric/waits.def"
#undef WAIT
	[PATH_CPU] = "cpu",
	[PATH_RUN_QUEUE] = "run_queue",
	[PATH_NOT_SEEN] = "not_seen",
	[PATH_MUTUAL] = "mutual",
};

void critical_path_free(struct critical_path *path)
{
	array_free(&path->parts);
	array_free(&path->segments);
	path->is_known = false;
}

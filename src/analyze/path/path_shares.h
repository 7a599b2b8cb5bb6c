/* SPDX-License-Identifier: MIT */
/* What a critical path consisted of, as shares of its wall time from 0 to 1. */
#ifndef ANALYZE_PATH_SHARES_H
#define ANALYZE_PATH_SHARES_H

#include "model/path/critical_path.h"

#define PATH_ANY UINT8_MAX

/*
 * The parts of that kind (an enum wait_reason or path_kind) to which the path came through waits
 * for that reason (or PATH_DIRECT: not through a wait).  PATH_ANY takes all of them.
 */
double path_share(const struct critical_path *path, uint8_t kind, uint8_t via);

/* Time in the run queue while the tree itself had the CPU, and while others had it. */
double path_share_by_tree(const struct critical_path *path);
double path_share_by_outside(const struct critical_path *path);

/* Waits of that kind that someone outside of the tree ended. */
double path_share_of_peers(const struct critical_path *path, uint8_t kind);

/* The largest part of that kind and way, or NULL.  PATH_OTHERS is none. */
const struct path_part *path_main_part(const struct critical_path *path, uint8_t kind, uint8_t via);

#endif

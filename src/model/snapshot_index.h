/* SPDX-License-Identifier: MIT */
/*
 * The rows of processes by their tgid, for snapshot_find_process().  Only the
 * functions that add or move rows keep it up.
 */
#ifndef MODEL_SNAPSHOT_INDEX_H
#define MODEL_SNAPSHOT_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct snapshot;

/* Enters the process in `row`, which follows those that are in the index.  0 or -ENOMEM. */
int snapshot_index_add(struct snapshot *snapshot, uint32_t row);

/* Enters all processes anew, with room for `rows`.  0, or -ENOMEM and the index is as it was. */
int snapshot_index_rebuild(struct snapshot *snapshot, size_t rows);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The index of a snapshot's process rows by tgid, for snapshot_find_process().  The functions that
 * add or move rows keep it up to date.
 */
#ifndef MODEL_SNAPSHOT_INDEX_H
#define MODEL_SNAPSHOT_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct snapshot;

/* Adds the process in `row`, the row after the last one in the index.  0 or -ENOMEM. */
int snapshot_index_add(struct snapshot *snapshot, uint32_t row);

/*
 * Builds the index again, with room for `rows`.  0, or -ENOMEM, which leaves the old index in
 * place.
 */
int snapshot_index_rebuild(struct snapshot *snapshot, size_t rows);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Takes the path piece by piece, in the order of time and without gaps, adds the pieces up and
 * keeps the longest segments.
 */
#ifndef ANALYZE_PATH_TALLY_H
#define ANALYZE_PATH_TALLY_H

#include "model/path/critical_path.h"
#include "model/path/timeline.h"

/* Instead of a thread's place: one that is folded; and all that found no room. */
#define PATH_FOLDED UINT32_MAX
#define PATH_REST (UINT32_MAX - 1)

/* A piece of the path, from the tally's `now_ns` on. */
struct path_piece {
	uint32_t thread;  /* its place in the timeline, or PATH_FOLDED */
	uint32_t program; /* PATH_FOLDED: its program */
	uint32_t peer;	  /* outside; 0: none */
	uint8_t kind, via;
	uint8_t by_tree, by_outside; /* run queue: parts of 255 */
	uint64_t object;
};

/* Pieces of the same thread, program, kind, way and peer. */
struct path_cell {
	uint32_t thread, program, peer;
	uint8_t kind, via;
	uint32_t name;	  /* of program and thread; set at the end */
	uint32_t process; /* likewise */
	uint64_t count;
	uint64_t ns, by_tree_ns, by_outside_ns;
};

struct path_tally {
	const struct timeline *timeline;
	uint64_t begin_ns, now_ns;
	double edges;
	int status; /* -ENOMEM once memory ran out */

	/* Private: */
	ARRAY_OF(struct path_cell) cells;
	uint32_t *slots;	  /* a cell's number plus one */
	struct path_segment last; /* may still grow */
	uint32_t last_thread;
	uint64_t segments;				/* that ended */
	struct path_segment longest[PATH_SEGMENTS_MAX]; /* a heap, the shortest in front */
	size_t longest_count;
};

int path_tally_init(struct path_tally *tally, const struct timeline *timeline, uint64_t begin_ns);
void path_tally_free(struct path_tally *tally);

/* The path is this piece until that time. */
void path_tally_add(struct path_tally *tally, uint64_t until_ns, const struct path_piece *piece);

/*
 * Make the result: the parts, and the segments.  Nothing can be added afterwards.  Return 0 or
 * -ENOMEM; the caller frees the path whatever they return.
 */
int path_tally_parts(struct path_tally *tally, struct critical_path *path);
int path_tally_segments(struct path_tally *tally, struct critical_path *path);

/* The part of `ns` that a part of 255 stands for. */
static inline uint64_t path_part_ns(uint64_t ns, uint8_t part)
{
	return ns / UINT8_MAX * part + ns % UINT8_MAX * part / UINT8_MAX;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a run: what its wall time consisted of, from the exec of the command to its
 * end.  While the thread on the path runs or waits for a CPU, that is where the time went.  While
 * it is blocked until another thread of the tree wakes it, the path is what that thread did
 * meanwhile; afterwards it returns.  The parts add up to the wall time.
 *
 * Not visible: threads that spin or poll, shared memory without locks, schedulers inside of a
 * program (goroutines, coroutines), completions of io_uring, and what was before an attach.
 */
#ifndef MODEL_CRITICAL_PATH_H
#define MODEL_CRITICAL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "metric/wait.h"
#include "model/tree/tree_event.h"

/* What the path consists of: an enum wait_reason, or one of these. */
enum path_kind {
	PATH_CPU = WAIT_REASON_COUNT,
	PATH_RUN_QUEUE,
	PATH_NOT_SEEN, /* events were lost */
	PATH_MUTUAL,   /* threads that seem to wait for each other */
	PATH_KIND_COUNT,
};

/* As `via`: the path did not come through another thread's wait. */
#define PATH_DIRECT PATH_KIND_COUNT

#define PATH_SEGMENTS_MAX 200
#define PATH_PARTS_MAX 64
#define PATH_OTHERS "(others)"
#define PATH_LABEL_SIZE 64
#define PATH_COMMAND_SIZE 256

/*
 * A stretch of the path.  Times count from the beginning of the path.
 */
struct path_segment {
	uint64_t begin_ns, end_ns;
	struct task_key task; /* all 0: a thread that the timeline folded */
	uint8_t kind;	      /* enum wait_reason or path_kind */
	uint8_t via; /* the reason of the wait through which the path came here, or PATH_DIRECT */
	uint64_t object; /* that wait's, or the segment's own; as in struct tree_wait_event */
};

/*
 * All stretches of one program, thread name, kind and way.  `peer` names who is outside of the
 * tree: for a wait, who ended most of it; for the run queue, who had the CPU most ("" when it was
 * the tree itself or nobody).
 */
struct path_part {
	char program[PATH_LABEL_SIZE]; /* its file's name, for an interpreter with the script */
	char thread[TREE_COMM_SIZE];
	uint8_t kind, via;
	uint64_t ns;
	char peer[PATH_LABEL_SIZE];
	uint64_t peer_ns;		 /* the part of `ns` that `peer` stands for */
	uint64_t by_tree_ns;		 /* run queue: the tree itself had the CPU, */
	uint64_t by_outside_ns;		 /* or others had; the rest of the time, nobody */
	uint64_t processes;		 /* how many took part */
	char command[PATH_COMMAND_SIZE]; /* command line of the one with the longest part */
	uint64_t command_ns;		 /* that part */
};

struct critical_path {
	bool is_known; /* otherwise all else means nothing; the source "critical_path" has the reason */
	uint64_t total_ns; /* the wall time; sum of all parts */
	uint64_t not_seen_ns;
	uint64_t threshold_ns; /* shorter times off the CPU are added up, not followed */
	uint64_t edges; /* how often the path went to another thread; each short time counts */
	bool of_busiest; /* the first thread only waited or napped; this is another's, which worked */
	struct task_key thread; /* whose path it is */
	/* Most time first.  When there are many, the last are PATH_OTHERS, one for each kind. */
	ARRAY_OF(struct path_part) parts;
	ARRAY_OF(struct path_segment) segments; /* the longest, in the order of time */
	uint64_t segments_omitted;
};

/* "disk", ... "cpu"; NULL for PATH_DIRECT. */
const char *path_kind_name(uint8_t kind);
/* The kind of that name; WAIT_OTHER when there is none. */
uint8_t path_kind_find(const char *name);

double path_edges_per_second(const struct critical_path *path);

/*
 * For code that reads a saved path, in order.  What is more than a path can have, or does not fit
 * its kind, is left out.  0 or -ENOMEM.
 */
int critical_path_add_part(struct critical_path *path, const struct path_part *part);
int critical_path_add_segment(struct critical_path *path, const struct path_segment *segment);

void critical_path_free(struct critical_path *path);

#endif

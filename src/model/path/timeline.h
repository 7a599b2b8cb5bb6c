/* SPDX-License-Identifier: MIT */
/*
 * What each thread of a tree did at each moment: ran, was ready without a CPU, or was blocked, and
 * who ended that.  The critical path is found in it when the run is over.
 *
 * A timeline is built from events (TREE_FORK, TREE_EXEC, TREE_WAIT, the ends of threads and
 * processes).  Those of one thread come in order; those of different threads may not, so a thread
 * can be named as a waker before its own first event.  Times that contradict each other are cut to
 * fit.
 *
 * Memory is bounded:
 *  - A time off the CPU is a step; there are at most TIMELINE_STEPS.  When there would be more, the
 *    threshold below which they are not kept is raised (10 us, 100 us, 1 ms, ...), and those below
 *    it are added to the short sums of the step after them, as the tracer does with times
 *    below its own threshold.  So what is kept always covers the whole time.
 *  - There are at most TIMELINE_THREADS threads.  When there would be more, the ended threads with
 *    the shortest lives are folded: a wait that one of them ended has in its place the program, and
 *    what the thread did most of its life.
 *  - Command lines take at most TIMELINE_TEXT_BYTES; further programs have only their label.
 * What could not be kept nevertheless is counted, and shows as a gap.
 */
#ifndef MODEL_TIMELINE_H
#define MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "base/collection/number_map.h"
#include "model/path/critical_path.h"
#include "model/path/span.h"
#include "model/tree/tree_event.h"

#define TIMELINE_STEPS (320 * 1024)
#define TIMELINE_THREADS (16 * 1024)
#define TIMELINE_PROGRAMS 3 /* of one process */
#define TIMELINE_PEERS 4096
#define TIMELINE_TEXT_BYTES (2 * 1024 * 1024)

/* In place of WAKER_MEMBER once the waker is folded. */
#define WAKER_FOLDED (WAKER_OUTSIDE + 1)

/* Times off the CPU that are too short to be steps, added up. */
struct timeline_shorts {
	uint64_t queued_ns, blocked_ns;
	uint32_t count;
	uint8_t reason; /* of most of `blocked` */
	bool gap;	/* events were lost meanwhile */
	bool forked;	/* the thread made processes or threads meanwhile */
};

/* The same in a step, in less memory. */
struct packed_shorts {
	span queued, blocked;
	uint16_t count; /* saturates */
	uint8_t reason : 4;
	bool gap : 1;
	bool forked : 1;
} __attribute__((packed));

/*
 * A thread left its CPU at block_ns, was blocked for `blocked`, and then in the run queue for
 * `queued`.  `before` is about the time since its step before.
 */
struct timeline_step {
	uint64_t block_ns;
	uint64_t object; /* as in struct tree_wait_event */
	uint32_t thread; /* its place in `threads` */
	/* The serial number of a member, the peer outside, or what stands for a folded thread. */
	uint32_t waker;
	span blocked, queued;
	struct packed_shorts before;
	uint8_t reason : 4, waker_class : 4;
	uint8_t by_tree, by_outside; /* who had the CPU meanwhile: parts of 255 of `queued` */
	uint16_t queue_peer;	     /* the one outside that had it longest; 0: none */
};

static inline uint64_t step_wake_ns(const struct timeline_step *step)
{
	return step->block_ns + span_ns(step->blocked);
}

static inline uint64_t step_run_ns(const struct timeline_step *step)
{
	return step_wake_ns(step) + span_ns(step->queued);
}

struct timeline_shorts step_shorts(const struct timeline_step *step);

/* WAKER_FOLDED: the program, and what it did most of its life (as in struct path_segment). */
static inline uint32_t folded_program(const struct timeline_step *step)
{
	return step->waker & 0xffffff;
}

static inline uint8_t folded_kind(const struct timeline_step *step)
{
	return (uint8_t)(step->waker >> 24);
}

struct timeline_process {
	int32_t pid;
	uint32_t threads; /* that are kept; 0: the place is free */
	bool has_leader;
	uint64_t end_ns; /* 0: not ended */
	/* What it ran: first what its parent did, then what it executed.  0 in front: not known. */
	uint32_t programs[1 + TIMELINE_PROGRAMS];
	uint64_t exec_ns[TIMELINE_PROGRAMS]; /* when programs[1 + i] began */
	uint32_t execs;
};

struct timeline_thread {
	struct task_key task;
	uint32_t serial; /* 0: the place is free */
	uint32_t creator;
	uint64_t begin_ns;   /* 0: it was found, or its beginning was lost */
	uint64_t end_ns;     /* 0: not ended */
	uint64_t watched_ns; /* since when its events come */
	bool has_begun;	     /* its TREE_FORK came */
	char comm[TREE_COMM_SIZE];
	uint32_t process; /* its place in `processes` */

	/* Private: */
	uint32_t sequence;	       /* of its last step */
	uint32_t last;		       /* that step's number; UINT32_MAX when it is not kept */
	uint64_t last_ns, previous_ns; /* when that step ended, and the one before it */
	struct timeline_shorts rest;   /* since its last step that is kept */
	struct timeline_shorts after;  /* while steps are merged */
	uint64_t queued_ns, blocked_ns, longest_ns;
	uint8_t longest_reason;
	bool is_folding;
};

struct timeline {
	ARRAY_OF(struct timeline_step) steps; /* those of one thread in order */
	struct timeline_thread *threads;      /* TIMELINE_THREADS places */
	struct timeline_process *processes;   /* likewise */
	uint32_t thread_places;		      /* how many of them were ever used */
	uint32_t process_places;
	uint32_t thread_count;	    /* in use */
	bool knows_wakers;	    /* of at least one wait it is known who ended it */
	bool lacks_wakers;	    /* of at least one wait that is over it is not */
	uint64_t threshold_ns;	    /* steps were at least so long; the largest so far */
	uint64_t folded_below_ns;   /* ended threads with shorter lives may be folded */
	uint64_t folded_threads;    /* counted */
	uint64_t untracked_threads; /* that there was no room for */
	uint64_t lost_steps;	    /* gaps in sequences, and steps that there was no room for */

	/* Private: */
	struct number_map by_serial, by_tid, by_pid;
	struct dictionary *programs; /* label, name and command line */
	struct dictionary *peers;
	size_t text_bytes;
	uint64_t newest_ns;
	uint64_t no_room;		    /* threads that came in vain since folding was tried */
	uint32_t free_thread, free_process; /* where to search for a free place */
};

/* Returns 0 or -ENOMEM. */
int timeline_new(struct timeline **ret);
void timeline_free(struct timeline *timeline); /* NULL is allowed */
CLEANUP_POINTER(timeline_free, struct timeline)

/* Takes an event.  What there is no memory for is counted as lost. */
void timeline_take(struct timeline *timeline, const struct tree_event *event);

/* A thread by its serial number, or NULL. */
struct timeline_thread *timeline_thread(const struct timeline *timeline, uint32_t serial);

/* The serial number of the first process's main thread with that number, or 0. */
uint32_t timeline_main_thread(const struct timeline *timeline, int32_t pid);

/* When it ended, by itself or with its process; UINT64_MAX when it did not. */
uint64_t timeline_end_ns(const struct timeline *timeline, const struct timeline_thread *thread);

/* The number of the program that the process ran at that time; 0 when it is not known. */
uint32_t timeline_program_at(const struct timeline_process *process, uint64_t time_ns);

/*
 * Texts of a program: its label (the file's name, for an interpreter with the script), the name
 * that the kernel gave the process, the command line ("" when it was not kept).
 */
struct program_texts {
	char label[PATH_LABEL_SIZE];
	char comm[TREE_COMM_SIZE];
	const char *command;
};

void timeline_program(const struct timeline *timeline, uint32_t program, struct program_texts *ret);

/* The name of a peer outside. */
const char *timeline_peer(const struct timeline *timeline, uint32_t peer);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The layout of the memory in which a program that uses libtaskscope says what it is doing.
 *
 * It is a memfd called "taskscope" (SCOPE_MEMORY_NAME).  The program maps it and keeps it open at
 * the first free descriptor from SCOPE_FD on.  The library writes it.  Readers outside copy it
 * with pread(): they never map it, never stop the program, and trust nothing in it.
 *
 *	struct scope_header		who, which clock, where everything else is, what was lost
 *	struct scope_label[]		labels of call sites, and the first texts that were made at
 *					run time; from 1 on, each written once
 *	struct scope_statistic[]	of threads that ended, and of labels that found no place in
 *					the block of their thread, by number of the label: some of
 *					the first label_count are used; the last one sums up all
 *					labels without a number
 *	struct scope_thread[]		a block for each thread: its frames, texts and statistics
 *
 * All numbers are in the machine's byte order.  Offsets and sizes are in the header, so that parts
 * can grow: a reader takes what it knows of each part and steps by the size in the header.  A
 * change that would mislead an old reader raises the version, and the old reader then refuses the
 * memory.
 *
 * Consistency.  Only the thread itself writes its block, except for fields marked otherwise.
 * `sequence` is odd while the block changes.  A reader reads the sequence, copies, and reads it
 * again: if both are the same even number, the copy is a stack that existed.  Every field is read
 * and written with atomic operations of its own size, release by writers and acquire by readers.
 *
 * Times are ticks of `clock`; `anchor_ticks` was read together with `anchor_ns` (CLOCK_MONOTONIC).
 * A reader that can read the same counter reads both clocks once more and computes the rate from
 * the two pairs.  Any other reader uses `latest_ticks` and `latest_ns`, which the heartbeat
 * writes.
 *
 * In the kernel, a tracer can read what the thread that leaves its CPU was doing: `path` has the
 * labels of its open frames.  It finds the block through the thread's own memory, at the place that
 * the header has and the library announces (SCOPE_ANNOUNCE).
 */
#ifndef BASE_SCOPE_LAYOUT_H
#define BASE_SCOPE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_MAGIC UINT64_C(0x0065706f63736b74) /* "tkscope" and a zero, as bytes in memory */
#define SCOPE_VERSION 2
#define SCOPE_MEMORY_NAME "taskscope"
#define SCOPE_FD 200			 /* readers try descriptors from here on, */
#define SCOPE_FD_TRIES 8		 /* this many */
#define SCOPE_HEARTBEAT_NAME "taskscope" /* the name of the heartbeat thread */
/*
 * Before it records scopes, the library names its thread what it is called already, with
 *
 *	prctl(PR_SET_NAME, name, address of the header, SCOPE_ANNOUNCE, self_offset)
 *
 * The kernel ignores the last three.  A tracer that follows the program reads them.
 */
#define SCOPE_ANNOUNCE UINT64_C(0x65706f63736b7461)

enum {
	SCOPE_LABELS = 1024,	/* number 0 is not used */
	SCOPE_MADE_LABELS = 64, /* texts made at run time that have a number */
	SCOPE_LABEL_SIZE = 64,	/* with the zero at its end */
	SCOPE_THREADS = 1024,
	SCOPE_FRAMES = 40,
	SCOPE_TEXTS_SIZE = 1024, /* for labels that have no number */
	SCOPE_STATISTICS = 17,	 /* of a thread; the last one is for labels without number */
	SCOPE_RETIRED = SCOPE_LABELS + 1, /* by label; likewise */
	SCOPE_BUCKETS = 50,
	SCOPE_THREAD_NAME_SIZE = 32,
	SCOPE_THREAD_SIZE = 8192,
	SCOPE_HEADER_SIZE = 4096,
};

enum scope_clock {
	SCOPE_CLOCK_MONOTONIC, /* ticks are nanoseconds of CLOCK_MONOTONIC */
	SCOPE_CLOCK_TSC,       /* x86: rdtsc, where it is invariant */
	SCOPE_CLOCK_CNTVCT,    /* arm64: the virtual counter */
};

enum scope_state {
	SCOPE_STATE_NEW, /* nothing else is valid yet */
	SCOPE_STATE_ON,
	SCOPE_STATE_STOPPED,
};

/* Flags of the header. */
enum {
	SCOPE_HAS_STATISTICS = 1 << 0,
	SCOPE_HAS_HEARTBEAT = 1 << 1, /* a thread samples CPU time and finds stalls */
};

/* Flags of a frame. */
enum {
	SCOPE_HAS_PROGRESS = 1 << 0,
};

/* A frame's label: its number, or SCOPE_TEXT plus its offset in the texts. */
#define SCOPE_TEXT UINT32_C(0x80000000)

/* A limit in milliseconds: 0 means the default in the header, this means no limit. */
#define SCOPE_NO_LIMIT UINT32_MAX

/* Why a scope makes no progress; written by the heartbeat. */
enum scope_stall {
	SCOPE_STALL_NONE,
	SCOPE_STALL_BUSY,    /* it burns CPU */
	SCOPE_STALL_WAITING, /* it sleeps */
	SCOPE_STALL_STARVED, /* it could run, but gets no CPU */
	SCOPE_STALL_STOPPED, /* a signal or a debugger holds it */
};

struct scope_header {
	uint64_t magic;
	uint32_t version;
	uint32_t state; /* enum scope_state; written last */

	/* Where things are, in bytes from the start of the memory, or of a thread's block. */
	uint32_t label_offset, label_size, label_max;
	uint32_t retired_offset, statistic_size, retired_max;
	uint32_t thread_offset, thread_size, thread_max;
	uint32_t frame_offset, frame_size, frame_max;
	uint32_t texts_offset, texts_size;
	uint32_t statistics_offset, statistics_max;
	uint32_t bucket_count;

	int32_t pid;	/* as the process itself sees it */
	uint32_t clock; /* enum scope_clock */
	uint32_t flags;
	uint32_t stall_limit_ms; /* for scopes without their own; SCOPE_NO_LIMIT: none */
	uint32_t heartbeat_ms;	 /* 0: no heartbeat */

	uint64_t address;    /* of this memory in the process */
	int64_t self_offset; /* from a thread's pointer (%fs, TPIDR_EL0) to the address of its block */

	uint64_t anchor_ticks, anchor_ns;
	uint64_t latest_ticks, latest_ns; /* written by the heartbeat; 0: never */

	/* These change all the time. */
	uint32_t label_count;	   /* labels that are valid, number 0 included */
	uint32_t thread_count;	   /* blocks that were ever used */
	uint32_t retired_sequence; /* odd while statistics and losses of a thread move */
	uint32_t reserved;

	/* Losses of the whole process. */
	uint64_t lost_threads; /* threads for which no block was free */
	uint64_t lost_scopes;  /* scopes that those threads opened */
	uint64_t lost_labels;  /* call sites for whose label there was no room */
	uint64_t lost_lines;   /* lines of the heartbeat that no reader took */
	uint64_t ended_lost_depth, ended_lost_texts, ended_misplaced, ended_unwound,
		ended_interrupted,
		ended_unnumbered; /* sums of the threads that ended; see struct scope_thread */
};

struct scope_label {
	char text[SCOPE_LABEL_SIZE]; /* a longer one is cut */
};

struct scope_statistic {
	uint32_t label; /* 0: free; in the last one always 0 */
	uint32_t reserved;
	uint64_t count;
	uint64_t total_ticks;
	uint64_t self_ticks; /* without the scopes inside */
	uint64_t longest_ticks;
	uint64_t cpu_ns; /* written by the heartbeat; sampled */
	uint64_t cpu_samples;
	uint32_t buckets[SCOPE_BUCKETS]; /* number i: 2^i to 2^(i+1) - 1 ticks; the last: more */
};

struct scope_frame {
	uint64_t entered_ticks;
	uint64_t count; /* progress; written by any thread */
	uint64_t total; /* 0: not known; written by any thread */
	uint32_t label;
	uint32_t generation; /* of its handle; 0 when it is closed */
	uint32_t flags;
	uint32_t limit_ms;
	uint32_t texts_used; /* in the thread's texts, before this frame */
	uint32_t reserved[3];
	uint64_t inner_ticks; /* of scopes inside that are closed; only with statistics */
};

struct scope_thread {
	uint32_t sequence;
	uint32_t depth;
	uint64_t changed_ticks; /* when a scope was last opened or closed */
	uint64_t idle_ticks;	/* idle if not 0 and not before changed_ticks */
	int32_t tid;		/* as the process itself sees it; 0: free */
	uint32_t slot;
	uint32_t generation;
	uint32_t hidden; /* scopes that are open beyond the frames */
	uint32_t texts_used;
	uint32_t statistic_count;

	/* Written by the heartbeat. */
	uint32_t stall;		/* enum scope_stall */
	uint32_t stall_frame;	/* which frame it is */
	uint64_t stalled_ticks; /* since when there was no progress */

	/* Losses since the block was taken. */
	uint64_t lost_depth;  /* scopes deeper than the frames */
	uint64_t lost_texts;  /* labels made at run time for which there was no room */
	uint64_t misplaced;   /* closed by another thread, or twice */
	uint64_t unwound;     /* closed because a scope around them was */
	uint64_t interrupted; /* opened by a signal handler in the middle of a change */
	uint64_t unnumbered;  /* whose text, made at run time, has no number */

	char name[SCOPE_THREAD_NAME_SIZE]; /* "": use the kernel's name */
	/*
	 * Labels of the frames, 0 for one without a number.  The owner writes a label before it
	 * raises the depth: whoever interrupts it finds a path that existed.
	 */
	uint16_t path[SCOPE_FRAMES];
	uint64_t reserved[4];

	struct scope_frame frames[SCOPE_FRAMES];
	char texts[SCOPE_TEXTS_SIZE];
	struct scope_statistic statistics[SCOPE_STATISTICS];
};

static_assert(sizeof(struct scope_header) <= SCOPE_HEADER_SIZE, "the header fits its page");
static_assert(sizeof(struct scope_frame) == 64, "a frame is a cache line");
static_assert(sizeof(struct scope_statistic) == 256, "a statistic is four cache lines");
static_assert((int)SCOPE_LABELS <= UINT16_MAX, "a path has numbers of 16 bits");
static_assert(offsetof(struct scope_thread, frames) % 64 == 0, "frames begin at a cache line");
static_assert(sizeof(struct scope_thread) <= SCOPE_THREAD_SIZE, "a block is two pages");

enum {
	SCOPE_LABEL_OFFSET = SCOPE_HEADER_SIZE,
	SCOPE_RETIRED_OFFSET = SCOPE_LABEL_OFFSET + SCOPE_LABELS * SCOPE_LABEL_SIZE,
	/* Blocks begin at a page boundary. */
	SCOPE_THREAD_OFFSET = (SCOPE_RETIRED_OFFSET +
			       SCOPE_RETIRED * (int)sizeof(struct scope_statistic) + 4095) /
			      4096 * 4096,
	SCOPE_MEMORY_SIZE = SCOPE_THREAD_OFFSET + SCOPE_THREADS * SCOPE_THREAD_SIZE,
};

static inline double scope_bucket_start(size_t bucket)
{
	return bucket ? (double)(UINT64_C(1) << bucket) : 0;
}

/*
 * Estimates the time that a share (0 to 1) of all scopes do not exceed, from sums of the buckets of
 * statistics.  The estimate is in the right bucket.  0 when there are no scopes.
 */
static inline uint64_t scope_buckets_quantile(const uint64_t *buckets, size_t count, double share)
{
	double all = 0, below = 0, wanted;
	size_t last = 0;

	if (count > 63)
		count = 63;
	for (size_t i = 0; i < count; i++) {
		all += (double)buckets[i];
		if (buckets[i])
			last = i;
	}
	if (all == 0)
		return 0;
	wanted = all * share;
	for (size_t i = 0; i < last; i++) {
		if (buckets[i] && below + (double)buckets[i] >= wanted)
			last = i;
		else
			below += (double)buckets[i];
	}
	/* Assume that times are evenly spread in their bucket. */
	wanted = (wanted - below) / (double)buckets[last];
	return (uint64_t)(scope_bucket_start(last) +
			  wanted * (scope_bucket_start(last + 1) - scope_bucket_start(last)));
}

#endif

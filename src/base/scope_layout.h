/* SPDX-License-Identifier: MIT */
/*
 * The memory in which a program that uses libtaskscope tells what it is doing.
 *
 * It is a memfd called "taskscope" (SCOPE_MEMORY_NAME) that the program has mapped, and keeps open at
 * the first free descriptor from SCOPE_FD on.  The library writes it, and readers outside copy it
 * with pread(): they never map it, never stop the program, and believe nothing in it.
 *
 *	struct scope_header	who, which clock, where everything else is, what was lost
 *	struct scope_label[]	labels of call sites; from 1 on, each written once
 *	struct scope_statistic[] of threads that ended, by number of the label: of the first label_count
 *				some are used, and the last one, which is of all that had no place
 *	struct scope_thread[]	a block for each thread: its frames, texts and statistics
 *
 * Every number is the machine's own.  Offsets and sizes are in the header, so that parts can grow:
 * a reader takes what it knows of each part and steps by the size that the header tells.  What would
 * make an old reader wrong raises the version, which it then refuses.
 *
 * Consistency.  A thread's block is written by its thread alone, but for what is marked otherwise.
 * `sequence` is odd while the block changes.  A reader takes the sequence, copies, takes it again,
 * and has a stack that existed if both are the same even number.  Every field is read and written
 * with atomic operations of its own size, release by writers and acquire by readers.
 *
 * Times are ticks of `clock`; `anchor_ticks` was read together with `anchor_ns` (CLOCK_MONOTONIC).
 * Whoever can read the same counter reads it with the clock once more, and has the rate from the
 * two; who cannot takes `latest_ticks` and `latest_ns`, which the heartbeat writes.
 */
#ifndef BASE_SCOPE_LAYOUT_H
#define BASE_SCOPE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_MAGIC UINT64_C(0x0065706f63736b74) /* "tkscope" and a zero, as bytes in memory */
#define SCOPE_VERSION 1
#define SCOPE_MEMORY_NAME "taskscope"
#define SCOPE_FD 200			 /* descriptors are looked at from here on, */
#define SCOPE_FD_TRIES 8		 /* so many */
#define SCOPE_HEARTBEAT_NAME "taskscope" /* the name of the heartbeat thread */

enum {
	SCOPE_LABELS = 1024,   /* of call sites; number 0 is nobody's */
	SCOPE_LABEL_SIZE = 64, /* with the zero at its end */
	SCOPE_THREADS = 1024,
	SCOPE_FRAMES = 40,
	SCOPE_TEXTS_SIZE = 1024,	  /* for labels that are made at run time */
	SCOPE_STATISTICS = 17,		  /* of a thread; the last one is of all other labels */
	SCOPE_RETIRED = SCOPE_LABELS + 1, /* of ended threads, by number; likewise */
	SCOPE_BUCKETS = 52,
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
	SCOPE_HAS_HEARTBEAT = 1 << 1, /* a thread samples CPU time and looks for stalls */
};

/* Flags of a frame. */
enum {
	SCOPE_HAS_PROGRESS = 1 << 0,
};

/* A frame's label: the number of a call site's, or SCOPE_TEXT and where in the thread's texts. */
#define SCOPE_TEXT UINT32_C(0x80000000)

/* A limit in milliseconds: 0 is the default of the header, this is none. */
#define SCOPE_NO_LIMIT UINT32_MAX

/* Why a scope makes no progress; written by the heartbeat. */
enum scope_stall {
	SCOPE_STALL_NONE,
	SCOPE_STALL_BUSY,    /* it burns CPU */
	SCOPE_STALL_WAITING, /* it sleeps */
	SCOPE_STALL_STARVED, /* it could run, and gets no CPU */
	SCOPE_STALL_STOPPED, /* a signal or a debugger holds it */
};

struct scope_header {
	uint64_t magic;
	uint32_t version;
	uint32_t state; /* enum scope_state; written last */

	/* Where things are, in bytes from the start, or from the start of a thread's block. */
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
	uint32_t stall_limit_ms; /* of scopes without their own; SCOPE_NO_LIMIT: none */
	uint32_t heartbeat_ms;	 /* 0: no heartbeat */

	uint64_t anchor_ticks, anchor_ns;
	uint64_t latest_ticks, latest_ns; /* by the heartbeat; 0: never */

	/* These change all the time. */
	uint32_t label_count;	   /* labels that are valid, number 0 included */
	uint32_t thread_count;	   /* blocks that were ever used */
	uint32_t retired_sequence; /* odd while statistics and losses of a thread move */
	uint32_t reserved;

	/* Losses of the whole process. */
	uint64_t lost_threads; /* threads that found no block */
	uint64_t lost_scopes;  /* scopes that these opened */
	uint64_t lost_labels;  /* call sites that found no room for their label */
	uint64_t lost_lines;   /* lines of the heartbeat that nobody took */
	uint64_t ended_lost_depth, ended_lost_texts, ended_misplaced, ended_unwound,
		ended_interrupted; /* sums of the threads that ended; see struct scope_thread */
};

struct scope_label {
	char text[SCOPE_LABEL_SIZE]; /* a longer one is cut */
};

struct scope_statistic {
	uint32_t label; /* 0: free; in the last one always 0 */
	uint32_t reserved;
	uint64_t count;
	uint64_t total_ticks;
	uint64_t longest_ticks;
	uint64_t cpu_ns; /* by the heartbeat: sampled */
	uint64_t cpu_samples;
	uint32_t buckets[SCOPE_BUCKETS]; /* number i: of 2^i to 2^(i+1) - 1 ticks; the last: more */
};

struct scope_frame {
	uint64_t entered_ticks;
	uint64_t count; /* progress; by any thread */
	uint64_t total; /* 0: not known; by any thread */
	uint32_t label;
	uint32_t generation; /* of its handle; 0 when it is closed */
	uint32_t flags;
	uint32_t limit_ms;
	uint32_t texts_used; /* of the thread, before this frame */
	uint32_t reserved[5];
};

struct scope_thread {
	uint32_t sequence;
	uint32_t depth;
	uint64_t changed_ticks; /* the last enter or leave */
	uint64_t idle_ticks;	/* idle if this is not before changed_ticks and not 0 */
	int32_t tid;		/* as the process itself sees it; 0: free */
	uint32_t slot;
	uint32_t generation;
	uint32_t hidden; /* scopes that are open beyond the frames */
	uint32_t texts_used;
	uint32_t statistic_count;

	/* By the heartbeat. */
	uint32_t stall;		/* enum scope_stall */
	uint32_t stall_frame;	/* which */
	uint64_t stalled_ticks; /* since when there was no progress */

	/* Losses since the block was taken. */
	uint64_t lost_depth;  /* scopes deeper than the frames */
	uint64_t lost_texts;  /* labels made at run time that found no room */
	uint64_t misplaced;   /* closed by another thread, or twice */
	uint64_t unwound;     /* closed because one around them was */
	uint64_t interrupted; /* opened by a signal handler in the middle of a change */

	char name[SCOPE_THREAD_NAME_SIZE]; /* "": the kernel's */
	uint64_t reserved[7];

	struct scope_frame frames[SCOPE_FRAMES];
	char texts[SCOPE_TEXTS_SIZE];
	struct scope_statistic statistics[SCOPE_STATISTICS];
};

static_assert(sizeof(struct scope_header) <= SCOPE_HEADER_SIZE, "the header fits its page");
static_assert(sizeof(struct scope_frame) == 64, "a frame is a cache line");
static_assert(sizeof(struct scope_statistic) == 256, "a statistic is four cache lines");
static_assert(offsetof(struct scope_thread, frames) % 64 == 0, "frames begin at a cache line");
static_assert(sizeof(struct scope_thread) <= SCOPE_THREAD_SIZE, "a block is two pages");

enum {
	SCOPE_LABEL_OFFSET = SCOPE_HEADER_SIZE,
	SCOPE_RETIRED_OFFSET = SCOPE_LABEL_OFFSET + SCOPE_LABELS * SCOPE_LABEL_SIZE,
	/* Blocks begin at a page. */
	SCOPE_THREAD_OFFSET = (SCOPE_RETIRED_OFFSET +
			       SCOPE_RETIRED * (int)sizeof(struct scope_statistic) + 4095) /
			      4096 * 4096,
	SCOPE_MEMORY_SIZE = SCOPE_THREAD_OFFSET + SCOPE_THREADS * SCOPE_THREAD_SIZE,
};

#endif

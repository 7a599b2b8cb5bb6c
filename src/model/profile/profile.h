/* SPDX-License-Identifier: MIT */
/*
 * A profile: where in the code the threads of a run spent their time, on the CPU and off it.
 *
 * Stacks are a tree.  A node is a frame below the node of its caller, so stacks that begin alike
 * share their beginnings.  A sample says how long one thread was at one node, doing one kind of
 * thing; all its moments there are added up.  What was not captured is a named amount of time,
 * never left out.
 *
 * A profile owns all that is reachable from it.  It is bounded: when there is no more room for a
 * node, a stack ends at the last caller that has one, and is counted in `cut`; when there is none
 * for a sample, its time goes to the sample of its thread without a stack, and is counted in
 * `folded`.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "model/tree/tree_event.h"
#include "metric/wait.h"

#define PROFILE_NODES_MAX (1u << 18)
#define PROFILE_SAMPLES_MAX (1u << 17)
#define PROFILE_FRAMES_MAX (1u << 17)
#define PROFILE_DEPTH_MAX 512 /* frames of one stack; the outermost are left out beyond that */
#define PROFILE_TEXT_MAX 1024 /* bytes of one text; the rest is cut off */
#define PROFILE_TEXT_BYTES_MAX (32u << 20) /* of all texts; further ones are not known */

enum profile_kind {
	PROFILE_ON_CPU,	 /* weighed by the time between two samples */
	PROFILE_OFF_CPU, /* weighed by the time that the thread was blocked */
	PROFILE_WAKER, /* where a thread was when it ended a long wait of another; weighed by it */
	PROFILE_KINDS,
};

/* "on-cpu", "off-cpu", "waker": the first frame of a folded stack, and the word in files. */
extern const char *const profile_kind_names[PROFILE_KINDS];

/* Texts are numbers in `texts` of the profile; 0 is "", not known. */
struct profile_frame {
	uint32_t function; /* 0: only the address is known */
	uint32_t module;   /* path of the file; "[kernel]", "[vdso]", "[jit]" or 0 */
	uint32_t build_id; /* in hexadecimal digits */
	uint32_t source;   /* path of the source file */
	uint32_t line;	   /* 0: not known */
	uint64_t address;  /* in the file, of the kernel as it runs; of a caller that of the call */
	bool is_kernel;
	bool is_inlined; /* into the frame above it, its caller */
};

/* Node 0 is the root: a stack without a frame.  A parent has a lower number than its children. */
struct profile_node {
	uint32_t parent;
	uint32_t frame;
};

/* How far a stack goes. */
enum profile_end {
	PROFILE_COMPLETE,  /* to the outermost frame of its thread */
	PROFILE_TRUNCATED, /* its outermost frames are missing */
	PROFILE_NO_STACK,  /* nothing of it was captured */
	PROFILE_ENDS,
};
extern const char *const profile_end_names[PROFILE_ENDS];

struct profile_sample {
	struct task_key task;
	uint32_t process_name; /* comm of the leader, and of the thread: texts */
	uint32_t thread_name;
	uint32_t scope; /* labels of open scopes, outermost first, joined by " > "; 0: none */
	uint8_t kind;	/* enum profile_kind */
	uint8_t end;	/* enum profile_end */
	uint8_t reason; /* enum wait_reason of off-CPU time and of a waker's; else 0 */
	uint32_t node;	/* its innermost frame; 0: no stack */
	uint64_t ns;
	uint64_t count;	      /* captured moments */
	uint64_t inferred_ns; /* of `ns`: blocks that took the last stack of the same wait */
};

/*
 * Where a thread stood that was still blocked when the watch ended.  Its time is in a sample, too.
 */
struct profile_open {
	struct task_key task;
	uint32_t node;
	uint8_t end; /* enum profile_end */
};

/*
 * What the profile lacks.  All times are in the samples too (PROFILE_NO_STACK), or are of a
 * stated kind.
 */
struct profile_losses {
	uint64_t dropped;	 /* stacks that found the ring or the queue full */
	uint64_t dropped_ns;	 /* their time, as far as it is known */
	uint64_t unread;	 /* user stacks that could not be read */
	uint64_t truncated;	 /* stacks whose unwinding ended before the outermost frame */
	uint64_t unnamed_frames; /* nodes without a function; profile_add_node() counts them */
	uint64_t bad_files;	 /* programs and libraries that could not be read */
	uint64_t mappings;	 /* records of what processes mapped that found no room */
	uint64_t unseen;	 /* ends of long waits, whose stacks have no frames of the kernel */
	uint64_t
		refused; /* questions about files that were not asked: their user had taken his share of time */
	uint64_t wakers;      /* stacks of wakers left out, so as not to take too many */
	uint64_t cut, folded; /* see above */
	uint64_t unwind_ns;   /* CPU time that unwinding and naming took */
};

struct profile_index;
struct dictionary;
struct text;

struct profile {
	struct dictionary *texts;
	ARRAY_OF(struct profile_frame) frames;
	ARRAY_OF(struct profile_node) nodes; /* nodes.data[0] is the root */
	ARRAY_OF(struct profile_sample) samples;
	ARRAY_OF(struct profile_open) open; /* while it is live: files do not have them */
	struct profile_losses losses;
	uint64_t frequency_hz;	     /* of samples on the CPU */
	uint64_t off_cpu_min_ns;     /* blocks that are at least as long always have a stack */
	struct profile_index *index; /* finds equal frames, nodes and samples */
};

int profile_new(struct profile **ret);	    /* 0 or -ENOMEM */
void profile_free(struct profile *profile); /* NULL is allowed */
CLEANUP_POINTER(profile_free, struct profile)

/* The number of a text; 0 for NULL, "" and when there is no memory or no room. */
uint32_t profile_text(struct profile *profile, const char *text);
const char *profile_string(const struct profile *profile, uint32_t text); /* never NULL */

/* The number of an equal frame, added when it is new.  -ENOSPC when there are too many; -ENOMEM. */
int profile_add_frame(struct profile *profile, const struct profile_frame *frame, uint32_t *ret);
/*
 * The node of a frame below a caller's node (0: the outermost).  Errors likewise; -EINVAL when
 * there is no such node or frame.
 */
int profile_add_node(struct profile *profile, uint32_t parent, uint32_t frame, uint32_t *ret);
/* Adds a stack, outermost frame first; where there is no room it is cut.  0, -ENOMEM or -EINVAL. */
int profile_add_stack(struct profile *profile, const uint32_t *frames, size_t count, uint32_t *ret);
/*
 * The frames of a node's stack, innermost first, at most PROFILE_DEPTH_MAX.  Returns how many there
 * are.
 */
size_t profile_stack(const struct profile *profile, uint32_t node, uint32_t *frames);
/*
 * Adds ns, count and inferred_ns to the sample that is equal in all else.  0, -ENOMEM, or -EINVAL
 * when a member is out of range.
 */
int profile_add_sample(struct profile *profile, const struct profile_sample *sample);

/*
 * Appends what a frame is called, escaped for a terminal: its function, else "[module+0x1234]",
 * where the module is its last part.
 */
void profile_append_name(const struct profile *profile, uint32_t frame, struct text *out);

/* Time by kind: all, with a complete stack, without any. */
struct profile_sum {
	uint64_t ns, complete_ns, missing_ns, inferred_ns, count;
};
void profile_sum(const struct profile *profile, enum profile_kind kind, struct profile_sum *ret);

#endif

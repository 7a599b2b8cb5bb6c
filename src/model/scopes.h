/* SPDX-License-Identifier: MIT */
/*
 * What a program that uses libtaskscope says about itself: the open scopes of each of its threads, and
 * statistics by label.  A copy that was taken at one moment; see collect/scope_reader.h for where it
 * comes from.
 *
 * Owns all that is reachable from it; scopes_clear() keeps the memory for the next copy.
 */
#ifndef MODEL_SCOPES_H
#define MODEL_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/scope_layout.h"

/* One open scope. */
struct scope {
	char label[SCOPE_LABEL_SIZE]; /* "" when it found no room */
	uint64_t age_ns;
	bool has_progress;
	uint64_t count, total; /* a total of 0 is not known */
	uint32_t limit_ms;     /* as the layout has it */
};

struct scope_task {
	int32_t tid;	 /* as we see it; 0: not known, it is in a namespace of its own */
	int32_t own_tid; /* as the process sees it */
	char name[SCOPE_THREAD_NAME_SIZE]; /* "": not named by the program */
	size_t first, count;		   /* its scopes, outermost first */
	uint32_t hidden;		   /* open scopes beyond those */
	uint64_t changed_ns;		   /* since the last change */
	bool is_idle;
	enum scope_stall stall; /* as the program's own heartbeat judges it */
	size_t stalled_scope;	/* which of its scopes */
	uint64_t stalled_ns;	/* for how long */
	bool is_torn; /* it changed all the while we read: the scopes may be from two moments */
};

/* A label, over all threads, also those that ended. */
struct scope_label_use {
	char label[SCOPE_LABEL_SIZE]; /* "" for all labels that have no place of their own */
	uint64_t count, total_ns, longest_ns;
	uint64_t p50_ns, p99_ns; /* estimates from buckets of powers of two */
	bool has_cpu;
	uint64_t cpu_ns; /* sampled by the heartbeat; inside of the scope and those in it */
};

struct scope_losses {
	uint64_t threads, scopes, labels, lines;
	uint64_t depth, texts, misplaced, unwound, interrupted;
};

struct scopes {
	int32_t pid; /* as we see it */
	bool is_on;  /* else the program stopped it */
	bool has_statistics, has_heartbeat;
	uint32_t stall_limit_ms;
	uint64_t age_ns; /* since the program's taskscope_start() */
	ARRAY_OF(struct scope_task) tasks;
	ARRAY_OF(struct scope) list;
	ARRAY_OF(struct scope_label_use) labels;
	struct scope_losses losses;
};

void scopes_clear(struct scopes *scopes);
void scopes_free(struct scopes *scopes);

/* The innermost scope of a thread, or NULL. */
const struct scope *scopes_innermost(const struct scopes *scopes, const struct scope_task *task);

/* The innermost one that has progress, or NULL. */
const struct scope *scopes_progress(const struct scopes *scopes, const struct scope_task *task);

/* The thread with this number (as we see it), or NULL. */
const struct scope_task *scopes_find(const struct scopes *scopes, int32_t tid);

/*
 * Of the threads that are in a scope and not idle, the one whose innermost scope is the oldest; of
 * none such, any; NULL when no scope is open.
 */
const struct scope_task *scopes_oldest(const struct scopes *scopes);

/* Steps a second since the scope began, and the time that is left; false when that is not known. */
bool scope_rate(const struct scope *scope, double *ret);
bool scope_time_left(const struct scope *scope, uint64_t *ret_ns);

/*
 * The value that a share (0 to 1) of all is not above, from buckets of powers of two as the layout
 * has them: an estimate, which is in the right bucket.  0 when there are none.
 */
uint64_t scope_buckets_quantile(const uint64_t *buckets, size_t count, double share);

#endif

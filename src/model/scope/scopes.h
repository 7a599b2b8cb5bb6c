/* SPDX-License-Identifier: MIT */
/*
 * The scopes of a program that uses libtaskscope: the open scopes of each of its threads, and
 * statistics by label.  This is a copy of the program's own data at one moment, which
 * collect/scope/scope_reader.h takes.
 *
 * A struct scopes owns everything that is reachable from it; scopes_clear() empties it and keeps
 * its memory for the next copy.
 */
#ifndef MODEL_SCOPES_H
#define MODEL_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/scope_layout.h"

/* One open scope. */
struct scope {
	char label[SCOPE_LABEL_SIZE]; /* "" when there was no room for it */
	bool has_number; /* the library numbers its label: it has statistics of its own */
	uint64_t age_ns;
	bool has_progress;
	uint64_t count, total; /* a total of 0 is not known */
	uint32_t limit_ms;     /* encoded as in base/scope_layout.h */
};

struct scope_task {
	int32_t tid;	 /* in our PID namespace; 0: not known, it is in another one */
	int32_t own_tid; /* in the PID namespace of the process */
	char name[SCOPE_THREAD_NAME_SIZE]; /* "": the program did not name it */
	size_t first, count;		   /* its scopes, outermost first */
	uint32_t hidden;		   /* further open scopes, which found no room */
	uint64_t changed_ns;		   /* time since the last change */
	bool is_idle;
	enum scope_stall stall; /* as the program's own heartbeat judges it */
	size_t stalled_scope;	/* which of its scopes */
	uint64_t stalled_ns;	/* for how long */
	bool is_torn; /* it changed during every read: its scopes may be from two moments */
};

/* Statistics of a label, over all threads, including those that ended. */
struct scope_label_use {
	char label[SCOPE_LABEL_SIZE]; /* "" for all labels that have no row of their own */
	uint64_t count, total_ns, longest_ns;
	uint64_t self_ns;	 /* the part of total_ns outside of scopes inside */
	uint64_t p50_ns, p99_ns; /* estimates from buckets of powers of two */
	bool has_cpu;
	uint64_t cpu_ns; /* sampled by the heartbeat; includes scopes inside this one */
};

struct scope_losses {
	uint64_t threads, scopes, labels, lines;
	uint64_t depth, texts, misplaced, unwound, interrupted, unnumbered;
};

struct scopes {
	int32_t pid; /* as we see it */
	bool is_on;  /* false: the program stopped libtaskscope */
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

/*
 * The thread whose innermost scope is the oldest, among threads that are not idle; among idle ones
 * if there are no others.  NULL when no scope is open.
 */
const struct scope_task *scopes_oldest(const struct scopes *scopes);

/* Steps a second since the scope began, and the time that is left; false when that is not known. */
bool scope_rate(const struct scope *scope, double *ret);
bool scope_time_left(const struct scope *scope, uint64_t *ret_ns);

#endif

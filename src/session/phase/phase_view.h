/* SPDX-License-Identifier: MIT */
/*
 * Follows the scopes of one process while it is watched: copies them at each sample and adds to
 * the phases of the run.
 */
#ifndef SESSION_PHASE_VIEW_H
#define SESSION_PHASE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/scope/phase.h"
#include "model/tree/tree.h"
#include "trace/tracer.h"

struct scope_reader;

struct phase_view {
	struct scope_reader *reader; /* NULL: its program ended */
	const struct tracer *tracer; /* NULL: its waits are not followed */
	struct tracer_scopes traced;
	uint64_t followed_ns; /* since when, if it was in scopes before */
	struct scopes scopes; /* the last copy */
	struct phase_process phases;
	uint64_t read_ns;
	uint64_t round;
	uint64_t digest;  /* of everything in a line except the ages */
	bool has_moved;	  /* a scope was opened or closed since the last copy, or recently */
	bool is_line_due; /* something changed since the last line */
};

/* Takes over the reader.  NULL when memory runs out. */
struct phase_view *phase_view_new(struct scope_reader *reader, const struct tree_process *process);
/*
 * Asks the tracer to keep the waits of the program by its scopes, if it can.  Call it after the view
 * is new or was reopened.
 */
void phase_view_follow(struct phase_view *view, const struct tracer *tracer);
/*
 * Call it for a program that already ran when watching began: leaves out its statistics so far.  0
 * or a negative errno.
 */
int phase_view_begin(struct phase_view *view, struct phases *phases);
/* The process runs another program: takes over the reader of that one. */
void phase_view_reopen(struct phase_view *view, struct scope_reader *reader,
		       const struct tree_process *process);
void phase_view_free(struct phase_view *view); /* NULL is allowed */

/*
 * Takes a copy and adds what happened since the last one.  If `until_ns` is not 0, the program
 * ended then and this is its last copy: adds its statistics too.  Then call phase_view_end().  0 or
 * a negative errno.
 */
int phase_view_sample(struct phase_view *view, struct phases *phases,
		      const struct tree_process *process, uint64_t until_ns);

/* The program ended: adds its waits and closes the reader.  0 or a negative errno. */
int phase_view_end(struct phase_view *view, struct phases *phases);

/*
 * Adds the statistics and waits of a program that still runs, when watching ends.  `process` may be
 * NULL.
 */
int phase_view_count(struct phase_view *view, struct phases *phases,
		     const struct tree_process *process, uint64_t time_ns);

#endif

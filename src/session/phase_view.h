/* SPDX-License-Identifier: MIT */
/*
 * The scopes of one process while it is watched: copies of what it tells about itself, taken at each
 * sample, and what they add to the phases of the run.
 */
#ifndef SESSION_PHASE_VIEW_H
#define SESSION_PHASE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/phase.h"
#include "model/tree.h"

struct run;
struct scope_reader;

struct phase_view {
	struct scope_reader *reader; /* NULL: the program that had it is gone */
	struct scopes scopes;	     /* the last copy */
	struct phase_process phases;
	uint64_t read_ns;
	uint64_t round;
	uint64_t digest;  /* of all that a line tells but the ages */
	bool has_moved;	  /* a scope was opened or closed since the copy before, or lately */
	bool is_line_due; /* something is new since the last line */
};

/* Takes over the reader.  NULL: no memory. */
struct phase_view *phase_view_new(struct scope_reader *reader, const struct tree_process *process);
/* It ran before it was watched: its statistics so far are left out.  0 or a negative errno. */
int phase_view_begin(struct phase_view *view, struct phases *phases);
/* Another program, in the same process. */
void phase_view_reopen(struct phase_view *view, struct scope_reader *reader,
		       const struct tree_process *process);
void phase_view_free(struct phase_view *view); /* NULL is allowed */

/*
 * Takes a copy and adds what happened since the one before.  With `until_ns` it is the last one of
 * a program that ended then: with statistics, and the reader is closed.  0 or a negative errno.
 */
int phase_view_sample(struct phase_view *view, struct phases *phases,
		      const struct tree_process *process, uint64_t until_ns);

/* Adds the statistics of a program that goes on. */
int phase_view_count(struct phase_view *view, struct phases *phases);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the parts of model/scope/phase.h share.  Private to it.
 *
 *	phase.c		processes, threads and labels; the program's own statistics
 *	phase_sample.c	divides the time between two samples
 *	phase_waits.c	exact times off the CPU
 */
#ifndef MODEL_PHASE_ROWS_H
#define MODEL_PHASE_ROWS_H

#include "model/scope/phase.h"

#define NO_PHASE UINT32_MAX	  /* a scope whose label found no room */
#define NO_SCOPE (UINT32_MAX - 1) /* nothing at this depth */

/* *ret is NULL when there is no room for another label.  0 or -ENOMEM. */
int phase_get(struct phases *phases, struct phase_process *process, const char *label,
	      struct phase_row **ret);

/* Adds what a sample knows of waits; `stack` has the phases of its scopes. */
void phase_note_waits(struct phases *phases, const struct phase_process *process,
		      const uint32_t *stack, const struct thread_sample *sample, size_t count);
/* Adds a wait to one label. */
void phase_add_wait(struct phase *phase, const struct phase_process *process, uint64_t ns,
		    uint64_t self_ns);
/* Puts the waits in the place of the estimate. */
void phase_take_waits(struct phase *phase);

#endif

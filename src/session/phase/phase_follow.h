/* SPDX-License-Identifier: MIT */
/*
 * Waits of a program in its scopes, as a tracer that sees every switch keeps them.  Part of
 * session/phase/phase_view.h.
 */
#ifndef SESSION_PHASE_FOLLOW_H
#define SESSION_PHASE_FOLLOW_H

#include "session/phase/phase_view.h"

/* Adds the waits that are over.  0 or a negative errno. */
int phase_view_add_waits(struct phase_view *view, struct phases *phases);

/*
 * A thread that was off its CPU when its program was first followed is not known to the tracer until
 * it is back: returns what it waited since the last sample.
 */
uint64_t phase_unfollowed_ns(const struct phase_view *view, const struct tree_thread *thread,
			     const struct phase_thread *known, uint64_t time_ns);
/* How long any other thread waits now.  `thread` may be NULL. */
uint64_t phase_open_ns(const struct phase_view *view, const struct tree_thread *thread,
		       uint64_t time_ns);

#endif

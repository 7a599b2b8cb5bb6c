/* SPDX-License-Identifier: MIT */
/*
 * Decides whether two sides are an interval of one host or two populations, and
 * notes what a reader must know about them.
 */
#ifndef ANALYZE_COMPARE_MODE_H
#define ANALYZE_COMPARE_MODE_H

#include "model/snapshot/snapshot.h"

struct comparison;
struct compare_layout;
struct compare_options;
struct compare_side;
struct error;

/*
 * Sets the mode and the elapsed time, and notes the mode and the reason for
 * it.  0, -ENOMEM, or -EINVAL with a sentence when the requested mode is not
 * possible.
 */
int compare_mode_choose(const struct compare_side *sides, const struct compare_options *options,
			struct comparison *comparison, struct error *error);

/* Why two snapshots are not two moments of one boot in this order; NULL when they may be. */
const char *compare_mode_refusal(const struct snapshot *before, const struct snapshot *after);

/*
 * Adds the differences between the hosts to the comparison's host_changes:
 * kernel, hardware, tunables.  What changes by itself (clocks, load, free
 * memory) is left out, and so is how the snapshots were taken.  0 or -ENOMEM.
 */
int compare_hosts(const struct snapshot *before, const struct snapshot *after,
		  struct comparison *comparison);

/* A fact in words, "none" for an absent one; NULL without memory. */
const char *compare_fact_words(struct comparison *comparison, const struct snapshot *snapshot,
			       enum fact_id id);

/* Notes how the sides differ in kind, and what each capture lost.  0 or -ENOMEM. */
int compare_mode_note_sides(const struct compare_side *sides, struct comparison *comparison);

/* Notes what is unknown about tasks that ended or were missed in an interval.  0 or -ENOMEM. */
int compare_mode_note_ended(const struct compare_layout *layout, struct comparison *comparison);

#endif

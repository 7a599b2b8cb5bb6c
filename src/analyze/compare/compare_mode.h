/* SPDX-License-Identifier: MIT */
/*
 * Decides whether two sides are an interval of one host or two populations, and
 * notes what a reader must know about them.
 */
#ifndef ANALYZE_COMPARE_MODE_H
#define ANALYZE_COMPARE_MODE_H

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
int compare_mode_choose(const struct compare_side *before, const struct compare_side *after,
			const struct compare_options *options, struct comparison *comparison,
			struct error *error);

/* Notes how the sides differ in kind, and what each capture lost.  0 or -ENOMEM. */
int compare_mode_note_sides(const struct compare_side *before, const struct compare_side *after,
			    struct comparison *comparison);

/* Notes what is unknown about tasks that ended or were missed in an interval.  0 or -ENOMEM. */
int compare_mode_note_ended(const struct compare_layout *layout, struct comparison *comparison);

#endif

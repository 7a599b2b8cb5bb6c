/* SPDX-License-Identifier: MIT */
/*
 * The digest of a comparison: what changed, in a few sentences, causes first.
 *
 *	struct digest digest = { 0 };
 *	digest_make(&digest, &before, &after, &options, base);
 *	for each of digest.lines: line->sentence
 *	digest_clear(&digest);
 *
 * Settings and limits that changed come first, since they are causes; then limits
 * that were reached, groups that were restarted, and for each resource who moved
 * most.  Every sentence is made by a rule of the table in digest_rules.c and
 * names the row that it stands on.  taskscope itself is never named.
 */
#ifndef ANALYZE_DIGEST_H
#define ANALYZE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/compare/comparison.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"

#define DIGEST_LINES 12
#define DIGEST_COLUMNS 80 /* of a sentence, at most */

/* A number is set where its `has_` member says so. */
struct digest_line {
	const char *resource; /* "cpu", "limits", ... */
	const char *who;      /* a group or the host; NULL: nobody */
	bool has_delta, has_rate, has_share, has_capacity;
	double delta;	    /* in the unit of the row's metric; of rates, in a second */
	double rate;	    /* work of an interval, in a second */
	double share;	    /* of all that moved, 0 to 1 */
	bool is_filtered;   /* then that is all that the filter left */
	double of_capacity; /* the delta, of what the host has */
	const char *sentence;
	/* The row: its section, group and metric; metric is NULL where it stands on none. */
	enum compare_section section;
	const char *group, *metric;
};

/* Owns its texts; all zeros is empty and valid. */
struct digest {
	struct arena arena;
	ARRAY_OF(struct digest_line) lines; /* at most DIGEST_LINES, at least one */
};

/*
 * Makes the digest of what was compared: `base` is a comparison of the same sides
 * and options that was made with metrics_only.  0, or an error with a sentence.
 */
int digest_make(struct digest *digest, const struct compare_side *before,
		const struct compare_side *after, const struct compare_options *options,
		const struct comparison *base, struct error *error);
void digest_clear(struct digest *digest);

#endif

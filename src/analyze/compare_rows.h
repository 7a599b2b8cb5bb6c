/* SPDX-License-Identifier: MIT */
/*
 * Rows as they are found: those that the options want are kept, the rest is
 * counted.  With a limit, memory is a few times the limit, however many there are.
 */
#ifndef ANALYZE_COMPARE_ROWS_H
#define ANALYZE_COMPARE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/comparison.h"

struct row_keeper {
	struct comparison *comparison;
	size_t limit;
	bool unchanged;
	const uint32_t *places; /* borrowed from the options */
	size_t place_count;
	/* Of each section; with a limit in no order, and cut when there are twice as many. */
	struct kept_rows {
		ARRAY_OF(struct comparison_row) rows;
		bool is_full;		    /* as many as the limit were seen */
		struct comparison_row last; /* of the best: only group, metric and score matter */
	} kept[COMPARE_SECTION_COUNT];
};

void row_keeper_init(struct row_keeper *keeper, struct comparison *comparison,
		     const struct compare_options *options);
void row_keeper_clear(struct row_keeper *keeper);

/* Counts a row that has nothing to tell; whether it is wanted all the same. */
bool row_keeper_takes_unchanged(struct row_keeper *keeper, enum compare_section section);

/* Counts a row that is within noise, likewise. */
bool row_keeper_takes_noise(struct row_keeper *keeper, enum compare_section section);

/*
 * Whether a row could be among the best, by its section, group, metric and score
 * alone, so that it need not be filled in for nothing; counts it when not.
 */
bool row_keeper_wants(struct row_keeper *keeper, const struct comparison_row *row);

/*
 * The score below which no row of the section is wanted, whichever it is; 0 as
 * long as there is room.
 */
double row_keeper_floor(const struct row_keeper *keeper, enum compare_section section);

/* Counts rows that were not even offered. */
void row_keeper_skip(struct row_keeper *keeper, enum compare_section section, uint64_t unchanged,
		     uint64_t beyond_limit);

/* Copies a row that is wanted.  0 or -ENOMEM. */
int row_keeper_add(struct row_keeper *keeper, const struct comparison_row *row);

/* Whether the row says nothing: see struct row_tally. */
bool row_is_quiet(const struct comparison_row *row);

/* Passes rows that others added to the comparison, through the same sieve.  0 or -ENOMEM. */
int row_keeper_sift(struct row_keeper *keeper, size_t first);

/* Moves the kept rows to the comparison.  0 or -ENOMEM. */
int row_keeper_finish(struct row_keeper *keeper);

#endif

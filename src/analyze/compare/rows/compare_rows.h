/* SPDX-License-Identifier: MIT */
/*
 * Keeps the rows that the options ask for, as they are found, and counts the
 * rest.  With a limit, memory is a few times the limit, however many rows there
 * are.
 */
#ifndef ANALYZE_COMPARE_ROWS_H
#define ANALYZE_COMPARE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/compare/comparison.h"

struct row_keeper {
	struct comparison *comparison;
	size_t limit;
	bool unchanged;
	const uint32_t *places; /* borrowed from the options */
	size_t place_count;
	/* By section.  With a limit they are unsorted, and are cut when there are twice as many. */
	struct kept_rows {
		ARRAY_OF(struct comparison_row) rows;
		bool is_full;		    /* as many as the limit were seen */
		struct comparison_row last; /* of the best: only group, metric and score matter */
	} kept[COMPARE_SECTION_COUNT];
};

void row_keeper_init(struct row_keeper *keeper, struct comparison *comparison,
		     const struct compare_options *options);
void row_keeper_clear(struct row_keeper *keeper);

/* Counts a row without a change, or one within noise.  Returns whether to keep it anyway. */
bool row_keeper_takes(struct row_keeper *keeper, enum compare_section section, bool is_noise);

/*
 * Whether a row could be among the best, judged by section, group, metric and
 * score alone: if not, the caller need not fill it in.  Counts the row when it
 * is not wanted.
 */
bool row_keeper_wants(struct row_keeper *keeper, const struct comparison_row *row);

/* No row of the section with a lower score is wanted; 0 as long as there is room. */
double row_keeper_floor(const struct row_keeper *keeper, enum compare_section section);

/* Counts rows that were not even offered. */
void row_keeper_skip(struct row_keeper *keeper, enum compare_section section, uint64_t unchanged,
		     uint64_t beyond_limit);

/* Copies a row that is wanted.  0 or -ENOMEM. */
int row_keeper_add(struct row_keeper *keeper, const struct comparison_row *row);

/* Moves the kept rows to the comparison.  0 or -ENOMEM. */
int row_keeper_finish(struct row_keeper *keeper);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One reading folded over all keys and snapshots of a comparison, ready to be
 * made into rows.
 *
 *	sheet_work_init(&work, SHEET_CGROUPS, before, after);
 *	for each reading: sheet_work_fold(&work, name); sheet_work_value(...) ...
 *	sheet_work_clear(&work);
 */
#ifndef ANALYZE_SHEET_WORK_H
#define ANALYZE_SHEET_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/comparison.h"
#include "analyze/reading_fold.h"
#include "analyze/sheet_layout.h"

/* What an interval did to a counter under one key. */
struct sheet_move {
	uint64_t gained;
	uint32_t known;	  /* cgroups behind it */
	uint32_t resets;  /* that began again */
	uint32_t unknown; /* of which A does not tell */
	uint32_t removed; /* of A: nobody tells what they did at last */
};

/* Memory is kept from one reading to the next. */
struct sheet_work {
	struct comparison *comparison;
	const struct compare_options *options;
	struct sheet_layout layout;
	struct mann_whitney *test;  /* NULL: one snapshot a side */
	struct reading_fold *folds; /* of each run, by key */
	struct sheet_move *moves;   /* by key */
	uint64_t *numbers;	    /* room for the runs of a side */
	double *values[2];	    /* before, after */

	/* Of the reading in hand. */
	const char *name;
	const struct reading *reading;
	bool is_local;	/* values do not contain those of the cgroups below */
	bool has_moves; /* a counter of an interval whose rows are known one by one */
};

/* The comparison and options of the work are set.  0, or -ENOMEM; clear it either way. */
int sheet_work_init(struct sheet_work *work, enum sheet_id sheet, const struct compare_side *before,
		    const struct compare_side *after);
void sheet_work_clear(struct sheet_work *work);

void sheet_work_fold(struct sheet_work *work, const char *name);

/* Whether any snapshot has the reading for the key. */
bool sheet_work_measured(const struct sheet_work *work, uint32_t key);

/*
 * A side's value: of several runs the one in the middle, or all of what is no
 * amount.  0 or -ENOMEM.
 */
int sheet_work_value(struct sheet_work *work, int side, uint32_t key, struct reading_fold *ret_fold,
		     struct compared_value *ret);

/* Puts the numbers of a side's runs into work->numbers and ->values; how many have one. */
size_t sheet_work_gather(struct sheet_work *work, int side, uint32_t key);

/* Whether a side has the group, or may have it, whatever it says of it. */
bool sheet_work_has(const struct sheet_work *work, int side, uint32_t key);

/* Runs of a side: from the first up to, not including, the end. */
static inline size_t sheet_work_first(const struct sheet_work *work, int side)
{
	return side ? work->layout.before_count : 0;
}

static inline size_t sheet_work_end(const struct sheet_work *work, int side)
{
	return side ? work->layout.run_count : work->layout.before_count;
}

#endif

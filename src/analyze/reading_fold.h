/* SPDX-License-Identifier: MIT */
/*
 * Readings of several cgroups or processes made into one.
 *
 * Counters and gauges are added, but shares of time are not: of those, and of
 * peaks, the largest counts.  Limits and settings are either all the same or a
 * range; of words the most frequent counts.  Nothing folded is absent.
 */
#ifndef ANALYZE_READING_FOLD_H
#define ANALYZE_READING_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/reading.h"
#include "model/sheet.h"

struct arena;
struct compared_value;

enum reading_rule {
	RULE_SUM,
	RULE_LARGEST,
	RULE_RANGE,
};

enum reading_rule reading_rule(const struct reading *reading);

/* Distinct words that are counted apart; what does not fit still tells folds apart. */
#define READING_TALLIES 8

/* All zeros is empty and valid. */
struct reading_fold {
	uint32_t measured, population;
	uint32_t numbers, unlimited, texts; /* cells of each kind */
	uint64_t sum;			    /* saturates */
	uint64_t low, high;		    /* two's complement of signed readings */
	uint64_t digest;		    /* of all texts, whatever their order */
	unsigned tally_count;
	struct {
		const char *text;
		uint32_t count;
	} tallies[READING_TALLIES];
};

/* Adds a cell that is set; `text` is that of a CELL_TEXT.  Coverage is the caller's to count. */
void reading_fold_add(struct reading_fold *fold, const struct reading *reading,
		      enum cell_state state, uint64_t value, const char *text);

/* Adds everything that another fold has. */
void reading_fold_merge(struct reading_fold *fold, const struct reading *reading,
			const struct reading_fold *other);

/* What the fold amounts to; texts that are made for it are in the arena.  0 or -ENOMEM. */
int reading_fold_value(const struct reading_fold *fold, const struct reading *reading,
		       struct arena *arena, struct compared_value *ret);

/* Whether two folds of one reading amount to the same. */
bool reading_folds_same(const struct reading_fold *a, const struct reading_fold *b,
			const struct reading *reading);

#endif

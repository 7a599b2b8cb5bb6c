/* SPDX-License-Identifier: MIT */
/*
 * The parts that filters (filter.h) and conditions (threshold/fail_on.h) share: operators, texts in
 * quotes, and amounts of a metric.
 */
#ifndef ANALYZE_RELATION_H
#define ANALYZE_RELATION_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct metric;

#define TERM_BLANKS " \t\n"

enum relation {
	RELATION_EQUAL,
	RELATION_UNEQUAL,
	RELATION_ABOVE,
	RELATION_BELOW,
	RELATION_AT_LEAST,
	RELATION_AT_MOST,
};

/* Reads an operator at *cursor and moves past it.  False, and nothing moves, when there is none. */
bool relation_scan(const char **cursor, enum relation *ret);
bool relation_holds(enum relation relation, double value, double bound);

/* A text as it is written: between quotes of either kind, or up to one of some bytes. */
struct written {
	const char *start, *end; /* without the quotes */
	char quote;		 /* '\0' for none */
};

/* A text whose quote is not closed ends at the end of the string. */
struct written written_scan(const char *at, const char *stops);
/* What comes after it. */
static inline const char *written_after(const struct written *written)
{
	return written->end + (written->quote != '\0');
}
/* Where a byte of the text itself is in what was written. */
const char *written_at(const struct written *written, size_t position);
/* The text itself; NULL without memory. */
const char *written_copy(const struct written *written, struct arena *arena);

/* Whether values of the metric are amounts, not names. */
bool metric_has_numbers(const struct metric *metric);

#endif

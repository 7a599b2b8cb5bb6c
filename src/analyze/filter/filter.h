/* SPDX-License-Identifier: MIT */
/*
 * Filters: which tasks are meant, in one small language for all verbs (docs/filter.md).
 *
 *	pcomm=nginx*,apache2 user!=root rss_bytes>1G container=docker*
 *
 *	TERM...		all of them must hold
 *	TERM		NAME OPERATOR VALUE
 *	NAME		a field of filter_fields.def, or a metric
 *	OPERATOR	= != > < >= <=; names have only = and !=
 *	VALUE		a glob, or a number with its unit; with = and != several with commas
 *			between them: any of these
 *
 * A value with blanks or commas is written in quotes of either kind; there a backslash makes the
 * quote part of the value.  A metric of processes has the value of its process for each thread.
 *
 * A task whose value is absent matches neither = nor != nor anything else.  The tasks that are left
 * out for that alone are counted, with the reason.
 */
#ifndef ANALYZE_FILTER_H
#define ANALYZE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/filter/relation.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "metric/metric.h"

struct error;
struct glob;
struct snapshot;
struct text;

enum filter_field {
#define FILTER_FIELD(id, ...) FILTER_##id,
#include "analyze/filter/filter_fields.def"
	FILTER_METRIC, /* none of them */
};

struct filter_value {
	struct glob *glob; /* of a name, */
	const char *text;  /* and as it is spelled: a name may look like a glob */
	double number;	   /* if has_number; of a field with both, a name may be a number, too */
	bool has_number;
};

struct filter_term {
	enum filter_field field;
	enum metric_id metric; /* of FILTER_METRIC */
	enum relation relation;
	const char *name;
	ARRAY_OF(struct filter_value) values;
};

#define FILTER_TERMS_MAX 64

/* All zeros is empty and valid: every task matches. */
struct filter {
	struct arena arena;
	ARRAY_OF(struct filter_term) terms;
	struct text
		*text; /* as it was given, all texts with blanks between them; NULL: nothing was */
};

/* Adds the terms of a text.  0, -ENOMEM, or -EINVAL with a sentence and its position. */
int filter_add(struct filter *filter, const char *text, struct error *error);
void filter_clear(struct filter *filter);

static inline bool filter_is_empty(const struct filter *filter)
{
	return filter->terms.count == 0;
}

/* Appends a value that stands for itself, whatever is in it, and a glob behind it. */
void filter_append_literal(struct text *out, const char *value, const char *glob);

/*
 * Drops the tasks that do not match, with processes, and rows of cgroups, that none of them is left
 * of; and notes in each snapshot what was left out (struct filter_report).  An interval
 * (analyze/compare/interval_snapshot.h) is judged by what it has: counters are what was done in it.
 *
 * Of several snapshots each is judged by itself.  But two moments of one boot are a pair: a task
 * stays in both if it matches in either, so that what it did is not counted by half.  Where only some
 * threads of a process are left, what its exited threads did is absent.
 *
 * 0, -ENOMEM, or -EINVAL with a sentence when a term is about what a snapshot cannot have.
 */
int filter_apply(const struct filter *filter, struct snapshot **snapshots, size_t count,
		 struct error *error);
int filter_apply_pair(const struct filter *filter, struct snapshot *before, struct snapshot *after,
		      struct error *error);

#endif

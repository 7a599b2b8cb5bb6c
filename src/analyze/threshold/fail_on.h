/* SPDX-License-Identifier: MIT */
/*
 * Thresholds: the conditions under which a comparison counts as a regression,
 * as people write them:
 *
 *	pcomm=nginx wait_time_ns > +20%
 *	majflt > 100
 *	group='tmux: server' rss_bytes >= +10MiB
 *	run_time_ns > 50ms/s
 *
 *	[AXIS=GLOB] NAME OPERATOR VALUE
 *
 * AXIS is a grouping axis, or `group` for the axis of the comparison, whichever
 * that is.  The condition is about the groups on it that match GLOB; without
 * AXIS it is about every group, each by itself.  A glob matches the names that
 * tasks have, unless it contains a placeholder of patterns ({N}, {H}, {I}).  A
 * glob with blanks is written in quotes of either kind; there a backslash makes
 * the quote part of the glob.  NAME is a metric, stored or derived, or a
 * reading.  OPERATOR is one of > < >= <=.
 *
 * VALUE is always about the change, after less before.  With % it is relative
 * to before, and a change from 0 is larger than any percentage; an interval by
 * itself has no percent.  Of two intervals it is the change of the rate, with
 * or without /s.  Otherwise it
 * is in the metric's own unit (pressure: in percent), or in ns us ms s m h d, B
 * KiB MiB GiB TiB, K M G (of bytes: KiB MiB GiB).  With /s it is the change per second, for counters:
 * for an interval its rate, else the rate after less the rate before (with %:
 * relative to that).
 *
 * A condition that cannot be evaluated (not measured, a counter that restarted,
 * a group that one side does not have) neither fails nor passes: it is
 * reported.  A moot condition is reported too: one that matches no group of
 * either side, or that cannot be true in this mode.  It checks nothing, because
 * its author made a mistake or a service does not run.
 */
#ifndef ANALYZE_FAIL_ON_H
#define ANALYZE_FAIL_ON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/filter/relation.h"
#include "analyze/group/group.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "metric/metric.h"

struct comparison;
struct comparison_row;
struct error;
struct text;

struct fail_condition {
	const char *text; /* as given */
	bool has_axis;
	/* For a metric: the axis that the comparison must be on; readings have their own. */
	enum group_axis axis;
	const char *glob;	     /* of group keys; NULL: every group */
	bool has_placeholder;	     /* the glob has one of {N} {H} {I}: it is of patterns */
	const struct metric *metric; /* of a reading: in the arena of the conditions */
	enum relation relation;	     /* neither equal nor unequal */
	bool is_relative;	     /* bound 0.2 is +20 % */
	bool per_second;
	double bound; /* in the metric's or reading's unit; signed */
};

/* Owns its conditions; all zeros is empty and valid. */
struct fail_on {
	struct arena arena;
	ARRAY_OF(struct fail_condition) conditions;
};

/*
 * Adds a condition; the text is copied.  0, -ENOMEM, or -EINVAL with a sentence
 * and its position.
 */
int fail_on_add(struct fail_on *fail_on, const char *expression, struct error *error);
void fail_on_clear(struct fail_on *fail_on);

/* How groups must be made (group.h) so that a condition means the same in every comparison. */
enum fail_names {
	FAIL_NAMES_LITERAL,  /* comm=worker-1 is that name, even if the tables show a pattern */
	FAIL_NAMES_SHOWN,    /* without a glob: the groups that are shown */
	FAIL_NAMES_PATTERNS, /* comm=worker-{N} is that pattern, even if it has only one name */
	FAIL_NAMES_COUNT,
};

enum fail_names fail_condition_names(const struct fail_condition *condition);

enum fail_outcome {
	FAIL_PASSED,  /* evaluated, and it does not hold */
	FAIL_FAILED,  /* it holds */
	FAIL_NOISE,   /* it would hold, but several runs a side do not tell it from chance */
	FAIL_UNKNOWN, /* cannot be evaluated: see reason */
};

struct fail_finding {
	const struct fail_condition *condition;
	const struct comparison_row *row; /* NULL of moot ones */
	enum fail_outcome outcome;
	double change;	    /* as the condition measures it; unless UNKNOWN */
	const char *reason; /* of UNKNOWN */
	bool is_moot;	    /* of UNKNOWN: nothing was compared */
	bool says_glob;	    /* the condition's glob ends the reason */
};

struct fail_verdict {
	ARRAY_OF(struct fail_finding) findings; /* all but PASSED ones, in the order of the rows */
	size_t passed, failed, noise;
	size_t unknown; /* but for moot ones */
	size_t moot;
};

/*
 * Evaluates one condition over a comparison that was made on `axis`, and adds
 * to the verdict.  The comparison should have all rows of the metric, unchanged
 * ones too: a condition that matches no row is one finding, UNKNOWN and moot.
 * The verdict points into both.  0 or -ENOMEM.
 */
int fail_condition_evaluate(const struct fail_condition *condition,
			    const struct comparison *comparison, enum group_axis axis,
			    struct fail_verdict *verdict);
void fail_verdict_clear(struct fail_verdict *verdict);

/* Appends a sentence: "pcomm=nginx wait_time_ns > +20%: nginx changed by +35.1 %". */
void fail_finding_append(const struct fail_finding *finding, const struct comparison *comparison,
			 struct text *out);

#endif

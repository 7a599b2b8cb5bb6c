/* SPDX-License-Identifier: MIT */
/*
 * Compares two snapshots, or two sides of several snapshots each, and ranks
 * what changed.
 *
 *	comparison_new(&before, &after, &options, &comparison, &error);
 *	for each of comparison->rows, most important first: ...
 *
 * There are three modes.  INTERVAL, for two snapshots of one boot: tasks are
 * joined on (tgid, tid, start time), and a counter's delta is the work done in
 * between, by tasks that stayed, by tasks that were born, and by threads that
 * ended (their process keeps their totals).  INTERVALS, for snapshots that are
 * intervals (interval_snapshot.h): counters are compared by what was done in a
 * second.  POPULATION, for anything else: each side is folded by itself, and a
 * counter is compared as it is and per second of its tasks' lives.
 *
 * In an interval nothing is a percentage of anything: work that was done in
 * between cannot be compared with the total of a life.  The exception is a group
 * that was restarted, whose two lives are compared by their rates.
 *
 * For every metric that adds up, the sum of the deltas is the whole; of a
 * restarted group `interval` has the part that is known.
 *
 * A comparison points into its snapshots, which must outlive it.
 */
#ifndef ANALYZE_COMPARISON_H
#define ANALYZE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/group/group.h"
#include "analyze/group/selection.h"
#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "metric/metric.h"

struct compare_layout;
struct error;
struct rank_scale;
struct snapshot;

enum compare_mode {
	COMPARE_AUTO, /* interval when both are of one boot, in order */
	COMPARE_INTERVAL,
	COMPARE_POPULATION,
	COMPARE_INTERVALS, /* the snapshots are intervals: never asked for */
};

enum compare_section {
#define COMPARE_SECTION(id, ...) COMPARE_##id,
#include "analyze/compare/compare_sections.def"
	COMPARE_SECTION_COUNT,
};

#define SIDES 2 /* before, after */

/* Several snapshots on a side are runs of the same thing; significance needs three on each side. */
struct compare_side {
	const struct snapshot *const *snapshots;
	size_t count;
};

struct compare_options {
	enum compare_mode mode;
	enum group_axis axis;
	struct grouping_options grouping; /* normalisation and flattening: see group.h */
	struct selection metrics;	  /* stored and derived ones to compare */
	uint32_t sections;		  /* a bit each */
	bool metrics_only;		  /* no readings, in any section */
	bool fold_parts; /* no rows of what is part of another row, or repeats it */
	/*
	 * Rows kept in each section, the best by score; 0 keeps all.  A hundred
	 * thousand groups have ten million rows, so a caller that shows fifty
	 * should ask for fifty.  Conditions and orders use comparisons of their
	 * own, without a limit, that select only their metrics.
	 */
	size_t limit;
	/* Also keep rows that did not change or are within noise: see struct row_tally. */
	bool unchanged;
	/*
	 * By group: its place.  The limit keeps the best rows of the first
	 * groups (compare_order.h).
	 */
	const uint32_t *places;
	size_t place_count; /* 0: the best of all */
	/*
	 * Another comparison of the same sides, mode, axis and grouping, made
	 * with metrics_only: its layout is used, so it must outlive this one.
	 * NULL: make a layout.
	 */
	const struct comparison *like;
};

/* One side of a row.  There may be millions of rows, so values are small. */
enum value_shape {
	VALUE_ABSENT, /* not measured, or the group does not exist: see its tasks */
	VALUE_NUMBER, /* number; signed when the metric or reading is */
	VALUE_REAL,   /* real: derived metrics */
	VALUE_RANGE,  /* min, max */
	VALUE_TEXT,   /* text: categories, cpu sets, settings; number is how many have it */
	VALUE_UNLIMITED,
};

struct compared_value {
	union {
		uint64_t number;
		double real;
		int64_t min;
	};
	union {
		int64_t max;
		const char *text;
	};
	uint32_t measured, population; /* tasks, processes or cgroups behind it */
	enum value_shape shape;
	bool is_signed;
};

/* How the two sides relate. */
enum row_state {
	ROW_SAME,
	ROW_CHANGED,
	ROW_NEW,  /* the group is only in B */
	ROW_GONE, /* the group is only in A */
	/*
	 * Not measured on a side that has the group.  In an interval a
	 * difference may still be known, from tasks that were born.
	 */
	ROW_ABSENT,
	ROW_RESET, /* a counter that restarted: no difference is known */
};

/* B less A, exact where the values are whole. */
struct difference {
	bool known;
	bool is_negative;
	bool is_real;	    /* real, not magnitude */
	uint64_t magnitude; /* saturates */
	double real;	    /* signed; also of a whole difference, rounded */
};

struct significance {
	bool tested; /* three or more of each side */
	double p;
	bool is_noise;					       /* p above alpha */
	double before_low, before_high, after_low, after_high; /* smallest and largest run */
};

/* What the numbers of a row are. */
enum row_values {
	VALUES_AMOUNT,
	VALUES_PER_SECOND,	/* of the interval, both sides: COMPARE_INTERVALS */
	VALUES_PER_TASK_SECOND, /* of the tasks' lives: a restarted group in an interval */
};

struct comparison_row {
	enum compare_section section;
	uint32_t group; /* in comparison->groups */
	const struct metric *metric;
	enum row_values values; /* before, after and delta */
	struct compared_value before, after;
	/*
	 * For derived metrics in interval mode: the formula over the work done
	 * in between, while before and after are over the tasks' lives until
	 * then.  For a ratio or an average, delta is this less before; for a
	 * sum, delta is this.  For a counter of a restarted group: what its new
	 * tasks did.
	 */
	struct compared_value interval;
	struct difference delta;
	uint64_t by_ended; /* interval: the part of delta that threads did that ended */
	bool has_rate;	   /* one of those below */
	double per_second; /* interval: delta over elapsed time */
	/*
	 * Population: per second of the tasks' lives.  A side without a value, or
	 * with unknown lifetimes, has none.
	 */
	bool has_rate_before, has_rate_after;
	double rate_before, rate_after;
	enum row_state state;
	const char *reason; /* of ROW_ABSENT, or NULL */
	double share; /* of the host's change in the row's resource, 0 to 1; 0 when it has none */
	double score; /* what rows are ordered by */
	struct significance significance;
};

/* Whether a group's processes are others on the second side of an interval. */
enum restart {
	RESTART_NONE,
	RESTART_PART, /* at least half of its tasks, on either side */
	RESTART_WHOLE,
};

/* A group of tasks, a cgroup, a process or the host, on both sides. */
struct compared_group {
	const char *key;
	uint32_t cgroup_end, process_end; /* as those of struct group */
	uint32_t tasks_before, tasks_after;
	uint32_t born, ended; /* interval: tasks that came and went */
	uint32_t missed;      /* interval: tasks of B that are older than A but not in A */
	enum restart restart;
	const char *renamed_from; /* cgroup of A that this one was matched with, or NULL */
	/*
	 * For a group that only one side has: how much it did and holds there,
	 * whichever metrics were selected.
	 */
	bool has_run_time, has_rss;
	uint64_t run_time_ns, rss_bytes; /* of intervals, a second's */
	uint32_t own_tasks;		 /* of both sides, that are taskscope's own */
	uint64_t age_ns[SIDES];		 /* of its oldest task; 0: not known, or it has none */
	/* Interval: CPU time in between of processes that ended and that its own waited for. */
	uint64_t children_ns;
};

/* The rows of a section; those that are not kept are counted. */
struct row_tally {
	uint64_t kept;
	uint64_t
		unchanged; /* same, 0 in a group that is new or gone, or not measured on any side */
	uint64_t noise;	   /* several runs do not distinguish it from chance */
	uint64_t beyond_limit;
};

struct host_change {
	const char *name;
	const char *before, *after; /* NULL: not known on that side */
	bool is_number;		    /* both are decimal numbers, in the unit */
	enum metric_unit unit;
};

struct comparison {
	struct arena arena;
	struct compare_layout *layouts;	     /* two; NULL when they are another comparison's */
	const struct compare_layout *laid;   /* of all groups */
	const struct compare_layout *moving; /* of an interval: of those that moved; else `laid` */
	const struct rank_scale *scale; /* what the host has of each resource, and what moved */
	enum compare_mode mode;		/* never AUTO */
	uint64_t elapsed_ns;		/* interval: between the captures; else 0 */
	ARRAY_OF(const char *)
	notes; /* what a reader must know: which mode and why, sides that differ in kind, losses */
	ARRAY_OF(struct host_change) host_changes;
	ARRAY_OF(struct compared_group) groups;
	ARRAY_OF(struct comparison_row) rows; /* ordered by score */
	struct row_tally tallies[COMPARE_SECTION_COUNT];
	double wholes[METRIC_COUNT]; /* of metrics of tasks with rows: what their shares are of */
	uint64_t
		processes_ended; /* interval: whole ones; their last work is in their parents' child_ metrics */
};

/* Whether the metric folds to a number: all but ranges, modes and cpu sets. */
bool compare_is_number(const struct metric *metric);

/* The section that shows a metric of tasks. */
enum compare_section compare_section_of(enum metric_id id);

/* Adds a group; the texts are copied.  renamed_from may be NULL.  0 or -ENOMEM. */
int comparison_add_group(struct comparison *comparison, const char *key, size_t length,
			 const char *renamed_from);

int comparison_new(const struct compare_side *before, const struct compare_side *after,
		   const struct compare_options *options, struct comparison **ret,
		   struct error *error);
void comparison_free(struct comparison *comparison); /* NULL is allowed */
CLEANUP_POINTER(comparison_free, struct comparison)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Puts tasks into groups and folds metrics over them.
 *
 *	struct grouping *grouping;
 *	grouping_new(snapshot, AXIS_PCOMM, census, NULL, &grouping);
 *	grouping_sort(grouping, &order);
 *	for each of grouping->groups: group_fold(grouping, group, METRIC_majflt, &fold);
 *
 * Every task is in exactly one group.  A metric of processes is folded once for
 * each process, in the group that holds the process's first task; so the sum
 * over all groups is the sum over the snapshot, for every metric.
 *
 * A grouping points into its snapshot, which must outlive it.
 */
#ifndef ANALYZE_GROUP_H
#define ANALYZE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "metric/fold.h"
#include "metric/metric.h"

struct column;
struct dictionary;
struct error;
struct snapshot;
struct text;

enum group_axis {
	AXIS_PCOMM,	 /* pattern of the process's name */
	AXIS_COMM,	 /* pattern of the thread's name */
	AXIS_COMM_EXACT, /* the thread's name itself */
	AXIS_CGROUP,	 /* pattern of the cgroup path */
	AXIS_PROCESS,	 /* "name[tgid]" */
	AXIS_THREAD,	 /* "name[tid]" */
	AXIS_USER,	 /* effective user, "uid N" for one without a name */
	AXIS_SCOPE,	 /* label of the thread's innermost open scope */
	AXIS_CONTAINER,	 /* "docker 0123456789ab"; outside of any the unit, or the cgroup path */
	AXIS_ALL,	 /* patterns of all three: "cgroup pcomm/comm"; "(none)" is not known */
	AXIS_COUNT,
};

/* The axes' names, as options spell them: "a|b|c" of all. */
#define GROUP_AXES "pcomm|comm|comm-exact|cgroup|process|thread|user|scope|container|all"
const char *group_axis_name(enum group_axis axis);
int group_axis_find(const char *name); /* -1 when there is none */

/*
 * How names become keys; all zeros is the default.  The globs (glob.h) are
 * borrowed and apply to the axes cgroup and all: a path that matches a glob has
 * the glob's text as its key.
 */
struct grouping_options {
	bool literal_names;   /* names of threads and processes are kept as they are */
	bool literal_cgroups; /* paths too, unless a glob replaces them */
	bool ctprof_names;    /* use ctprof's rule: see census */
	bool always_patterns; /* also for a name that is the only one of its pattern */
	const char *const *flatten;
	size_t flatten_count; /* the first that matches counts */
};

/*
 * Checks that the globs are well formed and can match a path.  0, -ENOMEM, or
 * -EINVAL with a sentence that has the position.
 */
int grouping_options_check(const struct grouping_options *options, struct error *error);

/*
 * A census of names, in one snapshot or in several that are to be compared: the
 * same name must get the same key on every side.  A pattern stands for at least
 * two different names; a name that is the only one of its pattern is kept as it
 * is.  A cgroup path with an id always becomes its pattern, which it has on
 * other hosts too.  Patterns that differ only in {N}, {H} or {I} at the same
 * place are one: an id may by chance be all digits, or as long as a number.
 *
 * By ctprof's rule a name is kept only if just one thread has it, and only on
 * the axes where names of processes or threads alone are the key.
 */
struct census;

/*
 * NULL options mean the defaults; globs must outlive the census.  Returns 0 and
 * a census that the caller frees, -ENOMEM, or -EINVAL for a glob that
 * grouping_options_check() would refuse.
 */
int census_new(enum group_axis axis, const struct grouping_options *options, struct census **ret);
/* Counts the names of all tasks, and of cgroups that have only readings. */
int census_add(struct census *census, const struct snapshot *snapshot);
void census_free(struct census *census);	  /* NULL is allowed */
CLEANUP_POINTER(census_free, struct census)

/*
 * Appends the key of one name: of a cgroup path on the axes cgroup and all, of a
 * process on pcomm, and so on.  0 or -ENOMEM.
 */
int census_append_key(struct census *census, const char *name, struct text *out);

struct group {
	const char *key;    /* untrusted bytes; "" when the name is not known */
	const char *cgroup; /* key of its cgroup, which `key` begins with; NULL on other axes */
	uint32_t number;    /* of the key, among those that the caller keeps */
	uint32_t cgroup_end,
		process_end; /* of AXIS_ALL: where these parts of the key end; else 0 */
	uint32_t first;	     /* its tasks: grouping->rows[first ... first + tasks - 1] */
	uint32_t tasks;
	uint32_t processes; /* processes with at least one task here */
};

/* How many CPUs each list of a snapshot names; made when it is needed. */
struct cpu_counts {
	struct arena *arena;
	uint32_t *of_list; /* plus one, by the list's number; 0: not counted yet */
};

struct grouping {
	const struct snapshot *snapshot;
	enum group_axis axis;
	struct group *groups;
	size_t group_count;
	uint32_t *rows;	    /* rows of snapshot->tasks, group by group, ascending in each */
	struct arena arena; /* of the keys */
	struct cpu_counts cpu_counts;
};

/*
 * Groups a finished snapshot, in the order of each group's first task.  The
 * census must be of this axis and have counted this snapshot.  `keys`, if it is not NULL,
 * takes the keys, so that groups of several snapshots have the same numbers.  Returns 0 and a
 * grouping the caller frees, -ENOMEM, or -EINVAL for a snapshot that was not counted.
 */
int grouping_new(const struct snapshot *snapshot, enum group_axis axis, const struct census *census,
		 struct dictionary *keys, struct grouping **ret);
/* The same with a census of this snapshot alone; NULL options mean the defaults. */
int grouping_make(const struct snapshot *snapshot, enum group_axis axis,
		  const struct grouping_options *options, struct grouping **ret);
void grouping_free(struct grouping *grouping);		/* NULL is allowed */
CLEANUP_POINTER(grouping_free, struct grouping)

enum group_order {
	ORDER_METRIC,
	ORDER_TASKS,
	ORDER_KEY,
	ORDER_PID, /* the number of its first process or thread */
	GROUP_ORDER_COUNT,
};

struct group_sort {
	enum group_order by;
	enum metric_id metric; /* of ORDER_METRIC */
	bool ascending;
	bool keeps_order; /* of equal ones: as they were, else by key */
	size_t first;	  /* so many are in order, and the others behind them in any; 0: all */
};

/*
 * Groups without a value come last in either direction; equal ones are ordered
 * by key.  To order by several, sort by the last one first, then by each before
 * it with keeps_order.  Returns 0 or -ENOMEM.
 */
int grouping_sort(struct grouping *grouping, const struct group_sort *sort);

/*
 * How many threads (METRIC_thread_count) or processes (METRIC_process_count)
 * the group has.  Rows of a run may stand for several; those are counted.
 */
uint64_t group_count(struct grouping *grouping, const struct group *group, enum metric_id id);

/* Folds one metric over the group's tasks, or their processes. */
void group_fold(struct grouping *grouping, const struct group *group, enum metric_id id,
		struct fold *ret);

/* Adds a cell of the snapshot, whatever it holds, to a fold of its metric. */
void fold_add_cell(struct fold *fold, const struct snapshot *snapshot, const struct column *column,
		   uint32_t row, struct cpu_counts *counts);

/* Start of the group's oldest task, in ns since boot. */
uint64_t group_oldest(const struct grouping *grouping, const struct group *group);

#endif

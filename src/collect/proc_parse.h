/* SPDX-License-Identifier: MIT */
/*
 * From the text of a task's procfs files to raw numbers.
 *
 * A plan says what to look for in one kind of file.  It is made from the metric
 * table, so the parsers name no metric.  They are pure: they take a file's text,
 * ended by a NUL, and never look beyond it.  A value that is not there, or that
 * does not parse to its end, is absent; the others are not harmed.
 */
#ifndef COLLECT_PROC_PARSE_H
#define COLLECT_PROC_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct gate;

#define PROC_ITEMS 64 /* as many as a presence mask has bits */
#define PROC_SLOTS 128

struct proc_item {
	enum metric_id id;
	const char *key; /* NULL when the file has numbered fields */
	size_t key_length;
	unsigned field;
	enum raw_unit raw;
	uint8_t next; /* in the same slot: index plus one */
};

struct proc_plan {
	struct proc_item items[PROC_ITEMS];
	unsigned count;
	uint64_t own;	/* items to store for the task */
	uint64_t group; /* items whose sum over the threads is set against the process's file */
	int blocked;	/* item that is to be taken off sleep, -1 for none */
	uint8_t slots[PROC_SLOTS]; /* keys by hash: index plus one */
};

struct proc_values {
	uint64_t present; /* a bit for each item of the plan */
	uint64_t raw[PROC_ITEMS];
	unsigned negative; /* times below zero, which were dropped */
};

/*
 * Finds the metrics that have a source at `place`, and those at `group_place` (0
 * for none), which is the same file of the whole process.  Metrics behind a
 * closed gate are left out; `gates` may be NULL for all.
 */
void proc_plan_init(struct proc_plan *plan, enum metric_place place, enum metric_place group_place,
		    const struct gate *gates);

/* stat.  The name may hold any bytes: it reaches from the first '(' to the last ')'. */
void proc_parse_stat(const char *text, const struct proc_plan *plan, struct proc_values *ret);

/* schedstat, statm: fields in a row, the first is 1. */
void proc_parse_row(const char *text, const struct proc_plan *plan, struct proc_values *ret);

/* status, io: a line "key: value" each. */
void proc_parse_keyed(const char *text, const struct proc_plan *plan, struct proc_values *ret);

/*
 * sched: like the above, but keys are known by what follows their last dot,
 * since their prefix differs between kernels; a key that the table has with a
 * dot must be the whole one.  The task's name in the first line is not escaped
 * and may look like anything, so only what follows the rule counts.
 */
void proc_parse_sched(const char *text, const struct proc_plan *plan, struct proc_values *ret);

/* Who a task is, by its stat. */
struct proc_identity {
	const char *comm; /* in the text */
	size_t comm_length;
	uint64_t start_ticks;
	uint64_t threads; /* living threads of the process, 0 when not told */
};

/* False when there is no name or no start time: then it is nobody. */
bool proc_parse_identity(const char *text, struct proc_identity *ret);

/* The value of a line "key: value"; NULL when there is none.  Ends before the newline. */
const char *proc_find_value(const char *text, const char *key, size_t *ret_length);

/* limits: the soft limit on open files; UINT64_MAX when there is none. */
bool proc_parse_limits(const char *text, uint64_t *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of a task's procfs files into raw numbers.
 *
 * A plan says which values to find in one kind of file.  It is made from the metric table, so the
 * parsers name no metric.  They are pure: they take a file's text, ended by a NUL, and never read
 * beyond it.  A value that is missing, or that does not parse to its end, is absent; the other
 * values are still read.
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
	uint64_t group; /* items whose sum over threads is compared with the process's file */
	int blocked;	/* item that must be subtracted from sleep, -1 for none */
	uint8_t slots[PROC_SLOTS]; /* keys by hash: index plus one */
};

struct proc_values {
	uint64_t present; /* a bit for each item of the plan */
	uint64_t raw[PROC_ITEMS];
	unsigned negative; /* number of times below zero, which were dropped */
};

/*
 * Finds the metrics that are read from `place`, and those from `group_place` (0 for none), which
 * is the same file of the whole process.  Metrics behind a closed gate are left out; `gates` may
 * be NULL: then all are open.
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
 * sched: like the above, but a key is identified by what follows its last dot, since the prefix
 * differs between kernels.  A key that has a dot in the metric table must match as a whole.  The
 * task's name in the first line is not escaped and may contain anything, so only the text after
 * the line of dashes counts.
 */
void proc_parse_sched(const char *text, const struct proc_plan *plan, struct proc_values *ret);

/* What identifies a task, from its stat file. */
struct proc_identity {
	const char *comm; /* in the text */
	size_t comm_length;
	uint64_t start_ticks;
	uint64_t threads; /* living threads of the process, 0 when not known */
};

/* False when there is no name or no start time. */
bool proc_parse_identity(const char *text, struct proc_identity *ret);

/* limits: the soft limit on open files; UINT64_MAX when there is none. */
bool proc_parse_limits(const char *text, uint64_t *ret);

#endif

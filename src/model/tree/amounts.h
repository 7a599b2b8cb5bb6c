/* SPDX-License-Identifier: MIT */
/*
 * Amounts: what a thread used and where its time went while it was watched.  There is one value
 * for each metric that has a TRACED source.  Amounts of threads add up to those of processes and
 * trees, each by the fold of its metric.
 *
 * run_time_ns, wait_time_ns and all wait_*_ns add up to wall_time_ns.  For that, run_time_ns is
 * the time between switching the thread in and out, where that is known.  The CPU time that the
 * kernel charges, utime_ns and stime_ns, is less: it leaves out interrupts and time stolen by a
 * hypervisor.
 */
#ifndef MODEL_AMOUNTS_H
#define MODEL_AMOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"
#include "metric/wait.h"

enum amount_id {
#define TRACED(id) AMOUNT_##id,
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help) sources
#include "metric/metrics.def"
	AMOUNT_COUNT,
};

/* The metric of each amount. */
extern const enum metric_id amount_metrics[AMOUNT_COUNT];

struct amounts {
	uint64_t present;	       /* a bit for each enum amount_id */
	uint64_t values[AMOUNT_COUNT]; /* 0 where it is not present */
};

static inline bool amounts_has(const struct amounts *amounts, enum amount_id id)
{
	return amounts->present >> id & 1;
}

/* 0 when it was not measured. */
static inline uint64_t amounts_get(const struct amounts *amounts, enum amount_id id)
{
	return amounts->values[id];
}

static inline void amounts_set(struct amounts *amounts, enum amount_id id, uint64_t value)
{
	amounts->values[id] = value;
	amounts->present |= UINT64_C(1) << id;
}

/*
 * The three amounts of a wait reason.  Where waits are sampled, only the time is known; otherwise
 * all are measured or none.
 */
struct waited {
	uint64_t ns, count, max_ns;
};

static inline struct waited amounts_waited(const struct amounts *amounts, enum wait_reason reason)
{
	const uint64_t *values = &amounts->values[AMOUNT_wait_disk_ns + 3 * (int)reason];

	return (struct waited){ values[0], values[1], values[2] };
}

void amounts_set_waited(struct amounts *amounts, enum wait_reason reason, struct waited waited);

/* Sets the time alone: how often it waited and how long at most stays unknown. */
static inline void amounts_set_waited_ns(struct amounts *amounts, enum wait_reason reason,
					 uint64_t ns)
{
	amounts_set(amounts, (enum amount_id)(AMOUNT_wait_disk_ns + 3 * (int)reason), ns);
}

/* Whether waits by reason were measured. */
static inline bool amounts_has_waits(const struct amounts *amounts)
{
	return amounts_has(amounts, AMOUNT_wait_other_ns);
}

/* The CPU time that the kernel charged. */
bool amounts_has_cpu(const struct amounts *amounts);
uint64_t amounts_cpu_ns(const struct amounts *amounts);

/*
 * Adds the amounts that are present in `part`.  An amount of the sum is present when any part has
 * it.
 */
void amounts_add(struct amounts *sum, const struct amounts *part);

/*
 * Raises each amount to that of a later account; no total ever falls.  If one account has some
 * time under one reason and the next has it under another, it is then in both, and the wall time
 * is raised to at least the sum of its parts.  *ret_grown gets the growth, to be added to sums
 * that include these amounts.
 */
void amounts_raise(struct amounts *amounts, const struct amounts *later, struct amounts *ret_grown);

/*
 * The whole minus the parts; false when nothing is left.  The rest keeps the maxima of the whole.
 */
bool amounts_rest(const struct amounts *whole, const struct amounts *parts,
		  struct amounts *ret_rest);

/* Sums of waits by kind; the costly sum includes wait_time_ns.  Absent amounts count as 0. */
uint64_t amounts_costly_ns(const struct amounts *amounts);
uint64_t amounts_for_work_ns(const struct amounts *amounts);
uint64_t amounts_blocked_ns(const struct amounts *amounts);

/* The wall time minus the sum of its parts: 0 when they add up. */
int64_t amounts_gap_ns(const struct amounts *amounts);

#endif

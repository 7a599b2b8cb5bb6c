/* SPDX-License-Identifier: MIT */
/*
 * Describes what a metric is.  metrics.def has one row for each metric; this header turns the rows
 * into an enum and into descriptors that all other code uses.
 *
 * A stored value is 64 bits in the metric's unit: a number for most, two's
 * complement for ordinals (nice can be negative), a small code for categories
 * (see metric_category_text), the number of a cpulist text in the snapshot's
 * dictionary for cpu sets.
 */
#ifndef METRIC_METRIC_H
#define METRIC_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "metric/metrics.def"
	METRIC_STORED, /* metrics before this are stored, those after it are derived */
	METRIC_LAST_STORED_ = METRIC_STORED - 1,
#define DERIVED(id, ...) METRIC_##id,
#include "metric/metrics.def"
	METRIC_COUNT,
};

/* Each list has its names in metric.c, in a table indexed by the enum. */
enum metric_unit {
	UNIT_NS,
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_LEVEL, /* a plain signed number */
	UNIT_ID,    /* a number that names something: never scaled or added */
	UNIT_RATIO,
	UNIT_POLICY,
	UNIT_STATE,
	UNIT_BOOL,
	UNIT_CPUS,
	/* Only readings (metric/reading.h) have these units, which are the kernel's own. */
	UNIT_US,
	UNIT_CENTIPERCENT,
	UNIT_HUNDREDTHS,
	UNIT_TEXT,
};

enum metric_kind {
	KIND_COUNTER, /* only grows */
	KIND_PEAK,    /* largest ever seen */
	KIND_LOW,     /* smallest ever seen, 0 before the first event */
	KIND_GAUGE,
	KIND_ORDINAL,
	KIND_CATEGORY,
	KIND_CPUSET,
	KIND_LIMIT,   /* may also be unlimited */
	KIND_SETTING, /* chosen by someone */
	KIND_TEXT,
	KIND_DERIVED,
};

enum metric_scope {
	METRIC_OF_THREAD,
	METRIC_OF_PROCESS, /* one value for all threads of a process: folded once per process */
	METRIC_OF_ROW,	   /* of a cgroup, the host or whatever else a sheet's row is */
};

enum metric_fold {
	FOLD_SUM,
	FOLD_MAX,
	FOLD_MIN, /* over tasks that had an event: 0 is skipped for KIND_LOW */
	FOLD_RANGE,
	FOLD_MODE,
	FOLD_CPUSET,
	FOLD_FORMULA,
};

enum metric_section {
	SECTION_IDENTITY,
	SECTION_SCHEDULING,
	SECTION_IO,
	SECTION_MEMORY,
	SECTION_DELAYS,
	SECTION_HEAP,
	SECTION_SCOPES,
	SECTION_WAITS,
	SECTION_GPU,
	/* Only readings have these sections. */
	SECTION_CGROUPS,
	SECTION_LIMITS,
	SECTION_MEMORY_STAT,
	SECTION_MEMORY_EVENTS,
	SECTION_PRESSURE,
	SECTION_HOST,
	SECTION_HOST_USAGE,
	SECTION_HOST_DETAILS,
	SECTION_COUNT,
};

/* What the kernel must have, or have switched on, for a value to exist. */
enum metric_gate {
	GATE_NONE,
	GATE_SCHED_INFO,
	GATE_SCHEDSTATS,
	GATE_SCHED_CORE,
	GATE_SCHED_CLASS_EXT,
	GATE_TASK_IO_ACCOUNTING,
	GATE_TASK_DELAY_ACCT,
	GATE_IRQ_DELAY,
	GATE_COUNT,
};

/* For which scheduler classes the kernel keeps the value up to date. */
enum metric_class {
	CLASS_ANY,
	CLASS_CFS_ONLY,	   /* only the fair class counts it */
	CLASS_NON_EXT,	   /* sched_ext bypasses it */
	CLASS_FAIR_POLICY, /* exists for normal and batch policies only */
};

/* Units in which a source has a value, before metric_from_raw() converts it. */
enum raw_unit {
	RAW_NS,
	RAW_BYTES,
	RAW_COUNT,
	RAW_LEVEL,   /* signed */
	RAW_TICKS,   /* clock ticks */
	RAW_FLOORED, /* ns, but /proc shows whole ticks: floored so that all sources agree */
	RAW_KIB,
	RAW_PAGES,
	RAW_MS,
	RAW_SECTORS, /* of 512 bytes, whatever the disk has */
	RAW_DOTTED, /* milliseconds and six digits, as /proc/PID/sched prints time */
	RAW_SLEEP,  /* dotted; block_sum is to be subtracted */
	RAW_STATE,  /* a letter */
	RAW_SECOND, /* the second number of the line */
};

/* Where a collector finds a value. */
enum metric_place {
	PLACE_STAT = 1,
	PLACE_STATUS,
	PLACE_SCHEDSTAT,
	PLACE_SCHED,
	PLACE_IO,
	PLACE_STATM,
	PLACE_SMAPS,
	PLACE_GROUP_STAT,
	PLACE_GROUP_IO,
	PLACE_AFFINITY,
	PLACE_FD_DIRECTORY,
	PLACE_FD_LIMIT,
	PLACE_EACH,
	PLACE_TASK,
	PLACE_GROUP,
	PLACE_DELAY,
	PLACE_STATS,
	PLACE_DECODED,
	PLACE_TASKSTATS,
	PLACE_JEMALLOC,
	PLACE_SCOPE,
	PLACE_GPU,
	PLACE_TRACED,
	PLACE_COUNT,
};

struct metric_source {
	enum metric_place place; /* 0 ends the list */
	const char *key;	 /* member or key there, NULL when counted */
	unsigned field;		 /* field number there, 0 when named */
	enum raw_unit raw;
};

#define METRIC_SOURCES 4

enum formula_kind {
	FORMULA_RATIO = 1,  /* a / b */
	FORMULA_SHARE,	    /* a / (a + b) */
	FORMULA_DIFFERENCE, /* a - b, signed */
	FORMULA_SUM,
	FORMULA_SUM_AND_LARGER, /* all but the last two, plus the larger of those */
};

#define FORMULA_INPUTS 8

struct formula {
	enum formula_kind kind;
	unsigned count;
	enum metric_id inputs[FORMULA_INPUTS];
};

struct metric {
	const char *name;
	enum metric_unit unit;
	enum metric_kind kind;
	enum metric_scope scope;
	enum metric_fold fold;
	enum metric_section section;
	enum metric_gate gate;
	enum metric_class class;
	struct metric_source sources[METRIC_SOURCES];
	struct formula formula; /* of derived metrics */
	unsigned family;	/* of readings: where their family is in readings.def */
	const char *help;
};

extern const struct metric metrics[METRIC_COUNT];

static inline bool metric_is_derived(enum metric_id id)
{
	return id >= METRIC_STORED;
}

/* Whether the descriptor was made at run time: then it has no enum metric_id (metric/reading.h). */
static inline bool metric_is_reading(const struct metric *metric)
{
	return metric->scope == METRIC_OF_ROW;
}

static inline enum metric_id metric_number(const struct metric *metric)
{
	return (enum metric_id)(metric - metrics);
}

/*
 * Whether the formula still holds without an input that the kernel does not count at all.  A sum
 * does: it covers what the kernel does count.  An input that exists but was not measured still
 * makes the sum absent.
 */
bool formula_spares(const struct formula *formula, unsigned input);

/* Returns the metric of that name, or -1. */
int metric_find(const char *name);

/* The metric's source at that place, or NULL. */
const struct metric_source *metric_source(const struct metric *metric, enum metric_place place);

/* Whether the metric comes only from following a tree of processes: no capture has it then. */
bool metric_is_only_traced(enum metric_id id);

/* Names for people and JSON. */
const char *metric_unit_name(enum metric_unit unit);
const char *metric_kind_name(enum metric_kind kind);
const char *metric_scope_name(enum metric_scope scope);
const char *metric_fold_name(enum metric_fold fold);
const char *metric_section_name(enum metric_section section);
const char *metric_gate_name(enum metric_gate gate);	/* kernel options, "" for none */
const char *metric_class_name(enum metric_class class); /* "" for any */
const char *metric_place_name(enum metric_place place); /* e.g. "task stat" */

/*
 * The text of a category's code: "SCHED_FIFO", "S", "true".  Codes without a
 * name are written into `buffer`.
 */
const char *metric_category_text(enum metric_unit unit, uint64_t code, char buffer[32]);

/* Clock tick and page size of the host that the raw values come from. */
struct raw_scale {
	uint64_t tick_ns;
	uint64_t page_bytes;
};

/* Converts a raw value to the metric's stored unit; saturates. */
uint64_t metric_from_raw(uint64_t raw, enum raw_unit unit, const struct raw_scale *scale);

#endif

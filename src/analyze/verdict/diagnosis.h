/* SPDX-License-Identifier: MIT */
/*
 * Says what limited a run, from its numbers alone.  Nothing else is read, so a
 * live run, one from a file and one made by a test are judged alike.
 *
 * There are two parts.  The syscall and off-CPU analyses use names and
 * thresholds that users of other monitors (denet) know; where we have latencies
 * and bytes, they use these instead of bare counts, and `basis` says which.
 * The verdict weighs everything, including the ledger, pressure and limits.
 */
#ifndef ANALYZE_DIAGNOSIS_H
#define ANALYZE_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree/run.h"

enum run_class {
	CLASS_CPU_BOUND,
	CLASS_IO_BOUND,
	CLASS_MEMORY_BOUND,
	CLASS_NETWORK_BOUND,
	CLASS_LOCK_BOUND,
	CLASS_STARVED,
	CLASS_IDLE,
	CLASS_MIXED,
	CLASS_UNKNOWN,
	CLASS_COUNT,
};

extern const char *const class_names[CLASS_COUNT]; /* "cpu_bound", ... */

enum run_cause {
#define CAUSE(id, ...) CAUSE_##id,
#include "analyze/verdict/causes.def"
#undef CAUSE
	CAUSE_COUNT,
};

enum cause_basis {
	CAUSE_BASIS_FACT,
	CAUSE_BASIS_JUDGED,
};

struct cause_info {
	const char *name;
	enum run_class class;
	const char *hint;
	enum cause_basis basis;
	uint16_t right, said; /* answers in blind corpora */
};

extern const struct cause_info causes[CAUSE_COUNT];

#define DIAGNOSIS_EVIDENCE_MAX 6
#define DIAGNOSIS_TEXT 160
#define DIAGNOSIS_LIST_MAX 8

/*
 * The verdict.  Evidence is sentences with figures, the strongest first,
 * without a full stop: "blocked on locks 78 % of thread time (4.1 s of 5.2 s)".
 */
struct verdict {
	enum run_class class;
	enum run_cause cause;
	double score;	   /* 0 to 1: its lead over other causes, and how much was measured */
	double confidence; /* 0 to 1: see verdict_confidence() */
	char who[DIAGNOSIS_TEXT]; /* the program, thread or peer that it is about; "": not known */
	char evidence[DIAGNOSIS_EVIDENCE_MAX][DIAGNOSIS_TEXT];
	size_t evidence_count;
	const char *hint;
};

/* What the numbers of an analysis are based on. */
enum analysis_basis {
	BASIS_NONE,    /* nothing was measured: insufficient_data */
	BASIS_COUNTS,  /* numbers of calls only */
	BASIS_LATENCY, /* time spent in calls, and bytes */
};

/* Syscalls: the seed's classification, intensities, indicators, workload type, likelihood, hints. */
struct syscall_analysis {
	enum analysis_basis basis;
	enum run_class behavior; /* one of io, cpu, memory, network, mixed, unknown */
	double syscall_rate_per_sec;
	double io_intensity, memory_intensity, cpu_intensity, network_intensity; /* 0 to 1 */
	const char *indicators[DIAGNOSIS_LIST_MAX];
	size_t indicator_count;
	const char *workload_type; /* "file_io_intensive", ..., "insufficient_data" */
	double bottleneck_likelihood;
	const char *hints[DIAGNOSIS_LIST_MAX];
	size_t hint_count;
};

enum offcpu_bottleneck {
	OFFCPU_IO_BLOCKED,
	OFFCPU_LOCK_CONTENTION,
	OFFCPU_SLEEP,
	OFFCPU_MIXED,
	OFFCPU_UNKNOWN,
	OFFCPU_BOTTLENECK_COUNT,
};

extern const char *const offcpu_bottleneck_names[OFFCPU_BOTTLENECK_COUNT];

/* Percentages are of all off-CPU time, which includes waiting for a CPU. */
struct offcpu_analysis {
	bool measured; /* the ledger was */
	enum offcpu_bottleneck bottleneck;
	double io_wait_percentage, lock_contention_percentage, sleep_percentage;
	double run_queue_percentage;
	const char *hints[DIAGNOSIS_LIST_MAX];
	size_t hint_count;
	const char *bottlenecks[DIAGNOSIS_LIST_MAX]; /* sentences for the seed's `bottlenecks` */
	size_t bottleneck_count;
};

struct diagnosis {
	struct syscall_analysis syscalls;
	struct offcpu_analysis offcpu;
	struct verdict verdict;
};

/* The run must be complete: call tree_sum_up() first. */
void diagnose(const struct run *run, struct diagnosis *ret);

/*
 * How sure an answer is: a lower bound of the share of such answers that was right where nobody knew the rules
 * (see causes.def), and no more than what such a score is worth.
 */
double verdict_confidence(enum run_cause cause, double score);

/* Copies a line of evidence, whose names are escaped; one that is too wide ends with "…". */
void verdict_copy_line(const char *line, char to[DIAGNOSIS_TEXT]);

/* A verdict that it waits to be woken becomes that it sleeps: the wait has a time limit. */
void verdict_say_timed(struct verdict *verdict);

struct verdict_facts;

/* The other parts follow from what the verdict says and is based on, so that none contradicts it. */
void syscalls_analyze(const struct run *run, const struct verdict *verdict,
		      struct syscall_analysis *ret);
void offcpu_analyze(const struct verdict_facts *facts, struct offcpu_analysis *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A job is a named span: a command, a tree of processes or a cgroup, with steps inside and an
 * outcome.  Each run of a name is a job of its own, with its own id.  `run --job` makes one and
 * measures it itself; `job start` marks one that a recorder measures, and without a recorder only
 * its times and outcome are known.
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"
#include "model/tree/tree_event.h"

enum job_value {
#define JOB_VALUE(id, ...) JOB_##id,
#include "model/record/job/job_values.def"
	JOB_VALUE_COUNT,
};

extern const struct job_value_info {
	const char *name;
	enum metric_unit unit;
	const char *help;
} job_values[JOB_VALUE_COUNT];

struct job_figures {
	uint64_t present; /* a bit for each enum job_value */
	double values[JOB_VALUE_COUNT];
};

static inline bool job_has(const struct job_figures *figures, enum job_value value)
{
	return figures->present >> value & 1;
}

static inline void job_set(struct job_figures *figures, enum job_value value, double number)
{
	figures->values[value] = number;
	figures->present |= UINT64_C(1) << value;
}

/* Further numbers cannot be counts, nanoseconds or bytes: a stranger or a damaged file has them. */
#define JOB_FIGURE_MOST 0x1p62

static inline void job_set_read(struct job_figures *figures, enum job_value value, double number)
{
	if (number >= 0 && number < JOB_FIGURE_MOST)
		job_set(figures, value, number);
}

/* Those that `with` has count. */
static inline void job_figures_replace(struct job_figures *figures, const struct job_figures *with)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		if (job_has(with, (enum job_value)i))
			job_set(figures, (enum job_value)i, with->values[i]);
}

enum job_outcome {
	JOB_RUNNING, /* NULL in the store */
	JOB_SUCCESS,
	JOB_FAILURE,
	JOB_UNKNOWN, /* nobody saw its end */
	JOB_OUTCOME_COUNT,
};

extern const char *const job_outcome_names[JOB_OUTCOME_COUNT];
/* The outcome of that name, or -1. */
int job_outcome_find(const char *name);

/* How `peak_memory_bytes` was found. */
enum job_memory {
	JOB_MEMORY_UNKNOWN,
	JOB_MEMORY_CGROUP, /* the kernel's peak of a cgroup that is the job's alone */
	JOB_MEMORY_PSS,	   /* the largest sum at one tick: shared pages are counted in part */
	JOB_MEMORY_RSS,	   /* the same of RSS: shared pages are counted for each process */
	JOB_MEMORY_COUNT,
};

/* Adds what a further part of the same had: sums grow, peaks are the larger one. */
void job_figures_add(struct job_figures *figures, enum job_memory *memory,
		     const struct job_figures *part, enum job_memory part_memory);

extern const char *const job_memory_names[JOB_MEMORY_COUNT]; /* "cgroup", "pss", "rss" */

/*
 * When something begins or ends.  The wall clock may be set meanwhile, so a span is measured by the
 * clock of the boot, where both ends are of one boot.
 */
struct job_instant {
	uint64_t unix_ns, boottime_ns;
	const char *boot_id;
};

/* Texts belong to whoever made the struct. */
struct job {
	uint64_t id; /* in its recording; 0: it has none yet */
	const char *name;
	uint64_t begin_unix_ns, end_unix_ns; /* end 0: it runs, or nobody saw its end */
	const char *boot_id;		     /* in which it began; NULL: not known */
	uint64_t begin_boottime_ns;	     /* 0: not known */
	uint64_t duration_ns;		     /* 0: it runs, or nobody saw its end */
	enum job_outcome outcome;
	bool has_status;
	int status;	      /* of its first process, as wait() has it */
	struct task_key root; /* all 0: none, as with a cgroup */
	const char *cgroup;   /* NULL: none */
	const char *cmd;
	/*
	 * Directory of --watch; NULL: none.  Of those below it only directories of the job's user are
	 * looked into: a recorder may read what the user may not.
	 */
	const char *watched;
	uint32_t uid;	/* whose it is */
	uint64_t steps; /* how many it said it would have; 0: not said */
	struct job_figures figures;
	enum job_memory memory;
	const char *absent;  /* why figures are missing, a sentence; NULL: none is */
	const char *details; /* what limited it, for people; NULL: not known */
};

struct job_step {
	uint64_t job;
	const char *name; /* a number, mostly */
	uint64_t begin_unix_ns, end_unix_ns;
	uint64_t begin_boottime_ns, duration_ns; /* as those of the job */
	struct task_key root; /* of a step that is a process and all that it forks; all 0: none */
	enum job_outcome outcome;
	struct job_figures figures;
	enum job_memory memory;
	const char *details; /* as of the job */
};

void job_begin(struct job *job, const struct job_instant *now);
void job_end(struct job *job, enum job_outcome outcome, const struct job_instant *now);
void job_step_begin(struct job_step *step, const struct job_instant *now);
/* `boot_id` is the job's. */
void job_step_end(struct job_step *step, const char *boot_id, enum job_outcome outcome,
		  const struct job_instant *now);
/* How long it has taken so far, or took. */
uint64_t job_duration_ns(const struct job *job, const struct job_instant *now);

/* What happened in a job.  `context` is what the host and the process did then, as JSON. */
enum job_event_kind {
	JOB_EVENT_START,
	JOB_EVENT_STEP,
	JOB_EVENT_END,
	JOB_EVENT_EXIT, /* of a process, with another status than 0 */
	JOB_EVENT_SIGNAL,
	JOB_EVENT_KILL,
	JOB_EVENT_OOM,
	JOB_EVENT_ANOMALY,
	JOB_EVENT_FILE_CREATED,
	JOB_EVENT_FILE_CHANGED,
	JOB_EVENT_FILE_DELETED,
	JOB_EVENT_LOST, /* events beyond what is kept: `count` of them */
	JOB_EVENT_KIND_COUNT,
};

extern const char *const job_event_names[JOB_EVENT_KIND_COUNT];

struct job_event {
	uint64_t job;
	const char *step; /* NULL: none */
	enum job_event_kind kind;
	uint64_t unix_ns;
	struct task_key task; /* all 0: none */
	const char *comm;     /* NULL: not known */
	const char *details;  /* for people */
	const char *context;  /* JSON, or NULL */
	uint64_t count;	      /* of JOB_EVENT_LOST; else 1 */
};

/* System calls of a job, or of one of its steps. */
struct job_syscall {
	const char *name;
	uint64_t calls, errors, time_ns;
};

/* Something that goes with failure, or an anomaly inside a job. */
enum pattern_kind { PATTERN_CORRELATION, PATTERN_ANOMALY, PATTERN_KIND_COUNT };

extern const char *const pattern_kind_names[PATTERN_KIND_COUNT]; /* "correlation", "anomaly" */

struct pattern {
	uint64_t unix_ns;
	enum pattern_kind kind;
	const char *name;    /* a sentence; the same name is the same pattern, seen again */
	uint64_t jobs;	     /* of the group; with `adds`, of which the store has not counted any */
	bool adds;	     /* its jobs come on top of those that were counted before */
	uint64_t failures;   /* in the group; this and the next two of correlations alone */
	double rate;	     /* of failures in the group */
	double p_value;	     /* corrected; confidence is 1 less this */
	const char *details; /* JSON: bin, interval, other group */
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A snapshot: everything read from one host at one moment.  It has the processes and threads that
 * lived, their names, and their metric values.
 *
 * Values are in columns, one for each stored metric, with a row for each thread (METRIC_OF_THREAD)
 * or process (METRIC_OF_PROCESS).  Every cell knows whether it was measured; a metric that was not
 * measured has a reason.
 *
 * A snapshot owns all memory reachable from it.  Pointers into its tables move
 * when rows are added; strings stay valid until snapshot_free().
 *
 * Only one thread may add rows and strings.  Once the rows exist, several threads may set cells of
 * different rows.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "base/collection/number_map.h"
#include "metric/metric.h"
#include "model/snapshot/sheet.h"
#include "model/snapshot/source_report.h"

/*
 * A thread.  Together with the boot id, (tgid, tid, start_time_ns) identifies it for ever.  The
 * start time is in whole clock ticks in every source, since /proc has no finer one.
 *
 * A run also has rows that stand for several threads: their tid is 0, and the metrics thread_count
 * and process_count say how many.  Such a row belongs to a real process, or to a process row with
 * tgid 0, which stands for several processes of one program.
 */
struct task {
	int32_t tid;
	uint32_t process;	/* row in processes */
	uint64_t start_time_ns; /* since boot */
	uint32_t comm;		/* strings by their number in the dictionary */
	uint32_t cgroup;
	uint32_t scope; /* label of its innermost open scope, 0 when none or not known */
};

struct process {
	int32_t tgid;
	uint32_t first_task; /* the leader's row, or the lowest tid's; set by snapshot_finish() */
	uint32_t pcomm;
	uint32_t cmdline; /* 0 when not read */
	uint32_t exe;	  /* path of the program, 0 when it has none or it was not read */
	uint32_t user;	  /* name of the effective user, 0 when not known */
	int32_t parent;	  /* tgid of the process that started it, 0 when not known */
	uint64_t start_time_ns;
};

enum fact_id {
#define FACT(id, ...) FACT_##id,
#include "model/snapshot/facts.def"
	FACT_COUNT,
};

struct fact {
	bool present;
	uint64_t number;
	const char *text;
};

struct fact_info {
	const char *name;
	bool is_text;
};

extern const struct fact_info facts[FACT_COUNT];

/* Losses and oddities of the capture; normally each is 0. */
struct capture_tally {
	uint64_t tids_walked;		 /* tasks that were listed */
	uint64_t vanished;		 /* ended while being read: dropped, with their failures */
	uint64_t negative_dotted_values; /* times below zero in sched files: dropped */
	uint64_t discarded_values;	 /* impossible values that the kernel gave: dropped */
	uint64_t processes_ended;	 /* before their own files were read */
	uint64_t gap_filled; /* tasks that the iterator did not list, read from procfs */
};

/* How many tasks a filter left out, and why; texts are in the snapshot's arena. */
struct filter_report {
	const char *text; /* of the filter; NULL: there was none */
	uint64_t tasks;	  /* before */
	uint64_t left;	  /* after */
	struct filter_absence {
		const char *name;   /* what could not be compared */
		const char *reason; /* why it is absent */
		uint64_t tasks;	    /* that were left out for that alone; 0 ends the list */
	} * absences;
};

#define SNAPSHOT_SOURCES 32

/* What a sheet's rows are, and their keys. */
enum sheet_id {
	SHEET_HOST,	 /* one row, key 0: pressure, sched_ext, tunables */
	SHEET_CAPTURE,	 /* one row, key 0: how the sources did in detail */
	SHEET_CGROUPS,	 /* key: the path, as a string's number; parents included */
	SHEET_PROCESSES, /* key: row of the process; only processes that have readings */
	SHEET_STATES,	 /* their number; they show one moment, those below a run's past */
	/* Only in a run; model/run/run_snapshot.c defines the columns. */
	SHEET_RUN = SHEET_STATES, /* one row, key 0: the run as a whole */
	SHEET_RUN_PROCESSES,	  /* key: row of the process */
	SHEET_RUN_THREADS,	  /* key: row of the task */
	SHEET_SYSCALLS,		  /* key: name of the call, as a string's number */
	SHEET_CGROUPS_BEGIN,	  /* as SHEET_CGROUPS, when the run began */
	SHEET_HOST_BEGIN,	  /* from here on all keys are 0 */
	SHEET_TOP_WAITS,
	SHEET_PHASES,
	SHEET_EVENTS,
	SHEET_SAMPLES,
	SHEET_PATH,	     /* parts of the critical path */
	SHEET_PATH_SEGMENTS, /* its longest stretches */
	SHEET_DEADLOCK,	     /* threads that waited for each other, in that order */
	SHEET_STACK_FRAMES,  /* the profile: model/run/run_profile.c */
	SHEET_STACK_NODES,   /* the first row is node 1 */
	SHEET_STACK_SAMPLES,
	SHEET_SEGMENTS,	 /* stretches of the run, in their order */
	SHEET_GPU_USERS, /* processes that used GPUs */
	SHEET_COUNT,
};

struct snapshot {
	struct arena arena;
	struct dictionary *strings;

	struct process *processes;
	size_t process_count, process_capacity;
	struct task *tasks;
	size_t task_count, task_capacity;
	struct number_map process_index; /* by tgid: the row plus one, as a pointer */

	struct column columns[METRIC_STORED];

	struct fact facts[FACT_COUNT];
	struct source_report sources[SNAPSHOT_SOURCES];
	size_t source_count;
	struct capture_tally tally;
	struct sheet sheets[SHEET_COUNT];
	struct number_map process_rows; /* the same for SHEET_PROCESSES, by row of the process */
	/*
	 * Above 0 only in memory: the counters are what was done in this time
	 * (analyze/compare/interval_snapshot.h), not totals.
	 */
	uint64_t interval_ns;
	struct filter_report filter; /* only in memory, too (analyze/filter/filter.h) */
};

/* Returns 0 and a snapshot the caller frees, or -ENOMEM. */
int snapshot_new(struct snapshot **ret);
void snapshot_free(struct snapshot *snapshot);		/* NULL is allowed */
CLEANUP_POINTER(snapshot_free, struct snapshot)

/* Gives a text's number in the dictionary; equal texts have equal numbers.  0 or -ENOMEM. */
int snapshot_intern(struct snapshot *snapshot, const char *text, size_t length, uint32_t *ret_id);
const char *snapshot_text(const struct snapshot *snapshot, uint32_t id);

/* The row of the process `tgid`, added when it is new.  0 or -ENOMEM. */
int snapshot_process(struct snapshot *snapshot, int32_t tgid, uint32_t *ret_row);
/* Adds another row for `tgid`: in a run several processes may have had it.  0 or -ENOMEM. */
int snapshot_add_process(struct snapshot *snapshot, int32_t tgid, uint32_t *ret_row);
/* The row of `tgid`, the last one if there are several, or -1. */
int64_t snapshot_find_process(const struct snapshot *snapshot, int32_t tgid);
/* The parent of a process: a run has it in the row, a capture as a metric.  0: not known, or none. */
int32_t snapshot_parent(const struct snapshot *snapshot, uint32_t row);

/* Makes room for so many tasks in all, at best before the first one is added.  0 or -ENOMEM. */
int snapshot_reserve(struct snapshot *snapshot, size_t tasks);

/* Adds a task and gives its row.  0 or -ENOMEM. */
int snapshot_add_task(struct snapshot *snapshot, const struct task *task, uint32_t *ret_row);

/* How many rows a metric's column has. */
static inline size_t snapshot_rows(const struct snapshot *snapshot, enum metric_id id)
{
	return metrics[id].scope == METRIC_OF_THREAD ? snapshot->task_count :
						       snapshot->process_count;
}

/*
 * Allocates the column's cells; needed before snapshot_set().  Call it from one
 * thread.  0 or -ENOMEM.
 */
int snapshot_need_column(struct snapshot *snapshot, enum metric_id id);

static inline void snapshot_set(struct snapshot *snapshot, enum metric_id id, uint32_t row,
				uint64_t value)
{
	column_set(&snapshot->columns[id], row, CELL_NUMBER, value);
}

/* Makes a cell absent; does nothing when it is absent already. */
static inline void snapshot_clear(struct snapshot *snapshot, enum metric_id id, uint32_t row)
{
	if (snapshot->columns[id].values)
		snapshot->columns[id].states[row] = CELL_ABSENT;
}

static inline bool snapshot_get(const struct snapshot *snapshot, enum metric_id id, uint32_t row,
				uint64_t *ret)
{
	return column_get(&snapshot->columns[id], row, ret) != CELL_ABSENT;
}

/* How many cells of the metric are set. */
size_t snapshot_measured(const struct snapshot *snapshot, enum metric_id id);

/* Copies the text.  When memory runs out the fact stays absent, and -ENOMEM is returned. */
int snapshot_set_fact_text(struct snapshot *snapshot, enum fact_id id, const char *text);
void snapshot_set_fact_number(struct snapshot *snapshot, enum fact_id id, uint64_t number);

/*
 * Sets the reason why a metric is absent; only the first one is kept.  Copies the text.  0 or
 * -ENOMEM.
 */
int snapshot_set_absent(struct snapshot *snapshot, enum metric_id id, const char *reason);

/*
 * The report of that name, added when it is new.  The name is copied.  NULL when the table is full
 * or memory runs out.
 */
struct source_report *snapshot_source(struct snapshot *snapshot, const char *name);

/* Whether this is a run (a tree at its end, with its past).  Otherwise it is a capture. */
static inline bool snapshot_is_run(const struct snapshot *snapshot)
{
	return snapshot->facts[FACT_recording].present;
}

/* The sheet's name in files: "host", "capture", "cgroups", "processes", ... */
const char *sheet_name(enum sheet_id id);

/*
 * Sets a cell of the only row of the host's or the capture's sheet; adds the row when it is
 * missing.  Errors as sheet_set().
 */
int snapshot_note_number(struct snapshot *snapshot, enum sheet_id id, const char *name,
			 uint64_t number);
int snapshot_note_text(struct snapshot *snapshot, enum sheet_id id, const char *name,
		       const char *text);

/*
 * The row of SHEET_PROCESSES that is about a process, added when it is new.  Process rows must not
 * move any more.  0 or -ENOMEM.
 */
int snapshot_process_row(struct snapshot *snapshot, uint32_t process, uint32_t *ret_row);

/*
 * Gives a copy of the processes and tasks with their metrics, of the facts and of what the sources
 * reported; sheets are left out.  The caller frees it.  0 or -ENOMEM.
 */
int snapshot_copy_tasks(const struct snapshot *snapshot, struct snapshot **ret);

/* Drops the tasks for which keep[row] is 0, and processes that have no task left. */
int snapshot_keep(struct snapshot *snapshot, const uint8_t *keep);

/*
 * Leaves two rows of each process: its first task, and one with tid 0 that stands for all its other
 * threads (see struct task).  Values that cannot be added up are absent there.  0 or -ENOMEM.
 */
int snapshot_fold_threads(struct snapshot *snapshot);

/* Puts the columns of every sheet in order.  After the last reading.  0 or -ENOMEM. */
int snapshot_finish_sheets(struct snapshot *snapshot);

/*
 * Sorts processes by (tgid, start time) and tasks by (process, tid), and sets each process's first
 * task.  A collector's last step.  0 or -ENOMEM.
 */
int snapshot_finish(struct snapshot *snapshot);

/*
 * Whether rows are in that order, every task has a process, and in a capture no two processes have
 * the same tgid.
 */
bool snapshot_is_finished(const struct snapshot *snapshot);

#endif

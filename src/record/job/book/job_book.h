/* SPDX-License-Identifier: MIT */
/*
 * This room is what the tracker of jobs is made of.
 *
 *	job_book	who belongs to which job and step, and what these used: pure
 *	job_reading	processes and cgroups, read out of turn
 *	job_calls	system calls of jobs
 *	job_watch	files below the directory of --watch
 *	job_survey	which directories these are
 *
 * Times, events, snapshots and readings of processes come to the book from its caller.
 *
 * What a process used counts from the reading with which it was added: 0 for one that began in the
 * job.  What that reading lacks counts from the next one that has it.  Each later reading adds what
 * it is larger by, so totals never fall.
 */
#ifndef RECORD_JOB_BOOK_H
#define RECORD_JOB_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "model/record/job/job.h"

struct life_event;
struct process_total;
struct snapshot;

#define JOB_MEMBERS_MOST 65536

/* What a process used since it began; a part may not be known. */
struct job_use {
	bool has_run_time, has_bytes, has_peak, has_rss;
	uint64_t run_time_ns, read_bytes, write_bytes;
	uint64_t peak_rss_bytes, rss_bytes;
};

/* What one that has just begun used. */
extern const struct job_use job_use_nothing;

struct job_family {
	ARRAY_OF(struct task_key) list;
};

/* What is found out from tick to tick, of a job or a step. */
struct job_window {
	uint64_t rss_bytes; /* of all its processes at this tick */
	bool has_rss;
	struct job_figures gpu; /* sums of what its processes use of GPUs at this tick */
	uint64_t since_ns;	/* CLOCK_BOOTTIME */
	double run_time_ns;
};

struct book_step {
	struct job_step row;  /* the name is owned */
	struct task_key root; /* all 0: none */
	bool is_open;
	bool has_changed; /* since it was written */
	struct job_window window;
	struct job_figures measured; /* elsewhere: these count */
	uint64_t measured_ns;	     /* how long that took */
};

/* Why figures of a job may lack something. */
struct job_gaps {
	uint64_t lost_events;  /* of the host while it ran */
	uint64_t lost_members; /* that found no room */
	uint64_t unseen_ends;  /* processes that were gone at a tick, and no event told */
	uint64_t unread;       /* processes that lived at its begin or end and could not be read */
	uint64_t late;	       /* readings that marks had no time for: as of the last tick */
	uint64_t away_ns;      /* while no recorder ran */
	uint64_t lent;	       /* processes that were part of a job inside it for a while */
};

struct book_job {
	struct job row; /* its texts are owned */
	uint64_t outer; /* id of the job that its first process was part of; 0: none */
	ARRAY_OF(struct book_step *) steps;
	struct book_step *current;  /* the newest one without a root that runs */
	const char *last_completed; /* name of a step; NULL: none */
	size_t members, ours;	    /* those that are taskscope's own are among the members */
	uint32_t counted;	    /* as the book's, when it began */
	bool has_changed;
	struct job_window window;
	struct job_gaps gaps;
	struct job_instant ended;     /* when its first process ended, unless all 0 */
	struct job_use cgroup_before; /* of its own cgroup at the begin */
	uint64_t cgroup_peak_before;
	bool has_cgroup_use, has_cgroup_peak;
	bool is_measured_elsewhere;
	uint32_t event_counts[JOB_EVENT_KIND_COUNT];
	uint64_t lost_job_events;
	ARRAY_OF(uint64_t) patterns; /* in which it was counted: hashes of their names */
	char *unwatched; /* why this recorder does not watch its directory; NULL: it does */
};

struct book_member {
	struct task_key key;
	size_t place; /* in the book's list */
	struct book_job *job;
	/*
	 * The step that ran when it began.  NULL: none did; then it works for the one that runs
	 * now, if any.
	 */
	struct book_step *step;
	struct job_use counted;
	bool is_native; /* it began in the job */
	bool is_kept;	/* the store knows whose it is */
	/*
	 * taskscope itself, which runs the command of the job or step; and whatever it forks, as long
	 * as that has run no program.  What these use does not count.
	 */
	bool is_watcher, is_ours;
	uint8_t absences;
};

/* All zeros but `source` is an empty book. */
struct job_book {
	struct number_map by_pid;
	ARRAY_OF(struct book_member *) members;
	ARRAY_OF(struct book_job *) jobs; /* the oldest first */
	ARRAY_OF(struct task_key) ended;  /* that the next snapshots may still have */
	bool ended_is_sorted;
	size_t members_max;  /* 0: JOB_MEMBERS_MOST; tests set less */
	uint32_t counted;    /* a bit for each enum job_value that the source of events can count */
	bool knows_programs; /* the source tells of each exec */
};

void job_book_clear(struct job_book *book);

struct book_job *job_book_find(const struct job_book *book, uint64_t id);
struct book_member *job_book_member(const struct job_book *book, const struct task_key *key);
/* Whether its end was told already: a snapshot that was taken before it, or a zombie, has it still. */
bool job_book_has_ended(struct job_book *book, const struct task_key *key);
/* The step that the process works for now, or NULL. */
struct book_step *job_book_step_of(const struct book_member *member);

/*
 * Adds a job with copies of the row's texts, which begins now unless the row says when.  NULL: out of
 * memory.
 */
struct book_job *job_book_begin(struct job_book *book, const struct job *row,
				const struct job_instant *now);
/* The oldest first, of jobs that were added the newest first. */
void job_book_reverse(struct job_book *book);

enum join_kind {
	JOIN_LIVING, /* it lived before */
	JOIN_NEW,    /* it began in the job */
	JOIN_AGAIN,  /* it was part of it before, and was counted then */
	JOIN_OURS,   /* it is taskscope's own, and does not count */
};

/*
 * Makes a process part of a job, and of the step (NULL: as said above); one that was part of another
 * job leaves that one.  False when there was no room, which is counted.
 */
bool job_book_join(struct job_book *book, struct book_job *job, struct book_step *step,
		   const struct task_key *key, const struct job_use *use, enum join_kind kind);
/* A process that only marks is no part of the job: takes it out again. */
void job_book_exclude(struct job_book *book, const struct task_key *key);
/* The process is taskscope, which runs a command of the job: it does not count, nor did it ever begin. */
void job_book_note_watcher(struct job_book *book, const struct task_key *key);
/* Counts what a process used up to now. */
void job_book_read(struct book_member *member, const struct job_use *use);
/* Memory of all processes of the job and its steps, from their readings: between a begin and a take. */
void job_book_begin_rss(struct book_job *job);
void job_book_add_rss(struct book_member *member, uint64_t rss_bytes);
void job_book_take_rss(struct book_job *job);
/* The step of that name, new or open again; NULL: out of memory. */
struct book_step *job_book_open_step(struct book_job *job, const char *name,
				     const struct task_key *root, const struct job_instant *now);
void job_book_close_step(struct book_job *job, struct book_step *step, enum job_outcome outcome,
			 const struct job_instant *now);
struct book_step *job_book_find_step(const struct book_job *job, const char *name);
/* Its processes become part of the job around it, if that runs, else of none. */
void job_book_end(struct job_book *book, struct book_job *job);

/*
 * Takes an event of the host; returns the job whose process it is about, or NULL, with the step that
 * the process works for.  A LIFE_LOST is noted in all jobs.
 */
struct book_job *job_book_take_event(struct job_book *book, const struct life_event *event,
				     const struct job_instant *now, struct book_step **ret_step);

/*
 * Takes a tick; `cpu` has the CPU time of its processes, by row.  With `finds_new`, children of
 * members that no event told of are added, as events may be missing.
 */
void job_book_take_tick(struct job_book *book, const struct snapshot *snapshot,
			const struct process_total *cpu, bool finds_new,
			const struct job_instant *now);

/* Ends the span over which the CPU of a job and its open steps is a peak: at ticks, and at the end. */
void job_book_close_windows(struct book_job *job, uint64_t now_ns, bool is_last);

static inline void job_add(struct job_figures *figures, enum job_value value, double number)
{
	job_set(figures, value, (job_has(figures, value) ? figures->values[value] : 0) + number);
}

/* True when it rose. */
static inline bool job_raise(struct job_figures *figures, enum job_value value, double number)
{
	if (job_has(figures, value) && figures->values[value] >= number)
		return false;
	job_set(figures, value, number);
	return true;
}

#endif

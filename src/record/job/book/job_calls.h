/* SPDX-License-Identifier: MIT */
/*
 * System calls of jobs and their steps, where the recorder has them (--syscalls).  They are read at
 * ticks: so processes that ended since the last one are remembered until then, and jobs that ended
 * get their last calls with the next tick.
 */
#ifndef RECORD_JOB_CALLS_H
#define RECORD_JOB_CALLS_H

#include "record/job/book/job_book.h"

struct call_table;
struct error;
struct recorder;

/* A process that was part of a job since the last tick. */
struct former_member {
	struct task_key key;
	struct call_table *job, *step; /* step NULL: none */
};

/* All zeros is empty and valid. */
struct job_calls {
	ARRAY_OF(struct call_table *) tables;
	ARRAY_OF(struct former_member) former;
	uint64_t lost; /* processes whose last calls are in no job's table */
};

void job_calls_clear(struct job_calls *calls);

/* Before a process leaves its job. */
void job_calls_note(struct job_calls *calls, struct recorder *recorder,
		    const struct book_member *member);
/* At a tick: adds up the calls since the last one, and writes what changed. */
int job_calls_keep(struct job_calls *calls, struct recorder *recorder, const struct job_book *book,
		   struct error *error);

#endif

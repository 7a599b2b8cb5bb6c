/* SPDX-License-Identifier: MIT */
/*
 * The job that a run is (run --job): it joins a running job of that name as a step, or is a job of
 * its own.  Nothing that fails here changes what the command does.
 */
#ifndef CLI_RUN_JOB_H
#define CLI_RUN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "record/job/mark/job_place.h"

struct run;

struct run_job {
	const char *name, *step; /* as people gave them; step NULL: none */
	struct job_place place;
	uint64_t job; /* 0: there is none */
	char id[24];  /* the same, as a mark names it */
	bool joins;
	char used_step[JOB_NAME_SIZE]; /* "": none */
};

/* Whether the names are such as jobs have: 0, or -EINVAL with a sentence. */
int run_job_check(const struct run_job *job, struct error *error);
/* 0, or a negative errno with a sentence: then there is no job. */
int run_job_begin(struct run_job *job, char *const *words, struct error *error);
/*
 * `exit_status` is what taskscope will exit with; `run` is what it saw, NULL: nothing.  0, or a negative
 * errno with a sentence.
 */
int run_job_end(struct run_job *job, const struct run *run, int exit_status, struct error *error);

#endif

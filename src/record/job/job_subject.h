/* SPDX-License-Identifier: MIT */
/*
 * What a job is about: a process or a cgroup of this host, and whether these are still there.
 */
#ifndef RECORD_JOB_SUBJECT_H
#define RECORD_JOB_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/record/job/job.h"

struct error;
struct host;
struct job_mark;

/* This host, now.  The instant's boot is the struct's. */
struct job_scene {
	const struct host *host;
	char boot_id[64];
	struct job_instant now;
};

void job_scene_look(struct job_scene *scene, const struct host *host);

/* When the process began; false when it is not there, or has ended. */
bool job_process_start(const struct host *host, int32_t pid, uint64_t *ret_start_ns);

/*
 * Checks that the process, the cgroup and the watched directory of a mark are there, and belong to
 * the mark's user unless that is root; fills in when the process began.  0, or a negative errno with
 * a sentence.
 */
int job_subject_check(const struct job_scene *scene, struct job_mark *mark, struct error *error);

/* Whether a job that has no end may still run (job_lives of the store; the context is a scene). */
bool job_subject_lives(void *scene, const struct job *job);
/*
 * For readers: a job that has no end in the store and cannot run any more has the outcome
 * JOB_UNKNOWN, though nobody has written that yet.
 */
void job_subject_judge(const struct job_scene *scene, struct job *job);

#endif

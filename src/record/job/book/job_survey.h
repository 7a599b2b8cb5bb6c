/* SPDX-License-Identifier: MIT */
/*
 * Finds directories to watch for a job, and adds them to an inotify instance, with the rights of the
 * job's user.  The file system may be the user's own and not answer: so it is done in a thread with a
 * deadline.
 */
#ifndef RECORD_JOB_SURVEY_H
#define RECORD_JOB_SURVEY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"

struct watched_directory {
	int watch;
	char *path; /* below the job's directory; "" is that itself */
};

struct job_survey {
	/* What to do; descriptors are copies of its own, and path as well. */
	uid_t uid;
	int inotify;
	int root;    /* the job's directory; -1: `path` is its absolute path, and it is opened */
	char *path;  /* else below it */
	bool is_new; /* what is in it was made just now */
	uint64_t directories_most, entries_most;
	/* What was found. */
	int status; /* of the first directory: 0, or a negative errno; -EPERM: it belongs to another user */
	ARRAY_OF(struct watched_directory) directories;
	ARRAY_OF(char *) files; /* in what is new */
	uint64_t entries;	/* that were looked at */
	uint64_t lost;
};

/*
 * A survey that is to be run, with copies of the descriptors (root may be -1) and the path; NULL: out
 * of memory or descriptors.
 */
struct job_survey *job_survey_new(uid_t uid, int inotify, int root, const char *path);
void job_survey_free(struct job_survey *survey); /* NULL is allowed */

/* Returns 0 when it is done; else the survey is no longer the caller's: -ETIMEDOUT, -EAGAIN. */
int job_survey_run(struct job_survey *survey);

#endif

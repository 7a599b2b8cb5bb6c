/* SPDX-License-Identifier: MIT */
/*
 * Where a mark goes: to the recorder whose socket may be used, which measures the job; else straight
 * to the caller's own store.
 */
#ifndef RECORD_JOB_PLACE_H
#define RECORD_JOB_PLACE_H

#include <limits.h>

#include "record/job/mark/job_mark.h"

struct job_place {
	const char *store, *socket; /* as people named them; NULL: not */
	/* Where the last mark went, for the next one of the same job. */
	char used_socket[PATH_MAX], used_store[PATH_MAX];
};

/*
 * Brings the mark there.  Whoever has no such job is passed over; ret->job is 0 when nobody has.
 * 0, or a negative errno with a sentence.
 */
int job_place_mark(struct job_place *place, struct job_mark *mark, struct job_marked *ret,
		   struct error *error);
/*
 * Asks the recorder that takes the marks of the caller, or the one at a socket (NULL: none was named).
 * 0 and its answer, which the caller frees; -ENOENT when there is none; or another negative errno with
 * a sentence.
 */
int job_place_ask(const char *socket, const char *method, const char *parameters, char **ret,
		  struct error *error);
/*
 * The same of the recorder that takes the marks of the caller and whose store is not the
 * caller's: root's, or the one at a socket (NULL: none was named). -ENOENT without a sentence
 * when there is none.
 */
int job_place_ask_root(const char *socket, const char *method, const char *parameters, char **ret,
		       struct error *error);

#endif

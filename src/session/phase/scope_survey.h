/* SPDX-License-Identifier: MIT */
/* Reads the scopes of processes that use libtaskscope, without stopping them. */
#ifndef SESSION_SCOPE_SURVEY_H
#define SESSION_SCOPE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct host;
struct scope_survey;

/*
 * Adds one process, searched thoroughly.  0, or a negative errno with a sentence: -ENOENT when it
 * has no scopes, else an error of scope_reader_open().
 */
int scope_survey_process(const struct host *host, int32_t pid, bool with_statistics,
			 struct scope_survey *survey, struct error *error);

/* Adds every process of the host that has scopes and that we may read; counts the others. */
int scope_survey_all(const struct host *host, bool with_statistics, struct scope_survey *survey,
		     struct error *error);

#endif

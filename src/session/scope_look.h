/* SPDX-License-Identifier: MIT */
/*
 * Looks at processes that use libtaskscope, without stopping them.
 */
#ifndef SESSION_SCOPE_LOOK_H
#define SESSION_SCOPE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct host;
struct scope_survey;

/*
 * Adds one process, looked for everywhere.  0, or a negative errno with a sentence: -ENOENT when it has
 * no scopes, else as scope_reader_open() has it.
 */
int scope_look_at(const struct host *host, int32_t pid, bool with_statistics,
		  struct scope_survey *survey, struct error *error);

/* Adds every process of the host that has scopes and that we may read; counts the others. */
int scope_look_around(const struct host *host, bool with_statistics, struct scope_survey *survey,
		      struct error *error);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the programs of a host that use libtaskscope say about themselves, with what the kernel says of
 * the same threads.
 */
#ifndef MODEL_SCOPE_SURVEY_H
#define MODEL_SCOPE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/scopes.h"

#define SCOPE_COMM_SIZE 64 /* kernel threads have longer names than others */

struct scope_survey_thread {
	char comm[SCOPE_COMM_SIZE];
	char state; /* as the kernel has it: R S D T ... */
};

struct scope_survey_process {
	char comm[SCOPE_COMM_SIZE];
	struct scopes scopes;
	ARRAY_OF(struct scope_survey_thread) threads; /* as many as scopes.tasks, in that order */
};

/* All zeros is empty and valid. */
struct scope_survey {
	ARRAY_OF(struct scope_survey_process) processes;
	size_t denied; /* processes that we may not look into, */
	size_t hidden; /* and those of them that have scopes, by the name of their heartbeat */
	size_t broken; /* whose memory is no such memory */
};

void scope_survey_free(struct scope_survey *survey);

#endif

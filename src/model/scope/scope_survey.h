/* SPDX-License-Identifier: MIT */
/*
 * A survey of the programs on a host that use libtaskscope: the scopes that they have open, and
 * the names and states that the kernel has for the same threads.
 */
#ifndef MODEL_SCOPE_SURVEY_H
#define MODEL_SCOPE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/scope/scopes.h"

#define SCOPE_COMM_SIZE 64 /* names of kernel threads can exceed 16 bytes */

struct scope_survey_thread {
	char comm[SCOPE_COMM_SIZE];
	char state; /* from the kernel: R S D T ... */
};

struct scope_survey_process {
	char comm[SCOPE_COMM_SIZE];
	struct scopes scopes;
	ARRAY_OF(struct scope_survey_thread) threads; /* as many as scopes.tasks, in that order */
};

/* All zeros is empty and valid. */
struct scope_survey {
	ARRAY_OF(struct scope_survey_process) processes;
	size_t denied; /* processes that we may not read, */
	size_t hidden; /* and those of them that have a thread named like a heartbeat */
	size_t broken; /* processes whose scope memory is not valid */
};

void scope_survey_process_clear(struct scope_survey_process *process);
void scope_survey_free(struct scope_survey *survey);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Parses process ids as people write them: 12,345.
 */
#ifndef CLI_PID_LIST_H
#define CLI_PID_LIST_H

#include <stdint.h>

#include "base/collection/array.h"

struct error;

struct pid_list {
	ARRAY_OF(int32_t) pids;
};

/* Adds the ids of a text.  0, or an error with a sentence. */
int pid_list_add(struct pid_list *list, const char *text, struct error *error);
/* Adds those of an option, which may be NULL, and those of words. */
int pid_list_read(struct pid_list *list, const char *option, char **words, int count,
		  struct error *error);
void pid_list_free(struct pid_list *list);

#endif

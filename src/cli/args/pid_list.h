/* SPDX-License-Identifier: MIT */
/*
 * Processes as people write them: 12,nginx.
 */
#ifndef CLI_PID_LIST_H
#define CLI_PID_LIST_H

#include <stdint.h>

#include "base/collection/array.h"

struct error;
struct host;
struct snapshot;

struct pid_list {
	ARRAY_OF(int32_t) pids;
};

/*
 * Adds the processes of a text, which may be NULL: numbers as they are, and for each name all
 * processes that have it, or that match it as a glob.  0, or an error with a sentence, also when
 * there is none of a name.
 */
int pid_list_add(struct pid_list *list, const struct host *host, const char *text,
		 struct error *error);
/* Adds those of an option, which may be NULL, and those of words. */
int pid_list_read(struct pid_list *list, const struct host *host, const char *option, char **words,
		  int count, struct error *error);
/* Adds the processes of a snapshot.  0, or an error with a sentence. */
int pid_list_take(struct pid_list *list, const struct snapshot *snapshot, struct error *error);
void pid_list_free(struct pid_list *list);

/* Whether a word is the number of a process, not a name; 0 is none. */
int32_t pid_of_word(const char *word, size_t length);

#endif

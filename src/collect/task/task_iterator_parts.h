/* SPDX-License-Identifier: MIT */
/* What the files of the task iterator share. */
#ifndef COLLECT_TASK_ITERATOR_PARTS_H
#define COLLECT_TASK_ITERATOR_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct activity_reader;
struct host;
struct task_decoder;
struct task_record;

/* The program that is loaded: one of two, of which only one also finds activity. */
struct task_iterator {
	struct task_program *plain;
	struct task_activity_program *active;
	int fd; /* of the loaded program */
	uint32_t *only_identity;
	uint32_t *left_out; /* sections that walks leave out, a bit each */
};

/* How many words of affinity masks records have. */
size_t task_affinity_words(const struct host *host);

/* Takes all complete records.  Returns how many bytes they have, or a negative errno. */
ssize_t task_records_each(const char *bytes, size_t length, size_t words,
			  int (*take)(void *context, struct task_record *record), void *context);

/* task_activity.c: a walk looks at activity from begin to end; `only` writes nothing else. */
void task_activity_begin(struct task_iterator *iterator, struct activity_reader *reader, bool only);
int task_activity_take(struct task_iterator *iterator, struct activity_reader *reader,
		       const struct task_decoder *decoder, const struct task_record *record);
void task_activity_end(struct task_iterator *iterator, struct activity_reader *reader);

#endif

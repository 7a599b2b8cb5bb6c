/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc_view.h"

#include <stdio.h>
#include <string.h>

/* part * whole / (part + rest), without overflow. */
static uint64_t scale(uint64_t part, uint64_t rest, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)part * whole / ((unsigned __int128)part + rest));
}

struct cputime cputime_adjust(struct cputime sampled, uint64_t runtime, struct cputime previous)
{
	struct cputime shown;

	/* The first comparison guards the second against overflow. */
	if (previous.stime >= runtime || previous.utime >= runtime - previous.stime)
		return previous;
	if (sampled.stime == 0)
		shown.stime = 0;
	else if (sampled.utime == 0)
		shown.stime = runtime;
	else
		shown.stime = scale(sampled.stime, sampled.utime, runtime);

	if (shown.stime < previous.stime)
		shown.stime = previous.stime;
	shown.utime = runtime - shown.stime;
	if (shown.utime < previous.utime) {
		shown.utime = previous.utime;
		shown.stime = runtime - shown.utime;
	}
	return shown;
}

size_t kernel_thread_name(const char comm[TASK_COMM_SIZE], const struct name_fields *fields,
			  char name[TASK_NAME_SIZE])
{
	size_t full = strnlen(fields->full, TASK_NAME_SIZE);
	size_t described = strnlen(fields->description, TASK_DESCRIPTION_SIZE);
	char text[2 * TASK_NAME_SIZE];
	int length;

	if (full && (!fields->is_worker || fields->has_full_worker_name))
		length = snprintf(text, sizeof(text), "%.*s", (int)full, fields->full);
	else
		length = snprintf(text, sizeof(text), "%.*s", TASK_COMM_SIZE, comm);
	if (fields->is_worker && described)
		length +=
			snprintf(text + length, sizeof(text) - (size_t)length, "%c%.*s",
				 fields->is_busy ? '+' : '-', (int)described, fields->description);
	if (length > TASK_NAME_SIZE - 1)
		length = TASK_NAME_SIZE - 1;
	memcpy(name, text, (size_t)length);
	return (size_t)length;
}

/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc_view.h"

#include <stdio.h>
#include <string.h>

/* Bits of a task's state: include/linux/sched.h. */
#define STATE_UNINTERRUPTIBLE 0x0002u
#define STATE_REPORTED 0x007fu
#define STATE_REPORTED_IDLE 0x0080u
#define STATE_IDLE 0x0402u /* uninterruptible, and no load */
#define STATE_LOCK_WAIT 0x1000u
#define STATE_FROZEN 0x8000u

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

char task_state_letter(uint32_t state, uint32_t exit_state)
{
	static const char letters[] = "RSDTtXZPI";
	uint32_t reported = (state | exit_state) & STATE_REPORTED;

	if ((state & STATE_IDLE) == STATE_IDLE)
		reported = STATE_REPORTED_IDLE;
	if (state & (STATE_LOCK_WAIT | STATE_FROZEN))
		reported = STATE_UNINTERRUPTIBLE;
	return letters[reported ? 32 - __builtin_clz(reported) : 0];
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

/* SPDX-License-Identifier: MIT */
#include "host/proc/task_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/proc/proc_file.h"

/* Flags of the kernel, from include/linux/sched.h. */
#define FLAG_EXITING 0x00000004
#define FLAG_KERNEL 0x00200000

/* Bits of a task's state: include/linux/sched.h. */
#define STATE_UNINTERRUPTIBLE 0x0002u
#define STATE_REPORTED 0x007fu
#define STATE_REPORTED_IDLE 0x0080u
#define STATE_IDLE 0x0402u /* uninterruptible, and no load */
#define STATE_LOCK_WAIT 0x1000u
#define STATE_FROZEN 0x8000u

unsigned task_row_split(const char *text, unsigned first, unsigned end,
			const char *fields[TASK_STAT_FIELDS])
{
	const char *cursor = task_text_skip_blanks(text);
	unsigned number = first;

	for (; *cursor && *cursor != '\n' && number < end; cursor = task_text_skip_blanks(cursor)) {
		fields[number++] = cursor;
		while (*cursor && !task_text_is_end(*cursor))
			cursor++;
	}
	return number;
}

bool task_stat_parse(const char *text, struct task_stat *ret)
{
	return task_stat_parse_to(text, TASK_STAT_FIELDS - 1, ret);
}

bool task_stat_parse_to(const char *text, enum task_stat_field last, struct task_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');

	if (!open || !close || close < open)
		return false;
	ret->comm = open + 1;
	ret->comm_length = (size_t)(close - open - 1);
	ret->end = task_row_split(close + 1, TASK_STAT_STATE, last + 1u, ret->fields);
	return ret->end > TASK_STAT_STATE;
}

bool task_stat_number(const struct task_stat *stat, enum task_stat_field field, uint64_t *ret)
{
	const char *cursor;
	uint64_t number;

	if (field >= stat->end)
		return false;
	cursor = stat->fields[field];
	if (!scan_u64(&cursor, &number) || !task_text_is_end(*cursor))
		return false;
	*ret = number;
	return true;
}

uint64_t task_stat_value(const struct task_stat *stat, enum task_stat_field field)
{
	uint64_t number = 0;

	task_stat_number(stat, field, &number);
	return number;
}

char task_stat_state(const struct task_stat *stat)
{
	return *stat->fields[TASK_STAT_STATE];
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

void task_stat_copy_comm(const struct task_stat *stat, char *ret, size_t capacity)
{
	size_t length = stat->comm_length < capacity ? stat->comm_length : capacity - 1;

	memcpy(ret, stat->comm, length);
	ret[length] = '\0';
}

bool task_stat_is_ending(const struct task_stat *stat)
{
	return task_state_is_dead(task_stat_state(stat)) ||
	       task_stat_value(stat, TASK_STAT_FLAGS) & FLAG_EXITING;
}

bool task_stat_is_kernel_thread(const struct task_stat *stat)
{
	return task_stat_value(stat, TASK_STAT_FLAGS) & FLAG_KERNEL;
}

int task_stat_read(int directory, const char *path, char buffer[TASK_STAT_BYTES],
		   struct task_stat *ret)
{
	ssize_t length = proc_read_start(directory, path, buffer, TASK_STAT_BYTES);

	if (length < 0)
		return (int)length;
	return task_stat_parse(buffer, ret) ? 0 : -EBADMSG;
}

bool process_has_living_thread(int process)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers tids = { 0 };
	char path[32], buffer[TASK_STAT_BYTES];
	struct task_stat stat;

	if (proc_list(process, "task", &tids) < 0)
		return false;
	for (size_t i = 0; i < tids.list.count; i++) {
		snprintf(path, sizeof(path), "task/%" PRId32 "/stat", tids.list.data[i]);
		if (task_stat_read(process, path, buffer, &stat) == 0 &&
		    !task_stat_is_ending(&stat))
			return true;
	}
	return false;
}

const char *task_status_find(const char *text, const char *key, size_t *ret_length)
{
	size_t key_length = strlen(key);

	for (; text; text = *text ? text + 1 : NULL) {
		if (strncmp(text, key, key_length) == 0 && text[key_length] == ':') {
			text = task_text_skip_blanks(text + key_length + 1);
			*ret_length = strcspn(text, "\n");
			return text;
		}
		text = strchrnul(text, '\n');
	}
	return NULL;
}

bool task_status_number(const char *text, const char *key, uint64_t *ret)
{
	size_t length;
	const char *value = task_status_find(text, key, &length);

	return value && scan_u64(&value, ret);
}

bool task_schedstat_parse(const char *text, struct task_schedstat *ret)
{
	struct task_schedstat found;

	if (!scan_u64(&text, &found.cpu_ns) || *text++ != ' ' ||
	    !scan_u64(&text, &found.queue_ns) || *text++ != ' ' || !scan_u64(&text, &found.slices))
		return false;
	*ret = found;
	return true;
}

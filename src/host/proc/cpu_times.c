/* SPDX-License-Identifier: MIT */
#include "host/proc/cpu_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

/* The columns of a line; what a virtual machine in this one used is in user and nice as well. */
enum { USER, NICE, SYSTEM, IDLE, IO_WAIT, HARD_IRQ, SOFT_IRQ, STEAL, COLUMNS };

void cpu_times_clear(struct cpu_times *times)
{
	free(times->list.data);
	*times = (struct cpu_times){ 0 };
}

/* "cpu3 222 0 51 904 7 0 3 12 0 0"; the line without a number is the sum of all. */
static bool parse_line(const char *cursor, struct cpu_time *ret)
{
	uint64_t columns[COLUMNS];

	if (strncmp(cursor, "cpu", 3) != 0)
		return false;
	cursor += 3;
	if (!scan_u64(&cursor, &ret->cpu))
		return false;
	for (size_t i = 0; i < COLUMNS; i++) {
		cursor = task_text_skip_blanks(cursor);
		if (!scan_u64(&cursor, &columns[i]) || !task_text_is_end(*cursor))
			return false;
	}
	ret->busy = columns[USER] + columns[NICE] + columns[SYSTEM] + columns[HARD_IRQ] +
		    columns[SOFT_IRQ];
	ret->stolen = columns[STEAL];
	return true;
}

int cpu_times_parse(const char *text, struct cpu_times *ret)
{
	for (const char *line = text; *line;) {
		const char *end = strchrnul(line, '\n');
		struct cpu_time time;

		if (parse_line(line, &time) && array_append(&ret->list, time) < 0)
			return -ENOMEM;
		line = *end ? end + 1 : end;
	}
	return 0;
}

int cpu_times_read(const struct host *host, struct cpu_times *ret)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	ssize_t length = proc_read(host->proc, "stat", &buffer);

	return length < 0 ? (int)length : cpu_times_parse(buffer.data, ret);
}

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

bool cpu_times_between(const struct cpu_times *begin, const struct cpu_times *end,
		       struct cpu_time *ret)
{
	bool is_counted = false;
	size_t at = 0;

	*ret = (struct cpu_time){ 0 };
	for (size_t i = 0; i < end->list.count; i++) {
		const struct cpu_time *now = &end->list.data[i];
		const struct cpu_time *before;

		is_counted |= now->stolen > 0;
		/* Both are in the order of their numbers. */
		while (at < begin->list.count && begin->list.data[at].cpu < now->cpu)
			at++;
		before = &begin->list.data[at];
		if (at == begin->list.count || before->cpu != now->cpu)
			continue;
		ret->busy += growth(before->busy, now->busy);
		ret->stolen += growth(before->stolen, now->stolen);
	}
	return is_counted;
}

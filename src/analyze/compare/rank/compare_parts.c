/* SPDX-License-Identifier: MIT */
/* Which rows stand for others: a part is in its whole, and an average repeats a total. */
#include <stdio.h>
#include <string.h>

#include "analyze/compare/rank/compare_rank.h"
#include "base/collection/array.h"

/*
 * A part, and the whole whose row stands for it.  What exited threads and children
 * did is in that row only where the comparison adds it.
 */
static const struct {
	enum metric_id part, whole;
	enum part_kind kind;
} parts[] = {
	{ METRIC_utime_ns, METRIC_run_time_ns, PART_PLAIN },
	{ METRIC_stime_ns, METRIC_run_time_ns, PART_PLAIN },
	{ METRIC_timeslices, METRIC_wait_time_ns, PART_PLAIN },
	{ METRIC_cpu_delay_count, METRIC_wait_time_ns, PART_PLAIN },
	{ METRIC_cpu_delay_total_ns, METRIC_wait_time_ns, PART_PLAIN },
	{ METRIC_cpu_delay_max_ns, METRIC_wait_time_ns, PART_PLAIN },
	{ METRIC_cpu_delay_min_ns, METRIC_wait_time_ns, PART_PLAIN },
	{ METRIC_dead_run_time_ns, METRIC_run_time_ns, PART_OF_EXITED },
	{ METRIC_dead_utime_ns, METRIC_run_time_ns, PART_OF_EXITED },
	{ METRIC_dead_stime_ns, METRIC_run_time_ns, PART_OF_EXITED },
	{ METRIC_dead_voluntary_csw, METRIC_voluntary_csw, PART_OF_EXITED },
	{ METRIC_dead_nonvoluntary_csw, METRIC_nonvoluntary_csw, PART_OF_EXITED },
	{ METRIC_dead_minflt, METRIC_minflt, PART_OF_EXITED },
	{ METRIC_dead_majflt, METRIC_majflt, PART_OF_EXITED },
	{ METRIC_dead_rchar, METRIC_rchar, PART_OF_EXITED },
	{ METRIC_dead_wchar, METRIC_wchar, PART_OF_EXITED },
	{ METRIC_dead_syscr, METRIC_syscr, PART_OF_EXITED },
	{ METRIC_dead_syscw, METRIC_syscw, PART_OF_EXITED },
	{ METRIC_dead_read_bytes, METRIC_read_bytes, PART_OF_EXITED },
	{ METRIC_dead_write_bytes, METRIC_write_bytes, PART_OF_EXITED },
	{ METRIC_dead_cancelled_write_bytes, METRIC_cancelled_write_bytes, PART_OF_EXITED },
	{ METRIC_child_utime_ns, METRIC_run_time_ns, PART_OF_CHILDREN },
	{ METRIC_child_stime_ns, METRIC_run_time_ns, PART_OF_CHILDREN },
	{ METRIC_child_voluntary_csw, METRIC_voluntary_csw, PART_OF_CHILDREN },
	{ METRIC_child_nonvoluntary_csw, METRIC_nonvoluntary_csw, PART_OF_CHILDREN },
	{ METRIC_child_minflt, METRIC_minflt, PART_OF_CHILDREN },
	{ METRIC_child_majflt, METRIC_majflt, PART_OF_CHILDREN },
};

enum metric_id rank_whole_of(enum metric_id part, enum part_kind most)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].part == part && parts[i].kind <= most)
			return parts[i].whole;
	return METRIC_COUNT;
}

bool rank_repeats(const struct metric *reading, char *ret_name, size_t size)
{
	const char *word = strrchr(reading->name, ' ');

	if (reading->section != SECTION_PRESSURE || !word || strncmp(word, " avg", 4) != 0)
		return false;
	snprintf(ret_name, size, "%.*s total", (int)(word - reading->name), reading->name);
	return true;
}

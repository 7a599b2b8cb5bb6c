/* SPDX-License-Identifier: MIT */
#include "model/record/process_totals.h"

#include <errno.h>
#include <stdlib.h>

#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"

/* Where the kernel keeps what exited threads used. */
static const struct {
	enum metric_id living, exited;
} twins[] = {
	{ METRIC_run_time_ns, METRIC_dead_run_time_ns },
	{ METRIC_utime_ns, METRIC_dead_utime_ns },
	{ METRIC_stime_ns, METRIC_dead_stime_ns },
	{ METRIC_voluntary_csw, METRIC_dead_voluntary_csw },
	{ METRIC_nonvoluntary_csw, METRIC_dead_nonvoluntary_csw },
	{ METRIC_minflt, METRIC_dead_minflt },
	{ METRIC_majflt, METRIC_dead_majflt },
	{ METRIC_rchar, METRIC_dead_rchar },
	{ METRIC_wchar, METRIC_dead_wchar },
	{ METRIC_read_bytes, METRIC_dead_read_bytes },
	{ METRIC_write_bytes, METRIC_dead_write_bytes },
};

static void add_exited(const struct snapshot *snapshot, enum metric_id id,
		       struct process_total *totals)
{
	for (size_t i = 0; i < ARRAY_SIZE(twins); i++)
		for (uint32_t row = 0; twins[i].living == id && row < snapshot->process_count;
		     row++) {
			uint64_t value;

			if (snapshot_get(snapshot, twins[i].exited, row, &value))
				totals[row].value += value;
			else
				totals[row].is_least = true;
		}
}

int process_totals(const struct snapshot *snapshot, enum metric_id id, struct process_total **ret)
{
	struct process_total *totals = calloc(snapshot->process_count + 1, sizeof(*totals));

	if (!totals)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->process_count; row++)
		totals[row].is_known = true;
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		struct process_total *total = &totals[snapshot->tasks[row].process];
		uint64_t value;

		if (snapshot_get(snapshot, id, row, &value))
			total->value += value;
		else
			total->is_known = false;
	}
	add_exited(snapshot, id, totals);
	*ret = totals;
	return 0;
}

int64_t process_find_same(const struct snapshot *there, const struct snapshot *here, uint32_t row)
{
	const struct process *process = &here->processes[row];
	int64_t found = snapshot_find_process(there, process->tgid);

	return found >= 0 && there->processes[found].start_time_ns == process->start_time_ns ?
		       found :
		       -1;
}

bool process_total_growth(const struct snapshot *before, const struct process_total *totals_before,
			  const struct snapshot *now, const struct process_total *totals_now,
			  uint32_t row, uint64_t *ret)
{
	const struct fact *then = &before->facts[FACT_boottime_ns];
	int64_t old = process_find_same(before, now, row);
	uint64_t start = 0;

	if (!totals_now[row].is_known)
		return false;
	if (old >= 0 && (!totals_before[old].is_known ||
			 totals_before[old].is_least != totals_now[row].is_least))
		return false;
	if (old >= 0)
		start = totals_before[old].value;
	else if (!then->present || now->processes[row].start_time_ns < then->number)
		return false; /* it lived then, and was not seen */
	if (totals_now[row].value < start)
		return false;
	*ret = totals_now[row].value - start;
	return true;
}

bool process_cpu_percent(const struct snapshot *before, const struct process_total *totals_before,
			 const struct snapshot *now, const struct process_total *totals_now,
			 uint32_t row, double *ret)
{
	uint64_t from = before->facts[FACT_monotonic_ns].number, used;
	uint64_t to = now->facts[FACT_monotonic_ns].number;

	if (from >= to || !process_total_growth(before, totals_before, now, totals_now, row, &used))
		return false;
	*ret = 100.0 * (double)used / (double)(to - from);
	return true;
}
